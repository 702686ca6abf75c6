package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/answerscope/answerscope/internal/testkit/tempdir"
)

// status is the user of a process and what capabilities it has.
func status(t *testing.T, pid int) (uid, capabilities string) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	ids := regexp.MustCompile(`(?m)^Uid:\t(\d+)\t(\d+)\t(\d+)`).FindSubmatch(text)
	effective := regexp.MustCompile(`(?m)^CapEff:\t(\w+)$`).FindSubmatch(text)
	permitted := regexp.MustCompile(`(?m)^CapPrm:\t(\w+)$`).FindSubmatch(text)
	if !bytes.Equal(ids[1], ids[2]) || !bytes.Equal(ids[1], ids[3]) {
		t.Errorf("process %d has users %s", pid, ids[0])
	}
	return string(ids[1]), string(effective[1]) + string(permitted[1])
}

// Under root each engine is a user of its own who may nothing more, and sees none of our secrets. Where a directory is
// closed to them (an installation and a data directory below /root, say) only ClickHouse, which cannot be reached
// there, stays root.
func TestEnginesRunAsUsersOfTheirOwn(t *testing.T) {
	if os.Getuid() != 0 {
		t.Log("not root: the engines are our own user")
		return
	}
	t.Setenv("CRON_SECRET", "of-the-cron")
	programCopies = tempdir.Passable(t)
	for name, mode := range map[string]os.FileMode{"open": 0o755, "closed": 0o700} {
		t.Run(name, func(t *testing.T) {
			dir := tempdir.Passable(t)
			if err := os.Chmod(dir, mode); err != nil {
				t.Fatal(err)
			}
			packages, err := findInstallation()
			if err != nil {
				t.Fatal(err)
			}
			t.Setenv(installationEnv, filepath.Join(dir, "installation")) // closed like dir
			if err := os.Symlink(string(packages), filepath.Join(dir, "installation")); err != nil {
				t.Fatal(err)
			}
			o := Options{
				DataDir: filepath.Join(dir, "var"), ClickHouse: true, Postgres: true, Owner: "all",
				Exclusive: true, NoSync: true, Log: quiet,
			}
			for range 2 { // made, and found again
				engines, err := Open(t.Context(), o)
				if err != nil {
					t.Fatal(err)
				}
				haveUsersOfTheirOwn(t, engines, mode == 0o755)
				if err := engines.Stop(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func haveUsersOfTheirOwn(t *testing.T, e *Engines, open bool) {
	t.Helper()
	for _, r := range e.running {
		var pid int
		var want string
		switch r := r.(type) {
		case *ClickHouse:
			pid, want = r.PID(), fmt.Sprint(clickHouseUID)
		case *Postgres:
			pid, want = r.PID(), fmt.Sprint(postgresUID)
		}
		_, stays := r.(*ClickHouse)
		if uid, capabilities := status(t, pid); !(stays && !open) &&
			(uid != want || strings.Trim(capabilities, "0") != "") {
			t.Errorf("%T runs as %s with capabilities %s; want %s and none", r, uid, capabilities, want)
		}
		environment, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err != nil || bytes.Contains(environment, []byte("of-the-cron")) ||
			bytes.Count(environment, []byte("=")) > 4 {
			t.Errorf("%T has the environment %q, %v", r, environment, err)
		}
	}
}

// A data directory of an earlier release, whose ClickHouse ran as root and PostgreSQL as nobody, starts with all that
// is in it.
func TestAnEarlierReleasesDirectoryIsTakenOver(t *testing.T) {
	if os.Getuid() != 0 {
		t.Log("not root: the engines are our own user")
		return
	}
	for name, before := range map[string]int{"clickhouse": 0, "postgres": nobodyUID} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(tempdir.Passable(t), name)
			first, err := stores[name](t, dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(first.write(t.Context(), "kept"), first.Stop(t.Context())); err != nil {
				t.Fatal(err)
			}
			err = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
				return errors.Join(err, os.Lchown(path, before, before))
			})
			if err != nil {
				t.Fatal(err)
			}
			second, err := stores[name](t, dir)
			if err != nil {
				t.Fatal(err)
			}
			mustStop(t, second)
			got, err := second.read(t.Context())
			if err != nil || strings.Join(got, "") != "kept" {
				t.Errorf("read %q, %v", got, err)
			}
			if err := second.write(t.Context(), "more"); err != nil {
				t.Error(err)
			}
		})
	}
}

// What the services log in as may do nothing before the schema grants it something.
func TestServicesAreNoSuperuser(t *testing.T) {
	e, err := StartPostgres(t.Context(), PostgresConfig{Dir: tempdir.Passable(t), NoSync: true, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	mustStop(t, e)
	conn, err := pgx.Connect(t.Context(), e.ServiceDSN())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for _, forbidden := range []string{
		"CREATE TABLE t ()", "CREATE ROLE r", "SET ROLE postgres", "SELECT pg_read_file('postgresql.conf')",
		"COPY (SELECT 1) TO PROGRAM 'cat'", "SELECT rolpassword FROM pg_authid",
	} {
		if _, err := conn.Exec(t.Context(), forbidden); err == nil {
			t.Errorf("%s was done", forbidden)
		}
	}
}
