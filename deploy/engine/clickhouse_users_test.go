package engine

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit/tempdir"
	"github.com/answerscope/answerscope/internal/testkit/wait"
)

const analystUser = `<clickhouse><users><analyst><password>secret</password><networks><ip>127.0.0.1</ip></networks>
	<profile>default</profile><quota>default</quota></analyst></users></clickhouse>`

// openedClickHouse starts the ClickHouse of a directory; the second result is that ClickHouse as another user.
func openedClickHouse(t *testing.T, dir, user, password string) (*Engines, *ClickHouse) {
	t.Helper()
	engines, err := Open(t.Context(), Options{
		DataDir: dir, ClickHouse: true, Owner: "all", Exclusive: true, NoSync: true, Log: quiet,
	})
	if err != nil {
		t.Fatal(err)
	}
	mustEnd(t, engines)
	return engines, &ClickHouse{http: engines.ClickHouseHTTP, user: user, password: password}
}

// ourselves is the ClickHouse of a directory as its own user.
func ourselves(t *testing.T, engines *Engines) *ClickHouse {
	t.Helper()
	u, err := url.Parse(engines.ClickHouse)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	return &ClickHouse{http: engines.ClickHouseHTTP, user: u.User.Username(), password: password}
}

func (c *ClickHouse) mayEnter(t *testing.T) bool {
	got, err := c.query(t.Context(), "SELECT currentUser()")
	return err == nil && got == c.user
}

func TestUsersAreAddedAndRemovedWhileTheEngineRuns(t *testing.T) {
	dir := tempdir.Passable(t)
	engines, analyst := openedClickHouse(t, dir, "analyst", "secret")
	if analyst.mayEnter(t) {
		t.Error("a user without a file was let in")
	}
	path := filepath.Join(ClickHouseUsersDir(dir), "analyst.xml")
	if err := os.WriteFile(path, []byte(analystUser), 0o600); err != nil {
		t.Fatal(err)
	}
	wait.For(t, "the new user to be let in", func() bool { return analyst.mayEnter(t) })
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	us := ourselves(t, engines)
	wait.For(t, "the removed user to be kept out", func() bool { return us.mayEnter(t) && !analyst.mayEnter(t) })
	select {
	case <-engines.Lost():
		t.Errorf("a restart for users counts as a loss: %v", engines.Err())
	default:
	}
}

// The engine would not start with such a file: it is read once it is complete.
func TestAHalfWrittenFileOfUsersRestartsNothing(t *testing.T) {
	dir := tempdir.Passable(t)
	engines, analyst := openedClickHouse(t, dir, "analyst", "secret")
	path := filepath.Join(ClickHouseUsersDir(dir), "analyst.xml")
	if err := os.WriteFile(path, []byte(analystUser[:len(analystUser)/2]), 0o600); err != nil {
		t.Fatal(err)
	}
	if engines.running[0].(*ClickHouse).usersChanged() {
		t.Error("half a file counts as a change")
	}
	if err := os.WriteFile(path, []byte(analystUser), 0o600); err != nil {
		t.Fatal(err)
	}
	wait.For(t, "the whole file to be read", func() bool { return analyst.mayEnter(t) })
}

// Well-formed, but of a profile that there is none of: the engine does not start with it.
var refusedUsers = strings.Replace(strings.Replace(analystUser, "<profile>default", "<profile>nonsense", 1), "analyst",
	"refused", 2)

