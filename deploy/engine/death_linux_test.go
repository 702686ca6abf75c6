package engine

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit/tempdir"
	"github.com/answerscope/answerscope/internal/testkit/wait"
)

// childrenIn lists the processes that work in a directory: PostgreSQL's change
// their command lines, so their working directories are asked.
func childrenIn(t *testing.T, dir string) []int {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		cwd, err := os.Readlink(filepath.Join("/proc", e.Name(), "cwd"))
		if err == nil && strings.HasPrefix(cwd, dir+"/") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// SIGKILL gives no process the chance to stop its children, so the kernel must.
func TestSIGKILLLeavesNoChildAndTheNextStartFindsEverything(t *testing.T) {
	everyUser(t, func(t *testing.T, attr *syscall.SysProcAttr, dir string) {
		o := Options{DataDir: dir, ClickHouse: true, Postgres: true, Kafka: true, Owner: "all", Exclusive: true}
		for range 2 {
			parent := startRole(t, o, attr)
			if pids := childrenIn(t, dir); len(pids) < 2 {
				t.Fatalf("children %v; want at least ClickHouse and PostgreSQL", pids)
			}
			before, err := readOwner(dir)
			if err != nil {
				t.Fatal(err)
			}
			parent.kill()
			wait.For(t, "every child to end", func() bool { return len(childrenIn(t, dir)) == 0 })

			next := startRole(t, o, attr)
			after, err := readOwner(dir)
			if err != nil {
				t.Fatal(err)
			}
			if before.ClickHouse != after.ClickHouse || before.Postgres != after.Postgres ||
				before.Kafka[0] != after.Kafka[0] {
				t.Errorf("addresses\n%+v became\n%+v", before, after)
			}
			next.end(t)
		}
		if pids := childrenIn(t, dir); len(pids) > 0 {
			t.Errorf("children %v after an orderly end", pids)
		}
	})
}

// A start does not wait for the children of the killed owner to be seen gone by someone: it does that itself.
func TestStartRightAfterSIGKILLKeepsTheAddress(t *testing.T) {
	o := Options{DataDir: tempdir.Passable(t), ClickHouse: true, Postgres: true, Owner: "all", Exclusive: true}
	parent := startRole(t, o, nil)
	before, err := readOwner(o.DataDir)
	if err != nil {
		t.Fatal(err)
	}
	parent.kill()
	o.Log = quiet
	engines, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	mustEnd(t, engines)
	if engines.ClickHouse != before.ClickHouse || engines.Postgres != before.Postgres {
		t.Errorf("addresses %s and %s; were %s and %s", engines.ClickHouse, engines.Postgres, before.ClickHouse,
			before.Postgres)
	}
}

// Under root, PostgreSQL is another user's process, who must reach binaries and
// data below a directory that is closed to all others, such as /root.
func TestPostgresUnderRootPassesAClosedDirectory(t *testing.T) {
	if os.Getuid() != 0 {
		t.Log("not root: PostgreSQL runs as this user, to whom no directory of its own is closed")
		return
	}
	closed := tempdir.Passable(t)
	if err := os.Chmod(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(closed, "data")
	t.Setenv(installationEnv, copiedInstallation(t, closed))
	o := Options{DataDir: dir, Postgres: true, Owner: "all", Exclusive: true}
	parent := startRole(t, o, nil)
	parent.kill()
	wait.For(t, "every child to end", func() bool { return len(childrenIn(t, dir)) == 0 })
	startRole(t, o, nil).end(t)
}

// copiedInstallation is an installation below dir with a copy of the PostgreSQL package.
func copiedInstallation(t *testing.T, dir string) string {
	t.Helper()
	real, err := findInstallation()
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(dir, "engine")
	pkg := filepath.Join("node_modules", filepath.FromSlash(npmNames["postgres"][runtime.GOOS+"/"+runtime.GOARCH]))
	if err := os.CopyFS(filepath.Join(copied, pkg), os.DirFS(filepath.Join(string(real), pkg))); err != nil {
		t.Fatal(err)
	}
	lock, err := os.ReadFile(filepath.Join(string(real), "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(copied, "package-lock.json"), lock, 0o600); err != nil {
		t.Fatal(err)
	}
	return copied
}

// everyUser runs a test as ourselves and, when we are root, as a user who is not.
func everyUser(t *testing.T, test func(t *testing.T, attr *syscall.SysProcAttr, dir string)) {
	t.Run("uid "+strconv.Itoa(os.Getuid()), func(t *testing.T) { test(t, nil, tempdir.Passable(t)) })
	if os.Getuid() != 0 {
		t.Log("not root: only tried as ourselves")
		return
	}
	packages, err := findInstallation()
	if err != nil {
		t.Fatal(err)
	}
	closed, err := closedParent(nobodyUID, string(packages))
	if err != nil {
		t.Fatal(err)
	}
	if closed != "" {
		t.Logf("only tried as root: no other user may pass %s", closed)
		return
	}
	t.Run("uid "+strconv.Itoa(nobodyUID), func(t *testing.T) {
		dir := tempdir.Passable(t)
		if err := os.Chown(dir, nobodyUID, nobodyUID); err != nil {
			t.Fatal(err)
		}
		attr := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobodyUID, Gid: nobodyUID}}
		test(t, attr, dir)
	})
}
