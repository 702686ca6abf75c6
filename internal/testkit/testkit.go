// Package testkit gives tests real engines: ClickHouse, PostgreSQL, the embedded
// Kafka broker and Apache Kafka. An engine starts once per test binary, when a test
// first asks for it, and stops after the last test; a test whose engine is missing
// fails. Under Serve all test binaries share one set of engines instead.
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
	startTimeout = 90 * time.Second // several test binaries may start at once on two cores
	stopTimeout  = 30 * time.Second
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

// quiet is the log of the engines of tests.
var quiet = slog.New(slog.DiscardHandler)

// engines starts each kind at most once, below one temporary directory.
type engines struct {
	mu    sync.Mutex
	dir   string
	kinds map[string]func() (addresses, error)
	stops []func(context.Context) error
}

// starter starts one kind of engine in a directory and returns its addresses and what
// stops it.
type starter func(ctx context.Context, dir string) (addresses, func(context.Context) error, error)

// starters are the kinds of engines.
var starters = map[string]starter{
	"clickhouse": startClickHouse,
	"postgres":   startPostgres,
	"kafka":      startKafka,
	"apache":     startApacheKafka,
}

// server returns the addresses of a kind of engine: the shared one under Serve, else
// this binary's own.
func server(t testing.TB, kind string) addresses {
	t.Helper()
	if dir := os.Getenv(sharedEnv); dir != "" {
		a, err := readAddresses(dir)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	a, err := own.start(kind)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// start starts a kind of engine once. Tests that need other kinds do not wait for it.
func (e *engines) start(kind string) (addresses, error) {
	e.mu.Lock()
	if e.kinds == nil {
		e.kinds = map[string]func() (addresses, error){}
	}
	first, ok := e.kinds[kind]
	if !ok {
		first = sync.OnceValues(func() (addresses, error) { return e.startNow(kind) })
		e.kinds[kind] = first
	}
	e.mu.Unlock()
	return first()
}

func (e *engines) startNow(kind string) (addresses, error) {
	dir, err := e.makeDir()
	if err != nil {
		return addresses{}, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	a, stop, err := starters[kind](ctx, filepath.Join(dir, kind))
	if err != nil {
		return addresses{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stops = append(e.stops, stop)
	return a, nil
}

func (e *engines) makeDir() (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.dir != "" {
		return e.dir, nil
	}
	dir, err := os.MkdirTemp("", "answerscope-test-")
	if err != nil {
		return "", err
	}
	// Others must pass: under root PostgreSQL is another user.
	if err := os.Chmod(dir, 0o755); err != nil {
		return "", err
	}
	e.dir = dir
	return dir, nil
}

// close stops the engines, last first, and removes their directory.
func (e *engines) close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
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
