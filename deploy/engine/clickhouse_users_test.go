package engine

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const someUser = `<clickhouse><users><somebody><password>secret</password><networks><ip>127.0.0.1</ip></networks>
	<profile>default</profile><quota>default</quota></somebody></users></clickhouse>`

// openedClickHouse is a set of its own, and its ClickHouse as another user.
func openedClickHouse(t *testing.T, dir, user, password string) (*Set, *ClickHouse) {
	t.Helper()
	set, err := Open(t.Context(), Options{DataDir: dir, ClickHouse: true, Owner: "all", Exclusive: true, NoSync: true, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	mustEnd(t, set)
	return set, &ClickHouse{http: set.ClickHouseHTTP(), user: user, password: password}
}

// ourselves is the ClickHouse of a set as its owner.
func ourselves(t *testing.T, set *Set) *ClickHouse {
	t.Helper()
	u, err := url.Parse(set.ClickHouse())
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	return &ClickHouse{http: set.ClickHouseHTTP(), user: u.User.Username(), password: password}
}

func (c *ClickHouse) mayEnter(t *testing.T) bool {
	got, err := c.query(t.Context(), "SELECT currentUser()")
	return err == nil && got == c.user
}

func TestUsersComeAndGoWhileTheEngineRuns(t *testing.T) {
	dir := place(t)
	set, somebody := openedClickHouse(t, dir, "somebody", "secret")
	if somebody.mayEnter(t) {
		t.Error("a user without a file was let in")
	}
	path := filepath.Join(ClickHouseUsersDir(dir), "somebody.xml")
	if err := os.WriteFile(path, []byte(someUser), 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a user whose file came is let in", func() bool { return somebody.mayEnter(t) })
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	us := ourselves(t, set)
	eventually(t, "a user whose file went is not let in", func() bool { return us.mayEnter(t) && !somebody.mayEnter(t) })
	select {
	case <-set.Lost():
		t.Errorf("a restart for users counts as a loss: %v", set.Err())
	default:
	}
}

// The engine would not come back with such a file: it is left for when it is whole.
func TestHalfAFileOfUsersRestartsNothing(t *testing.T) {
	dir := place(t)
	set, somebody := openedClickHouse(t, dir, "somebody", "secret")
	path := filepath.Join(ClickHouseUsersDir(dir), "somebody.xml")
	if err := os.WriteFile(path, []byte(someUser[:len(someUser)/2]), 0o600); err != nil {
		t.Fatal(err)
	}
	if set.running[0].(*ClickHouse).usersChanged() {
		t.Error("half a file counts as a change")
	}
	if err := os.WriteFile(path, []byte(someUser), 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the whole file is read", func() bool { return somebody.mayEnter(t) })
}

// Well-formed, but of a profile that there is none of: the engine does not start with it.
var refusedUsers = strings.Replace(strings.Replace(someUser, "<profile>default", "<profile>nonsense", 1), "somebody", "nobody", 2)

// Neither the running engine nor the next start of it may end for a file of users.
func TestUsersThatTheEngineRefusesArePutAside(t *testing.T) {
	dir := place(t)
	good, bad := filepath.Join(ClickHouseUsersDir(dir), "somebody.xml"), filepath.Join(ClickHouseUsersDir(dir), "nobody.xml")
	write := func(t *testing.T, path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	others := func(t *testing.T, set *Set, somebody *ClickHouse) {
		t.Helper()
		eventually(t, "the file is put aside, and the others are let in", func() bool {
			_, gone := os.Stat(bad)
			_, err := os.Stat(bad + refused)
			return os.IsNotExist(gone) && err == nil && somebody.mayEnter(t)
		})
		if err := set.Err(); err != nil {
			t.Errorf("lost: %v", err)
		}
	}
	t.Run("while it runs", func(t *testing.T) {
		set, somebody := openedClickHouse(t, dir, "somebody", "secret")
		write(t, good, someUser)
		eventually(t, "a user whose file came is let in", func() bool { return somebody.mayEnter(t) })
		write(t, bad, refusedUsers)
		others(t, set, somebody)
	})
	t.Run("before it starts", func(t *testing.T) {
		// It is back already where the engine was stopped as soon as it let somebody in,
		// which was before its start was over.
		if err := os.Rename(bad+refused, bad); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if _, err := os.Stat(bad); err != nil {
			t.Fatal(err)
		}
		set, somebody := openedClickHouse(t, dir, "somebody", "secret")
		others(t, set, somebody)
	})
}

// A query of an hour would hold up everybody else's.
func TestUsersComeWhileAQueryIsUnderWay(t *testing.T) {
	dir := place(t)
	set, somebody := openedClickHouse(t, dir, "somebody", "secret")
	us, began := ourselves(t, set), make(chan struct{})
	go func() {
		close(began)
		_, _ = us.query(t.Context(), "SELECT sleepEachRow(1) FROM numbers(3600) SETTINGS max_block_size = 1, function_sleep_max_microseconds_per_block = 0 FORMAT Null")
	}()
	<-began
	eventually(t, "the query is under way", func() bool {
		running, err := us.query(t.Context(), "SELECT count() FROM system.processes WHERE query LIKE '%numbers(3600)%' AND query NOT LIKE '%processes%'")
		return err == nil && running == "1"
	})
	if err := os.WriteFile(filepath.Join(ClickHouseUsersDir(dir), "somebody.xml"), []byte(someUser), 0o600); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	eventually(t, "a user whose file came is let in", func() bool { return somebody.mayEnter(t) })
	if took := time.Since(begin); took > 4*time.Second {
		t.Errorf("it took %s", took)
	}
}

// A restart for users must not make a set forget to notice the next engine's end.
func TestEngineThatDiesAfterARestartIsLost(t *testing.T) {
	dir := place(t)
	set, somebody := openedClickHouse(t, dir, "somebody", "secret")
	if err := os.WriteFile(filepath.Join(ClickHouseUsersDir(dir), "somebody.xml"), []byte(someUser), 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a user whose file came is let in", func() bool { return somebody.mayEnter(t) })
	// Its command line is the one query of no user; without it the engine ends.
	us := ourselves(t, set)
	if _, err := us.query(t.Context(), "KILL QUERY WHERE user = '' ASYNC"); err != nil {
		t.Fatal(err)
	}
	<-set.Lost()
}
