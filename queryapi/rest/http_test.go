package rest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/wait"
)

// Bodies are as they are: neither tagged nor compressed, and an empty one has no type.
func TestTransport(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for _, c := range []struct {
		line, rest, length, kind string
	}{
		{"GET /authors?select=id&id=eq.1", "Accept-Encoding: gzip, br\n", "10", "application/json; charset=utf-8"},
		{"GET /rpc/numbers?n=2000", "Accept-Encoding: gzip, br\n", "10893", "application/json; charset=utf-8"},
		{"POST /keyless", "\n{\"a\":1}", "0", ""},
		{"POST /keyless", "\n{\"a\":" + strings.Repeat(" ", 5<<20) + "1}", "0", ""},
		{"PATCH /keyless?a=eq.1", "\n{\"a\":1}", "", ""},
		{"HEAD /authors", "", "", "application/json; charset=utf-8"},
		{"GET /nope", "Accept-Encoding: gzip\n", "114", "application/json; charset=utf-8"},
	} {
		r := s.send(t, c.line, c.rest)
		if h := r.header; h.Get("Content-Length") != c.length ||
			h.Get("Content-Type") != c.kind || h.Get("ETag")+h.Get("Content-Encoding")+h.Get("Vary") != "" {
			t.Errorf("%s: %s %v", c.line, r.status, h)
		}
	}
}

// What the server refuses by itself has the form of the dialect too.
func TestTheServersOwnRefusals(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for request, want := range map[string]string{
		"POST /items HTTP/1.1\r\nHost: x\r\nOrigin: https://a.example\r\nContent-Length: " +
			"8388609\r\n\r\n": `413 {"code":"PGRST102","details":null,"hint":null,"message":"The body is too large"}`,
		"POST /items HTTP/1.1\r\nHost: x\r\nContent-Length: " +
			"1\r\nContent-Length: 2\r\n\r\n{}": `400 {"code":"PGRSTX00",`,
		"GET /items?a=" + strings.Repeat("x", 40<<10) +
			" HTTP/1.1\r\nHost: x\r\n\r\n": `431 {"code":"PGRSTX00",`,
		"GET /items/%zz/a HTTP/1.1\r\nHost: x\r\nConnection: " +
			"close\r\n\r\n": `404 {"code":"PGRST125",`,
		"GET /items?select=id HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\nConnection: " +
			"close\r\n\r\n": `406 {"code":"PGRST107",`,
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write([]byte(request)); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		body := make([]byte, response.ContentLength)
		if _, err := bufio.NewReader(response.Body).Read(body); err != nil {
			t.Fatal(err)
		}
		conn.Close()
		if got := response.Status[:4] + string(body); !strings.HasPrefix(got, want) ||
			response.Header.Get("Content-Type") != "application/json; charset=utf-8" ||
			!strings.HasPrefix(response.Header.Get("Proxy-Status"), "PostgREST; error=PGRST") ||
			(response.Header.Get("Access-Control-Allow-Origin") == "*") != strings.Contains(request, "Origin") {
			t.Errorf("%q: %s %v", request, got, response.Header)
		}
	}
}

// Until the schema has been read the answer is 503, and what fails inside is not shown.
func TestFaults(t *testing.T) {
	t.Parallel()
	listener, err := httpd.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := httpd.New(httpd.DefaultConfig(), listener, testkit.Log(t), prometheus.NewRegistry())
	cfg := DefaultConfig()
	cfg.Schemas, cfg.Prefix = []string{"api"}, "/data"
	var fault error
	api := New(cfg, nil, func(*fiber.Ctx) (Caller, error) {
		if fault == nil {
			panic("hunter2")
		}
		return Caller{}, fault
	}, testkit.Log(t))
	api.Mount(server)
	t.Cleanup(testkit.Start(t, server.Run))
	wait.For(t, "the server", func() bool { return server.Ready(context.Background()) == nil })
	s := &site{url: server.URL()}
	check := func(line string, code int, body string) {
		t.Helper()
		r := s.send(t, line, "Origin: https://a.example\n")
		if r.code != code || !strings.HasPrefix(r.body, body) || strings.Contains(r.body, "hunter2") ||
			(strings.Join(r.header.Values("Retry-After"), ",") == "1") != (code == 503) ||
			(r.header.Get("Access-Control-Allow-Origin") == "*") != strings.HasPrefix(line, "GET /data/") {
			t.Errorf("%s: %s %v %s", line, r.status, r.header, r.body)
		}
	}
	check("GET /data/a", 503, `{"code":"PGRST002","details":null,"hint":null,"message":"Could not query the `+
		`database for the schema cache. Retrying."}`)
	check("GET /other/a", 404, `{"error":`)
	check("GET /database", 404, `{"`)
	api.schemas.Store(&schemaCache{})
	check("GET /data/a", 500, `{"code":"PGRSTX00",`)
	fault = errors.New("hunter2")
	check("GET /data/a", 500, `{"code":"PGRSTX00",`)
	fault = badToken("PGRST301", "no")
	check("GET /data/a", 401, `{"code":"PGRST301",`)
	fault = Unavailable("later")
	check("GET /data/a", 503, `{"code":"PT503",`)
}

// A connection keeps a bounded number of statements, also where they fail.
func TestPreparedStatementsAreBounded(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for n := range 2*maxPrepared + 50 {
		value := []string{"1", "1", "x"}[n%3]
		if r := s.send(t, fmt.Sprintf("GET /authors?select=a%d:id&id=eq.%s", n, value),
			""); (r.code == 200) != (value == "1") {
			t.Fatal(r.status, r.body)
		}
	}
	kept := 0
	for _, conn := range s.api.pool.AcquireAllIdle(t.Context()) {
		var count int
		if err := conn.QueryRow(t.Context(),
			"SELECT count(*) FROM pg_prepared_statements WHERE name LIKE 'rest_%'").Scan(&count); err != nil ||
			count > maxPrepared {
			t.Errorf("%d statements, %v", count, err)
		}
		kept += count
		conn.Release()
	}
	if kept < maxPrepared {
		t.Errorf("only %d statements kept", kept)
	}
}

// A database that is away is 503, and comes back by itself.
func TestADatabaseThatIsAway(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	execute(t, s.owner, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() `+
		`AND pid <> pg_backend_pid()`)
	wait.For(t, "an answer", func() bool { return s.send(t, "GET /authors?select=id", "").code == 200 })
	execute(t, s.owner, `CREATE TABLE api.later (id int); GRANT SELECT ON api.later TO rest_anon`)
	wait.For(t, "the listener", func() bool {
		execute(t, s.owner, `NOTIFY pgrst`)
		return s.send(t, "GET /later?id=eq.1", "").code == 200
	})
	execute(t, s.owner, `ALTER TABLE api.later ALTER id TYPE text; NOTIFY pgrst`)
	wait.For(t, "the new type", func() bool { return s.send(t, "GET /later?id=eq.1", "").code == 200 })
}