// Neither the running engine nor the next start of it may end for a file of users.
func TestFilesOfUsersThatTheEngineRefusesAreRenamed(t *testing.T) {
	dir := tempdir.Passable(t)
	good, bad := filepath.Join(ClickHouseUsersDir(dir), "analyst.xml"),
		filepath.Join(ClickHouseUsersDir(dir), "refused.xml")
	write := func(t *testing.T, path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	others := func(t *testing.T, engines *Engines, analyst *ClickHouse) {
		t.Helper()
		wait.For(t, "the bad file to be renamed and the other user to be let in", func() bool {
			_, gone := os.Stat(bad)
			_, err := os.Stat(bad + refused)
			return os.IsNotExist(gone) && err == nil && analyst.mayEnter(t)
		})
		if err := engines.Err(); err != nil {
			t.Errorf("lost: %v", err)
		}
	}
	t.Run("while it runs", func(t *testing.T) {
		engines, analyst := openedClickHouse(t, dir, "analyst", "secret")
		write(t, good, analystUser)
		wait.For(t, "the new user to be let in", func() bool { return analyst.mayEnter(t) })
		write(t, bad, refusedUsers)
		others(t, engines, analyst)
	})
	t.Run("before it starts", func(t *testing.T) {
		// The file has its name already if the engine was stopped before its start was over, when it let the analyst
		// in.
		if err := os.Rename(bad+refused, bad); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if _, err := os.Stat(bad); err != nil {
			t.Fatal(err)
		}
		engines, analyst := openedClickHouse(t, dir, "analyst", "secret")
		others(t, engines, analyst)
	})
}

// A query of an hour would delay all others.
func TestUsersAreReadWhileAQueryRuns(t *testing.T) {
	dir := tempdir.Passable(t)
	engines, analyst := openedClickHouse(t, dir, "analyst", "secret")
	us, ended := ourselves(t, engines), make(chan error, 1)
	go func() {
		_, err := us.query(t.Context(), "SELECT sleepEachRow(1) FROM numbers(3600) SETTINGS max_block_size = 1, "+
			"function_sleep_max_microseconds_per_block = 0 FORMAT Null")
		ended <- err
	}()
	wait.For(t, "the query to run", func() bool {
		select {
		case err := <-ended:
			t.Fatalf("the query of an hour has ended: %v", err)
		default:
		}
		running, err := us.query(t.Context(), "SELECT count() FROM system.processes WHERE query LIKE "+
			"'%numbers(3600)%' AND query NOT LIKE '%processes%'")
		return err == nil && running == "1"
	})
	if err := os.WriteFile(filepath.Join(ClickHouseUsersDir(dir), "analyst.xml"),
		[]byte(analystUser), 0o600); err != nil {
		t.Fatal(err)
	}
	wait.For(t, "the new user to be let in", func() bool { return analyst.mayEnter(t) }) // the query takes an hour
}

// After a restart for users the owner must still notice the next engine's end.
func TestAnEngineThatEndsAfterARestartIsStartedAgain(t *testing.T) {
	dir := tempdir.Passable(t)
	engines, analyst := openedClickHouse(t, dir, "analyst", "secret")
	if err := os.WriteFile(filepath.Join(ClickHouseUsersDir(dir), "analyst.xml"),
		[]byte(analystUser), 0o600); err != nil {
		t.Fatal(err)
	}
	wait.For(t, "the new user to be let in", func() bool { return analyst.mayEnter(t) })
	killed := engines.kill(t, "clickhouse-console")
	wait.For(t, "the engine to be started again", func() bool {
		return engines.pid(t, "clickhouse-console") != killed && analyst.mayEnter(t)
	})
}

// The trail of who asked what was lost, for good, when the engine was started again for a user.
func TestTheTrailOfQueriesSurvivesRestarts(t *testing.T) {
	dir := tempdir.Passable(t)
	engines, analyst := openedClickHouse(t, dir, "analyst", "secret")
	us := ourselves(t, engines)
	const trail = "SELECT count() FROM audit.query_log WHERE type = 'QueryStart' AND user = 'answerscope' AND " +
		"log_comment = 'seen'"
	for asked, end := range []func(){
		func() {
			if err := os.WriteFile(filepath.Join(ClickHouseUsersDir(dir), "analyst.xml"),
				[]byte(analystUser), 0o600); err != nil {
				t.Fatal(err)
			}
			wait.For(t, "the new user to be let in", func() bool { return analyst.mayEnter(t) })
		},
		func() {
			if _, err := us.query(t.Context(), "SYSTEM FLUSH LOGS"); err != nil {
				t.Fatal(err)
			}
			killed := engines.kill(t, "clickhouse-console")
			wait.For(t, "the next start", func() bool {
				return engines.pid(t, "clickhouse-console") != killed && us.mayEnter(t)
			})
		},
	} {
		if _, err := us.query(t.Context(), "SELECT 1 SETTINGS log_comment = 'seen'"); err != nil {
			t.Fatal(err)
		}
		end()
		if got, err := us.query(t.Context(), trail); err != nil || got != strconv.Itoa(asked+1) {
			t.Errorf("after %d restarts the trail has %q queries, %v", asked+1, got, err)
		}
		if _, err := us.query(t.Context(), "SYSTEM FLUSH LOGS"); err != nil {
			t.Errorf("the trail goes on no more: %v", err)
		}
	}
}
