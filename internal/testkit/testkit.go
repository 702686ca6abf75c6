// Package testkit gives tests real engines: ClickHouse, PostgreSQL, the embedded Kafka broker and Apache Kafka. An
// engine starts once per test binary, when a test first asks for it, and stops after the last test; a test whose engine
// is missing fails. Under Serve all test binaries share one set of engines instead.
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
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/answerscope/answerscope/deploy/engine"
	"github.com/answerscope/answerscope/internal/testkit/replica"
)

const (
	startTimeout = 5 * time.Minute // several test binaries may start at once on two cores
	stopTimeout  = 2 * time.Minute
)

// Main runs the tests of a binary and stops the engines that they started. It does not return.
func Main(m *testing.M) {
	engine.Main()
	replica.Main()
	err := errors.Join(saveTime(), drawFew())
	code := 1
	if err == nil {
		code = m.Run()
		err = own.close()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "testkit:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// addresses are those of engines, by name.
type addresses map[string]string

// engines are those that this process started, below one temporary directory.
type engines struct {
	mu    sync.Mutex
	dir   string
	stops []func(context.Context) error
}

var (
	own   engines
	quiet = slog.New(slog.DiscardHandler)

	// kinds are the kinds of engines; each function starts its kind at most once.
	kinds = map[string]func() (addresses, error){
		"clickhouse": sync.OnceValues(func() (addresses, error) { return own.start("clickhouse") }),
		"postgres":   sync.OnceValues(func() (addresses, error) { return own.start("postgres") }),
		"kafka":      sync.OnceValues(func() (addresses, error) { return own.start("kafka") }),
		"apache":     sync.OnceValues(func() (addresses, error) { return own.start("apache") }),
	}
)

// address returns an address of a kind of engine: the shared one under Serve, else this binary's own.
func address(t testing.TB, kind, name string) string {
	t.Helper()
	start := kinds[kind]
	if os.Getenv(sharedEnv) != "" {
		start = readAddresses
	}
	a, err := start()
	if err != nil {
		t.Fatal(err)
	}
	return a[name]
}

// start starts an engine.
func (e *engines) start(kind string) (addresses, error) {
	dir, err := e.makeDir()
	if err != nil {
		return nil, err
	}
	dir = filepath.Join(dir, kind)
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	switch kind {
	case "clickhouse":
		return e.startClickHouse(ctx, engine.ClickHouseConfig{Dir: dir, NoSync: true, Log: quiet})
	case "postgres":
		p, err := engine.StartPostgres(ctx, engine.PostgresConfig{Dir: dir, NoSync: true, Log: quiet})
		if err != nil {
			return nil, err
		}
		e.stopAtEnd(p.Stop)
		return addresses{"postgres": p.DSN()}, nil
	case "kafka":
		k, err := engine.StartKafka(ctx, engine.KafkaConfig{Dir: dir, NoSync: true, NoPassword: true, Log: quiet})
		if err != nil {
			return nil, err
		}
		e.stopAtEnd(k.Stop)
		return addresses{"kafka": k.Brokers()[0]}, nil
	default:
		k, err := engine.StartApacheKafka(ctx, engine.ApacheKafkaConfig{Dir: dir, Log: quiet})
		if err != nil {
			return nil, err
		}
		e.stopAtEnd(k.Stop)
		return addresses{"apache": k.Brokers()[0]}, nil
	}
}

func (e *engines) startClickHouse(ctx context.Context, cfg engine.ClickHouseConfig) (addresses, error) {
	c, err := engine.StartClickHouse(ctx, cfg)
	if err != nil {
		return nil, err
	}
	e.stopAtEnd(c.Stop)
	return addresses{"clickhouse": c.DSN(), "clickhouse_http": c.HTTPAddr()}, nil
}

func (e *engines) stopAtEnd(stop func(context.Context) error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stops = append(e.stops, stop)
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
	e.dir = dir
	return dir, os.Chmod(dir, 0o755) // under root PostgreSQL is another user, who must pass
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

var notInName = regexp.MustCompile(`[^a-z0-9]`)

// freshName returns a name for what a test owns on a shared engine: the test's name, so that a listing shows whose it
// is, and a random suffix.
func freshName(t testing.TB) string {
	name := notInName.ReplaceAllLiteralString(strings.ToLower(t.Name()), "_")
	return name[:min(len(name), 40)] + "_" + strconv.FormatUint(rand.Uint64()>>16, 36)
}

// cleanUp drops a database when its test passed, else it logs the address. Run the test from
// `go run ./internal/testkit/serve sh` to look into it: a test binary's own engines end with it.
func cleanUp(t testing.TB, dsn string, drop func(context.Context) error) {
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("kept database %s", dsn)
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		if err := drop(ctx); err != nil {
			t.Errorf("drop database %s: %v", dsn, err)
		}
	})
}

func withDatabase(dsn, database string) string {
	u, err := url.Parse(dsn)
	if err != nil {
		panic(err) // the address is our own engine's
	}
	u.Path = "/" + database
	return u.String()
}

// Start runs a part in the background. The returned stop cancels its context, waits for its end and fails the test if
// it ended with an error.
func Start(t testing.TB, run func(context.Context) error) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// Log writes to the output of the test.
func Log(t testing.TB) *slog.Logger { return slog.New(slog.NewTextHandler(t.Output(), nil)) }
