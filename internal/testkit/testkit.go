// Package testkit hands real engines to tests: ClickHouse, PostgreSQL, the
// embedded Kafka broker and Apache Kafka. They start when a test first asks, once
// for the test binary, and stop after its last test. A test whose engine is
// missing fails.
//
// A package whose tests use them has
//
//	func TestMain(m *testing.M) { testkit.Main(m) }
package testkit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/answerscope/answerscope/deploy/engine"
)

const (
	startBound = 90 * time.Second // generous: several test binaries may start at once on two cores
	stopBound  = 30 * time.Second
)

// Main runs the tests of a binary and stops the engines that they started. It
// does not return.
func Main(m *testing.M) {
	engine.Main()
	code := m.Run()
	if err := own.close(); err != nil {
		fmt.Fprintln(os.Stderr, "testkit:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// own are the engines of this test binary.
var own engines

// engines starts each kind at most once, below one temporary directory.
type engines struct {
	mu    sync.Mutex
	dir   string
	kinds map[string]started
	stops []func(context.Context) error
}

type started struct {
	value any
	err   error
}

// once returns what start made the first time that it was called for kind.
func once[T any](e *engines, kind string, start func(context.Context, place) (T, func(context.Context) error, error)) (T, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s, ok := e.kinds[kind]; ok {
		v, _ := s.value.(T)
		return v, s.err
	}
	v, stop, err := e.start(kind, func(ctx context.Context, at place) (any, func(context.Context) error, error) { return start(ctx, at) })
	if e.kinds == nil {
		e.kinds = map[string]started{}
	}
	e.kinds[kind] = started{v, err}
	if err == nil && stop != nil {
		e.stops = append(e.stops, stop)
	}
	t, _ := v.(T)
	return t, err
}

// place is where an engine of a test binary lives.
type place struct {
	dir  string
	home engine.Home
	log  *slog.Logger
}

func (e *engines) start(kind string, start func(context.Context, place) (any, func(context.Context) error, error)) (any, func(context.Context) error, error) {
	home, err := engine.FindHome("")
	if err != nil {
		return nil, nil, err
	}
	if e.dir == "" {
		if e.dir, err = os.MkdirTemp("", "answerscope-test-"); err != nil {
			return nil, nil, err
		}
		// Others must pass: under root PostgreSQL is another user.
		if err := os.Chmod(e.dir, 0o755); err != nil {
			return nil, nil, err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), startBound)
	defer cancel()
	return start(ctx, place{filepath.Join(e.dir, kind), home, slog.New(slog.DiscardHandler)})
}

// close stops what was started, last first, and removes what it kept.
func (e *engines) close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), stopBound)
	defer cancel()
	var errs []error
	for _, stop := range slices.Backward(e.stops) {
		errs = append(errs, stop(ctx))
	}
	if e.dir != "" {
		errs = append(errs, os.RemoveAll(e.dir))
	}
	return errors.Join(errs...)
}
