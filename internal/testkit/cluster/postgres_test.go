//go:build all

// Tests of this package need root, and are slow: make test-crash runs them.

package cluster_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/answerscope/answerscope/internal/testkit/cluster"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/queryapi/rest"
	"github.com/answerscope/answerscope/sql/postgres"
)

// The primary is killed and its standby promoted, twice, while a pool of the product writes: the pool finds the new
// primary by itself, and what was committed is there once.
func TestPromotedStandbyHasEveryCommit(t *testing.T) {
	if !cluster.Isolated(t) {
		return
	}
	c := start(t, cluster.Options{Postgres: 2})
	must(t, postgres.Migrate(t.Context(), c.PostgresDSN("postgres"), func(uint, string) {}))
	execute(t, c, "CREATE TABLE tally (n bigint PRIMARY KEY)", "GRANT ALL ON tally TO answerscope_service")
	refuseStandby(t, c)
	gateway, err := rest.OpenPool(t.Context(), c.PostgresDSN("authenticator"))
	must(t, err)
	defer gateway.Close()
	cfg := postgres.DefaultConfig()
	cfg.DSN = c.PostgresDSN("answerscope")
	db, err := postgres.Open(t.Context(), cfg)
	must(t, err)
	defer db.Close()

	var committed atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	var writer sync.WaitGroup
	defer writer.Wait()
	defer stop()
	writer.Go(func() {
		for ctx.Err() == nil {
			// A commit whose answer was lost is repeated.
			const statement = "INSERT INTO tally VALUES ($1) ON CONFLICT DO NOTHING"
			_, err := db.Exec(ctx, statement, committed.Load())
			if err == nil {
				committed.Add(1)
			} else if ctx.Err() == nil && !postgres.IsTransient(err) {
				t.Errorf("write: %v", err)
				return
			}
		}
	})
	goesOn := func() {
		begin, count := time.Now(), committed.Load()
		wait.For(t, "commits to go on", func() bool { return committed.Load() > count+10 })
		t.Logf("%s after %d commits", time.Since(begin).Round(time.Millisecond), count)
	}
	goesOn()
	for range 2 {
		must(t, c.Promote(t.Context()))
		if err := c.Standby().Start(t.Context()); err == nil {
			t.Error("the former primary runs beside the new one")
		}
		goesOn()
		wait.For(t, "the gateway to find the primary", func() bool { return gateway.Ping(t.Context()) == nil })
		must(t, c.Remake(t.Context()))
		goesOn()
	}
	stop()
	writer.Wait()

	conn := connect(t, c)
	defer conn.Close(t.Context())
	var rows int64
	must(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM tally").Scan(&rows))
	if all := committed.Load(); rows != all && rows != all+1 { // the last was cancelled
		t.Errorf("%d rows of %d commits", rows, all)
	}
}

// refuseStandby wants a pool whose address leads to the standby to keep no connection to it: the next one may lead to
// the primary.
func refuseStandby(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	cfg := postgres.DefaultConfig()
	cfg.DSN = strings.ReplaceAll(c.PostgresDSN("answerscope"), c.Node("pg-1").HostPort(), c.Node("pg-2").HostPort())
	cfg.DSN = strings.ReplaceAll(cfg.DSN, "&target_session_attrs=read-write", "")
	db, err := postgres.Open(t.Context(), cfg)
	must(t, err)
	defer db.Close()
	if _, err := db.Exec(t.Context(), "INSERT INTO tally VALUES (-1)"); !postgres.IsTransient(err) {
		t.Errorf("write at the standby: %v", err)
	}
	wait.For(t, "the pool to leave the standby", func() bool { return db.Stat().TotalConns() == 0 })
}

// A cut is what a network does: nothing answers and nothing is refused, in either direction, and a connection that
// waited goes on when it is healed.
func TestCutIsSilent(t *testing.T) {
	if !cluster.Isolated(t) {
		return
	}
	c := start(t, cluster.Options{Postgres: 2})
	conn := connect(t, c)
	defer conn.Close(t.Context())
	must(t, c.Cut("pg-1", cluster.Gateway))
	answered := make(chan error, 1)
	go func() {
		_, err := conn.Exec(t.Context(), "SELECT 1")
		answered <- err
	}()
	dialCtx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if _, err := pgx.Connect(dialCtx, c.PostgresDSN("postgres")); !pgconn.Timeout(err) {
		t.Errorf("a new connection to a host that is cut off: %v", err)
	}
	if len(answered) > 0 {
		t.Errorf("an open connection to a host that is cut off: %v", <-answered)
	}
	must(t, c.Heal("pg-1", cluster.Gateway))
	must(t, <-answered)

	must(t, c.Cut("pg-1", "pg-2")) // a commit waits for the standby
	go func() {
		_, err := conn.Exec(t.Context(), "CREATE TABLE away ()")
		answered <- err
	}()
	wait.For(t, "the standby to be missed", func() bool {
		other := connect(t, c)
		defer other.Close(t.Context())
		var waits bool
		must(t, other.QueryRow(t.Context(),
			"SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'SyncRep'").Scan(&waits))
		return waits
	})
	must(t, c.Heal("pg-1", "pg-2"))
	must(t, <-answered)
}

func connect(t *testing.T, c *cluster.Cluster) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), c.PostgresDSN("postgres"))
	must(t, err)
	return conn
}

func execute(t *testing.T, c *cluster.Cluster, statements ...string) {
	t.Helper()
	conn := connect(t, c)
	defer conn.Close(t.Context())
	for _, statement := range statements {
		_, err := conn.Exec(t.Context(), statement)
		must(t, err)
	}
}
