package engine

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/answerscope/answerscope/internal/testkit/tempdir"
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
