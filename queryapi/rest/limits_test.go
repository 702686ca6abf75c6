package rest

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/answerscope/answerscope/internal/testkit/wait"
)

// A statement that takes too long is refused, and its connection serves the next request.
func TestStatementTimeout(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(cfg *Config) { cfg.StatementTimeout = 200 * time.Millisecond })
	s.send(t, "POST /rpc/sleep", "\n{\"seconds\":0}")
	opened := s.api.pool.Stat().NewConnsCount()
	r := s.send(t, "POST /rpc/sleep", "\n{\"seconds\":600}")
	if want := `{"code":"57014","details":null,"hint":null,"message":"canceling statement due to ` +
		`statement timeout"}`; r.code != 500 || r.body != want {
		t.Errorf("%s %s", r.status, r.body)
	}
	if r := s.send(t, "GET /authors?select=id&id=eq.1", ""); r.body != `[{"id":1}]` ||
		s.api.pool.Stat().NewConnsCount() != opened {
		t.Errorf("afterwards: %s %s, %d connections opened for it", r.status, r.body,
			s.api.pool.Stat().NewConnsCount()-opened)
	}
}

// The statement of a client that has gone ends.
func TestAClientThatGoes(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(cfg *Config) { cfg.StatementTimeout = time.Hour })
	client, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Write(
		[]byte("POST /rpc/sleep HTTP/1.1\r\nHost: x\r\nContent-Length: 15\r\n\r\n{\"seconds\":600}")); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), s.owner)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	sleeping := func() (n int) {
		const question = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND " +
			"wait_event = 'PgSleep'"
		if err := conn.QueryRow(t.Context(), question).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	wait.For(t, "the statement", func() bool { return sleeping() == 1 })
	client.Close()
	wait.For(t, "its end", func() bool { return sleeping() == 0 })
}

// A request that gets no connection is refused with that reason, and the next one gets one.
func TestNoConnectionLeft(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(cfg *Config) { cfg.AcquireTimeout = 100 * time.Millisecond })
	var held []*pgxpool.Conn
	for range s.api.pool.Config().MaxConns {
		conn, err := s.api.pool.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, conn)
	}
	const none = `{"code":"PGRST003","details":null,"hint":null,"message":"Timed out acquiring connection from ` +
		`connection pool."}`
	if r := s.send(t, "GET /authors?select=id&id=eq.1", ""); r.code != 504 || r.body != none {
		t.Errorf("%s %s", r.status, r.body)
	}
	for _, conn := range held {
		conn.Release()
	}
	if r := s.send(t, "GET /authors?select=id&id=eq.1", ""); r.code != 200 {
		t.Errorf("afterwards: %s %s", r.status, r.body)
	}
}

// A database that takes no connections is 503 and says when to come again; then it serves by itself.
func TestADatabaseThatRefuses(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	database, err := pgx.ParseConfig(s.owner)
	if err != nil {
		t.Fatal(err)
	}
	server := strings.Replace(s.owner, "/"+database.Database, "/postgres", 1)
	name := pgx.Identifier{database.Database}.Sanitize()
	execute(t, server,
		"ALTER DATABASE "+name+
			" ALLOW_CONNECTIONS false; SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '"+
			database.Database+"'")
	wait.For(t, "the refusal", func() bool {
		r := s.send(t, "GET /authors?select=id", "")
		if r.code != 503 || r.header.Get("Retry-After") == "" {
			t.Errorf("%s %v %s", r.status, r.header, r.body)
		}
		return strings.HasPrefix(r.body, `{"code":"PGRST000",`)
	})
	execute(t, server, "ALTER DATABASE "+name+" ALLOW_CONNECTIONS true")
	wait.For(t, "an answer", func() bool { return s.send(t, "GET /authors?select=id", "").code == 200 })
}
