package rest

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/logbuffer"
	"github.com/answerscope/answerscope/internal/testkit/wait"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const secret = "a secret of at least thirty-two bytes"

// library is whether there is a database with the tables of testdata/library.sql, which those of tests are copies of.
var library struct {
	sync.Mutex
	made bool
}

// A site is an API on a database of its own.
type site struct {
	url   string
	owner string // the address of the database, for its owner
	api   *API
	log   *logbuffer.Buffer
}

// newSite serves a copy of the library, as configured.
func newSite(t *testing.T, configure func(*Config)) *site {
	t.Helper()
	owner := testkit.CopyPostgres(t, template(t))
	return newSiteOn(t, owner, asLogin(t, owner), configure)
}

// newSiteOn serves a database that the API reaches by the address login.
func newSiteOn(t *testing.T, owner, login string, configure func(*Config)) *site {
	t.Helper()
	cfg := DefaultConfig()
	cfg.Schemas, cfg.AnonRole, cfg.AnonWrites, cfg.Aggregates = []string{"api"}, "rest_anon", true, true
	if configure != nil {
		configure(&cfg)
	}
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	pool, err := OpenPool(t.Context(), login)
	if err != nil {
		t.Fatal(err)
	}
	tokens := Tokens{Secret: []byte(secret), AnonRole: cfg.AnonRole, Now: clock}
	caller := func(c *fiber.Ctx) (Caller, error) {
		caller, err := tokens.Caller(c)
		if name := c.Get("Organization"); name != "" {
			caller.Organization = uuid.NewV5(uuid.Nil, name)
		}
		return caller, err
	}
	log := &logbuffer.Buffer{}
	api := New(cfg, pool, caller, slog.New(slog.NewTextHandler(io.MultiWriter(log, t.Output()), nil)))
	listener, err := httpd.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := httpd.New(httpd.DefaultConfig(), listener, testkit.Log(t), prometheus.NewRegistry())
	api.Mount(server)
	stopped := []func(){testkit.Start(t, api.Run), testkit.Start(t, server.Run)}
	t.Cleanup(func() {
		for _, stop := range stopped {
			stop()
		}
		pool.Close()
	})
	wait.For(t, "the schema", func() bool {
		return api.Ready(context.Background()) == nil && server.Ready(context.Background()) == nil
	})
	return &site{server.URL(), owner, api, log}
}

// template is the name of the database that has the library.
func template(t *testing.T) string {
	t.Helper()
	library.Lock()
	defer library.Unlock()
	const name = "rest_library"
	if library.made {
		return name
	}
	dsn, err := testkit.CreatePostgres(t, name)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"testdata/roles.sql", "testdata/library.sql"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		execute(t, dsn, string(text))
	}
	library.made = true
	return name
}

func execute(t *testing.T, dsn, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	if _, err := conn.PgConn().Exec(t.Context(), sql).ReadAll(); err != nil {
		t.Fatal(err)
	}
}

// asLogin is the address of a database for the login of the API.
func asLogin(t *testing.T, dsn string) string {
	t.Helper()
	address, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	address.User = url.UserPassword("rest_login", "login")
	return address.String()
}

// A reply is what came back.
type reply struct {
	status string
	code   int
	header http.Header
	body   string
}

// send sends a request exactly as it is written: a line METHOD TARGET, lines of headers, an empty line and a body.
func (s *site) send(t *testing.T, line, rest string) reply {
	t.Helper()
	head, body, _ := strings.Cut("\n"+rest, "\n\n")
	body = strings.TrimSuffix(body, "\n")
	method, target, _ := strings.Cut(line, " ")
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var request bytes.Buffer
	request.WriteString(method + " " + encodeTarget(target) + " HTTP/1.1\r\nHost: library\r\nConnection: close\r\n")
	for header := range strings.SplitSeq(head, "\n") {
		if header != "" {
			request.WriteString(header + "\r\n")
		}
	}
	if body != "" || method == http.MethodPost || method == http.MethodPatch || method == http.MethodPut {
		request.WriteString("Content-Length: " + strconv.Itoa(len(body)) + "\r\n")
	}
	request.WriteString("\r\n" + body)
	if _, err := conn.Write(request.Bytes()); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{response.Status, response.StatusCode, response.Header, string(answer)}
}

// encodeTarget writes what no request line may hold as clients do.
func encodeTarget(target string) string {
	var out strings.Builder
	for i := range len(target) {
		if c := target[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`"<>\^{|}`+"`", c) >= 0 {
			out.WriteString(escape(string([]byte{c})))
		} else {
			out.WriteByte(c)
		}
	}
	return out.String()
}
