package engine

import (
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit/tempdir"
)

func startedClickHouse(t *testing.T, dir string) *ClickHouse {
	t.Helper()
	e, err := StartClickHouse(t.Context(), ClickHouseConfig{Dir: dir, NoSync: true, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// The engine's own command line needs user default without a password; no
// one else may be that user, over either protocol.
func TestClickHouseAsksForAPassword(t *testing.T) {
	e := startedClickHouse(t, tempdir.Passable(t))
	mustStop(t, e)
	for name, u := range map[string]url.URL{
		"no user":         {},
		"default":         {User: url.User("default")},
		"default, freely": {User: url.User("default"), RawQuery: "max_sessions_for_user=0"},
		"wrong password":  {User: url.UserPassword(clickHouseUser, "x")},
	} {
		u.Scheme, u.Host = "http", e.HTTPAddr()
		resp, err := http.Post(u.String(), "text/plain", strings.NewReader("SELECT 1"))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			t.Errorf("%s was answered over HTTP", name)
		}
	}
	for _, user := range []string{"'default'", "'" + clickHouseUser + "', 'x'"} {
		got, err := e.query(t.Context(), "SELECT * FROM remote('"+e.native+"', system.numbers, "+user+") LIMIT 1")
		if err == nil {
			t.Errorf("%s was answered %q over the native protocol", user, got)
		}
	}
}

func TestClickHouseKeepsFunctionsAndReadsUsersWhenItStarts(t *testing.T) {
	dir := tempdir.Passable(t)
	e := startedClickHouse(t, dir)
	if _, err := e.query(t.Context(), "CREATE FUNCTION plus_one AS (x) -> x + 1"); err != nil {
		t.Fatal(err)
	}
	analyst := `<clickhouse><users><analyst><password>secret</password><networks><ip>127.0.0.1</ip></networks>
		<profile>default</profile><quota>default</quota></analyst></users></clickhouse>`
	if err := os.WriteFile(filepath.Join(dir, "users.d", "analyst.xml"), []byte(analyst), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := e.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	e = startedClickHouse(t, dir)
	mustStop(t, e)
	if got, err := e.query(t.Context(), "SELECT plus_one(1)"); err != nil || got != "2" {
		t.Errorf("function after a restart: %q, %v", got, err)
	}
	asAnalyst := *e
	asAnalyst.user, asAnalyst.password = "analyst", "secret"
	if got, err := asAnalyst.query(t.Context(), "SELECT currentUser()"); err != nil || got != "analyst" {
		t.Errorf("analyst: %q, %v", got, err)
	}
}

func TestClickHouseLogsQueriesInATableAndLittleInAFile(t *testing.T) {
	dir := tempdir.Passable(t)
	e := startedClickHouse(t, dir)
	mustStop(t, e)
	for _, q := range []string{"SELECT 1 SETTINGS log_comment = 'seen'", "SYSTEM FLUSH LOGS"} {
		if _, err := e.query(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	got, err := e.query(t.Context(), "SELECT count() > 0 FROM audit.query_log WHERE log_comment = 'seen'")
	if err != nil || got != "1" {
		t.Errorf("query in audit.query_log: %q, %v", got, err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "log", "clickhouse", "clickhouse.log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, level := range []string{"<Trace>", "<Debug>", "<Information>"} {
		if strings.Contains(string(text), level) {
			t.Errorf("the log has lines of level %s:\n%s", level, text)
		}
	}
}

func TestClickHouseDatabaseIsAtomicAndServesBothProtocols(t *testing.T) {
	e := startedClickHouse(t, tempdir.Passable(t))
	mustStop(t, e)
	got, err := e.query(t.Context(), "SELECT engine FROM system.databases WHERE name = '"+Database+"'")
	if err != nil || got != "Atomic" {
		t.Errorf("engine of database: %q, %v", got, err)
	}
	native := "remote('" + e.native + "', system.one, '" + clickHouseUser + "', '" + e.password + "')"
	if got, err := e.query(t.Context(), "SELECT count() FROM "+native); err != nil || got != "1" {
		t.Errorf("native protocol: %q, %v", got, err)
	}
}

// The engine's command line ends when a connection fails, unless we restrict it: see restrict. Each of these ended it.
func TestClickHouseOutlivesConnectionsThatFail(t *testing.T) {
	e := startedClickHouse(t, tempdir.Passable(t))
	mustStop(t, e)
	for name, c := range map[string]struct{ address, says string }{
		"native, no protocol at all": {e.native, "\xff\xfegarbage"},
		"native, half a hello":       {e.native, "\x00\x05hello"},
		"HTTP, no request at all":    {e.http, "garbage\r\n\r\n"},
	} {
		conn, err := net.Dial("tcp", c.address)
		if err != nil {
			t.Fatal(name, err)
		}
		if _, err := conn.Write([]byte(c.says)); err != nil {
			t.Fatal(name, err)
		}
		// A reset is what a killed client leaves.
		if err := conn.(*net.TCPConn).SetLinger(0); err != nil {
			t.Fatal(name, err)
		}
		_ = conn.Close()
		stillAnswers(t, e, name)
	}
	for name, remote := range map[string]string{
		"native, wrong password":   "system.one, '" + clickHouseUser + "', 'x'",
		"native, unknown user":     "system.one, 'nosuch', 'x'",
		"native, unknown database": "nosuch.nosuch, '" + clickHouseUser + "', '" + e.password + "'",
	} {
		if got, err := e.query(t.Context(), "SELECT * FROM remote('"+e.native+"', "+remote+")"); err == nil {
			t.Errorf("%s: answered %q", name, got)
		}
		stillAnswers(t, e, name)
	}
}

// stillAnswers asks until an engine that is ending would have shown it: it goes
// away within some milliseconds of the error, which it first logs.
func stillAnswers(t *testing.T, e *ClickHouse, after string) {
	t.Helper()
	for range 10 {
		if _, err := e.query(t.Context(), "SELECT sleep(0.02)"); err != nil {
			t.Fatalf("after %s: %v", after, err)
		}
	}
}

// Without a grant, every user could read every file of this user: see refuseFiles.
func TestClickHouseFunctionFileReadsNothing(t *testing.T) {
	dir := tempdir.Passable(t)
	e := startedClickHouse(t, dir)
	mustStop(t, e)
	path := filepath.Join(dir, "password")
	for _, q := range []string{
		"SELECT file('" + path + "')",
		"SELECT file('" + path + "', 'none')",
		"SELECT file(materialize('" + path + "'))",
		"SELECT COLUMNS('path') APPLY(file) FROM (SELECT '" + path + "' AS path)",
		"SELECT arrayMap(path -> file(path), ['" + path + "'])",
	} {
		got, err := e.query(t.Context(), q)
		if err == nil || !strings.Contains(err.Error(), "FUNCTION_IS_SPECIAL") {
			t.Errorf("%s: %q, %v", q, got, err)
		}
	}
}
