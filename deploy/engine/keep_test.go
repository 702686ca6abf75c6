package engine

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/answerscope/answerscope/internal/testkit/tempdir"
	"github.com/answerscope/answerscope/internal/testkit/wait"
)

// process is the process of the engine that runs under a name now.
func (e *Engines) process(t *testing.T, name string) *process {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range e.running {
		switch r := r.(type) {
		case *ClickHouse:
			if r.name == name {
				return r.process
			}
		case *Postgres:
			if r.name == name {
				return r.process
			}
		}
	}
	t.Fatalf("no engine %s", name)
	return nil
}

func (e *Engines) pid(t *testing.T, name string) int { return e.process(t, name).PID() }

// kill kills an engine as the kernel does when memory has run out, and returns its process id.
func (e *Engines) kill(t *testing.T, name string) int {
	t.Helper()
	p := e.process(t, name)
	p.Kill()
	return p.PID()
}

// openStores opens engines that sync what they acknowledge, as a killed PostgreSQL else loses its last commits.
func openStores(t *testing.T) *Engines {
	t.Helper()
	engines, err := Open(t.Context(), Options{
		DataDir: tempdir.Passable(t), ClickHouse: true, Postgres: true, Owner: "all", Exclusive: true, Log: quiet,
	})
	if err != nil {
		t.Fatal(err)
	}
	mustEnd(t, engines)
	return engines
}

func TestAnEngineThatIsKilledIsStartedAgainAtItsAddress(t *testing.T) {
	t.Parallel()
	engines := openStores(t)
	us := ourselves(t, engines)
	if _, err := us.query(t.Context(),
		"CREATE TABLE answerscope.kept (x Int8) ENGINE = MergeTree ORDER BY x"); err != nil {
		t.Fatal(err)
	}
	execute := func(statement string) error {
		conn, err := pgx.Connect(t.Context(), engines.Postgres)
		if err != nil {
			return err
		}
		defer conn.Close(t.Context())
		_, err = conn.Exec(t.Context(), statement)
		return err
	}
	if err := execute("CREATE TABLE kept (x int)"); err != nil {
		t.Fatal(err)
	}
	// Both at once, and one again.
	for _, names := range [][]string{{"clickhouse-console", "postgres"}, {"postgres"}} {
		for _, name := range names {
			engines.kill(t, name)
		}
		wait.For(t, "both engines to answer", func() bool {
			_, err := us.query(t.Context(), "SELECT * FROM answerscope.kept")
			return err == nil && execute("SELECT * FROM kept") == nil
		})
	}
	select {
	case <-engines.Lost():
		t.Errorf("lost: %v", engines.Err())
	default:
	}
}

// What ends on a full disk does not count: room will help.
func TestAnEngineThatEndsAgainAndAgainIsLost(t *testing.T) {
	t.Parallel()
	var full atomic.Bool
	engines, err := Open(t.Context(),
		Options{DataDir: tempdir.Passable(t), ClickHouse: true, Owner: "all",
			Exclusive: true, Log: quiet, Room: func() error {
				if full.Load() {
					return errors.New("full")
				}
				return nil
			}})
	if err != nil {
		t.Fatal(err)
	}
	mustEnd(t, engines)
	full.Store(true)
	last := engines.kill(t, "clickhouse-console")
	for range maxEnds {
		wait.For(t, "the next start", func() bool { return engines.pid(t, "clickhouse-console") != last })
		full.Store(false)
		last = engines.kill(t, "clickhouse-console")
	}
	<-engines.Lost()
	for _, want := range []string{"clickhouse-console ended", "5 times in 10m0s", "the last lines of its log"} {
		if text := engines.Err().Error(); !strings.Contains(text, want) {
			t.Errorf("lost says %q, want %q in it", text, want)
		}
	}
}
