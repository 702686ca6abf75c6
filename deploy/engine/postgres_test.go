package engine

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/answerscope/answerscope/internal/testkit/tempdir"
	"github.com/answerscope/answerscope/internal/testkit/wait"
)

func TestPostgresAsksForAPassword(t *testing.T) {
	e, err := StartPostgres(t.Context(), PostgresConfig{Dir: tempdir.Passable(t), NoSync: true, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	mustStop(t, e)
	for _, dsn := range []string{
		strings.Replace(e.DSN(), e.password, "x", 1),
		strings.Replace(e.DSN(), ":"+e.password, "", 1),
	} {
		if conn, err := pgx.Connect(t.Context(), dsn); err == nil {
			_ = conn.Close(t.Context())
			t.Errorf("%s was let in", dsn)
		}
	}
}

// Once, a client with the public key alone had 14 KB appended to the log by each request that was refused.
func TestRefusedStatementsDoNotFillTheLog(t *testing.T) {
	logs := t.TempDir()
	e, err := StartPostgres(t.Context(), PostgresConfig{Dir: tempdir.Passable(t), Logs: logs, NoSync: true, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	mustStop(t, e)
	for _, dsn := range []string{e.GatewayDSN(), e.DSN()} {
		conn, err := pgx.Connect(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(t.Context(), "SELECT 1/0 AS very_long_statement"); err == nil {
			t.Error("it is not refused")
		}
		_ = conn.Close(t.Context())
	}
	text, err := os.ReadFile(filepath.Join(logs, "postgres.log"))
	if n := strings.Count(string(text), "division by zero"); err != nil || n != 1 ||
		strings.Contains(string(text), "very_long_statement") {
		t.Errorf("the log has %d errors, want the superuser's, without the statement, %v:\n%s", n, err, text)
	}
	p := e.process
	if err := os.WriteFile(p.log, make([]byte, maxLogSize+1), 0o640); err != nil {
		t.Fatal(err)
	}
	go p.boundLog(time.Millisecond)
	wait.For(t, "the log to be emptied", func() bool {
		info, err := os.Stat(p.log)
		old, errOld := os.Stat(p.log + ".1")
		return err == nil && errOld == nil && info.Size() < 1<<10 && old.Size() > maxLogSize
	})
}

func TestPostgresIsDurableUnlessATestAsksOtherwise(t *testing.T) {
	for _, noSync := range []bool{false, true} {
		e, err := StartPostgres(t.Context(), PostgresConfig{Dir: tempdir.Passable(t), NoSync: noSync, Log: quiet})
		if err != nil {
			t.Fatal(err)
		}
		mustStop(t, e)
		conn, err := pgx.Connect(t.Context(), e.DSN())
		if err != nil {
			t.Fatal(err)
		}
		var fsync, commit string
		err = conn.QueryRow(t.Context(), "SELECT current_setting('fsync'), current_setting('synchronous_commit')").
			Scan(&fsync, &commit)
		_ = conn.Close(t.Context())
		want := map[bool]string{false: "on", true: "off"}[noSync]
		if err != nil || fsync != want || commit != want {
			t.Errorf("NoSync %v: fsync %s, synchronous_commit %s, %v; want %s", noSync, fsync, commit, err, want)
		}
	}
}

// The pid in a killed server's file may be another process's by now; PostgreSQL
// would take that for a running server and refuse.
func TestPostgresStartsOverALeftPidFile(t *testing.T) {
	dir := tempdir.Passable(t)
	cfg := PostgresConfig{Dir: dir, NoSync: true, Log: quiet}
	e, err := StartPostgres(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	e.Kill()
	path := filepath.Join(dir, "data", "postmaster.pid")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\n")
	if err := os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())+"\n"+rest), 0o600); err != nil {
		t.Fatal(err)
	}
	if e, err = StartPostgres(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	mustStop(t, e)
}

func TestPostgresInterruptedWhileInitializingBeginsAgain(t *testing.T) {
	dir := tempdir.Passable(t)
	if err := os.MkdirAll(filepath.Join(dir, "data.new", "base"), 0o700); err != nil {
		t.Fatal(err)
	}
	e, err := StartPostgres(t.Context(), PostgresConfig{Dir: dir, NoSync: true, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	mustStop(t, e)
}
