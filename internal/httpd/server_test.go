package httpd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/internal/testkit/logbuffer"
)

var long = strings.Repeat("0123456789", 500)

// start serves some routes, one per behaviour, until the test ends; stop ends it sooner and returns Run's error.
func start(t *testing.T, routes func(app *fiber.App)) (url string, log *logbuffer.Buffer, stop func() error) {
	t.Helper()
	return startWith(t, DefaultConfig(), routes)
}

func startWith(t *testing.T, cfg Config, routes func(app *fiber.App)) (url string,
	log *logbuffer.Buffer, stop func() error) {
	t.Helper()
	listener, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	log = &logbuffer.Buffer{}
	server := New(cfg, listener, slog.New(slog.NewTextHandler(log, nil)), prometheus.NewRegistry())
	routes(server.App)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-done
	})
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Errorf("Run() = %v", err)
		}
	})
	return server.URL(), log, stop
}

// ask sends a request whose headers are given as "Name: value" and returns the response with its body.
func ask(t *testing.T, method, url string, headers ...string) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept-Encoding", "identity")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		request.Header.Set(name, value)
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(body)
}

func behaviours(app *fiber.App) {
	app.Get("/long", func(c *fiber.Ctx) error { return c.JSON(long) })
	app.Get("/panic", func(*fiber.Ctx) error { panic("the secret is 42") })
	app.Get("/broken", func(*fiber.Ctx) error { return errors.New("connect postgres: password wrong") })
	app.Get("/invalid", func(*fiber.Ctx) error { return problem.New(problem.Invalid, "limit: want 1 to 200") })
	app.Get("/unproven", func(*fiber.Ctx) error { return problem.New(problem.Unauthenticated, "unknown key") })
	app.Get("/away", func(*fiber.Ctx) error {
		return fmt.Errorf("%w: %w", problem.New(problem.Unavailable, "try again"), io.EOF)
	})
	app.Get("/id", func(c *fiber.Ctx) error { return c.SendString(c.GetRespHeader(fiber.HeaderXRequestID)) })
}

func TestErrorsAreJSONAndKeepTheirCauseInTheLog(t *testing.T) {
	url, log, _ := start(t, behaviours)
	cases := []struct {
		method, path string
		status       int
		body         string
		header       string // "Name: value" that the response must carry
		logged       string
	}{
		{"GET", "/panic", 500, `{"error":"internal error"}`, "", "the secret is 42"},
		{"GET", "/broken", 500, `{"error":"internal error"}`, "", "password wrong"},
		{"GET", "/invalid", 400, `{"error":"limit: want 1 to 200"}`, "", ""},
		{"GET", "/unproven", 401, `{"error":"unknown key"}`, "Www-Authenticate: Bearer", ""},
		{"GET", "/away", 503, `{"error":"try again"}`, "Retry-After: 1", "EOF"},
		{"GET", "/nowhere", 404, `{"error":"no such path"}`, "", ""},
		{"GET", "/LONG", 404, `{"error":"no such path"}`, "", ""},
		{"POST", "/long", 405, `{"error":"method not allowed; see the Allow header"}`, "Allow: GET, HEAD", ""},
		{"BREW", "/long", 405, `{"error":"method not allowed; see the Allow header"}`, "Allow: GET, HEAD", ""},
		{"BREW", "/nowhere", 404, `{"error":"no such path"}`, "", ""},
	}
	for _, c := range cases {
		t.Run(c.method+c.path, func(t *testing.T) {
			response, body := ask(t, c.method, url+c.path)
			if response.StatusCode != c.status || body != c.body {
				t.Errorf("%d %s, want %d %s", response.StatusCode, body, c.status, c.body)
			}
			if kind := response.Header.Get("Content-Type"); kind != "application/json" {
				t.Errorf("content type %q", kind)
			}
			if name, value, ok := strings.Cut(c.header, ": "); ok && !sameList(response.Header.Get(name), value) {
				t.Errorf("%s: %q, want %q", name, response.Header.Get(name), value)
			}
			if !strings.Contains(log.String(), c.logged) {
				t.Errorf("log lacks %q:\n%s", c.logged, log)
			}
		})
	}
	if !strings.Contains(log.String(), "server_test.go") {
		t.Errorf("log lacks the stack of the panic:\n%s", log)
	}
}

// sameList compares comma-separated values whatever their order.
func sameList(a, b string) bool {
	count := map[string]int{}
	for v := range strings.SplitSeq(a, ", ") {
		count[v]++
	}
	for v := range strings.SplitSeq(b, ", ") {
		count[v]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

func TestHeadIsGetWithoutItsBody(t *testing.T) {
	url, _, _ := start(t, behaviours)
	get, body := ask(t, "GET", url+"/long")
	head, none := ask(t, "HEAD", url+"/long")
	if head.StatusCode != 200 || none != "" || head.Header.Get("Etag") != get.Header.Get("Etag") ||
		head.ContentLength != int64(len(body)) {
		t.Errorf("HEAD %d, %d bytes, length %d, tag %q; GET has %d bytes, tag %q",
			head.StatusCode, len(none), head.ContentLength, head.Header.Get("Etag"), len(body), get.Header.Get("Etag"))
	}
}

func TestAKnownBodyIsNotSentAgain(t *testing.T) {
	url, _, _ := start(t, behaviours)
	first, _ := ask(t, "GET", url+"/long", "Accept-Encoding: br")
	tag := first.Header.Get("Etag")
	for _, known := range []string{tag, strings.TrimPrefix(tag, "W/"), `"other", ` + tag, "*"} {
		response, body := ask(t, "GET", url+"/long", "If-None-Match: "+known)
		if response.StatusCode != 304 || body != "" || response.Header.Get("Etag") != tag {
			t.Errorf("If-None-Match: %s: %d, %d bytes, tag %q", known, response.StatusCode, len(body),
				response.Header.Get("Etag"))
		}
	}
	if response, _ := ask(t, "GET", url+"/long", `If-None-Match: "other"`); response.StatusCode != 200 {
		t.Errorf("another tag: %d, want 200", response.StatusCode)
	}
}

func TestCompressionIsNegotiated(t *testing.T) {
	url, _, _ := start(t, behaviours)
	for accept, want := range map[string]string{
		"":                                "",
		"gzip":                            "gzip",
		"gzip, deflate, br":               "br",
		"br;q=0, gzip":                    "gzip",
		"br;q=0.5, gzip;q=0.8":            "gzip",
		"gzip;q=0, br;q=0":                "",
		"*":                               "br",
		"identity, gzip;q=0.2":            "",
		"brotli, gzipped":                 "",
		"GZIP":                            "gzip",
		"gzip;q=nonsense":                 "",
		"identity;q=0.1, gzip;q=0.2":      "gzip",
		"deflate, gzip;q=1.0, *;q=0.5":    "gzip",
		"br;q=1.0, gzip;q=1.0, *;q=0.001": "br",
	} {
		response, body := ask(t, "GET", url+"/long", "Accept-Encoding: "+accept)
		if got := response.Header.Get("Content-Encoding"); got != want {
			t.Errorf("Accept-Encoding %q: got %q, want %q", accept, got, want)
		}
		if response.Header.Get("Vary") != "Accept-Encoding" || want != "" && len(body) >= len(long) {
			t.Errorf("Accept-Encoding %q: Vary %q, %d bytes", accept, response.Header.Get("Vary"), len(body))
		}
	}
}

func TestRequestIDsAreKeptWhenSane(t *testing.T) {
	url, _, _ := start(t, behaviours)
	response, body := ask(t, "GET", url+"/id", "X-Request-Id: proxy-1.2_3")
	if body != "proxy-1.2_3" || response.Header.Get("X-Request-Id") != body {
		t.Errorf("id %q, header %q", body, response.Header.Get("X-Request-Id"))
	}
	for _, strange := range []string{"a b", "a\"b", strings.Repeat("a", 129), "é"} {
		if _, body := ask(t, "GET", url+"/id", "X-Request-Id: "+strange); body == strange || len(body) != 36 {
			t.Errorf("id for %q is %q, want a UUID", strange, body)
		}
	}
}

func TestAStopFinishesTheRequestUnderWay(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	url, _, stop := start(t, func(app *fiber.App) {
		app.Get("/slow", func(c *fiber.Ctx) error {
			close(entered)
			<-leave
			return c.SendString("done")
		})
	})
	answered := make(chan string, 1)
	go func() {
		_, body := ask(t, "GET", url+"/slow")
		answered <- body
	}()
	<-entered
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	close(leave)
	if body := <-answered; body != "done" {
		t.Errorf("body %q, want done", body)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

func TestAClientThatHangsUpCancelsItsRequest(t *testing.T) {
	entered, cancelled := make(chan struct{}), make(chan struct{})
	url, _, _ := start(t, func(app *fiber.App) {
		app.Get("/query", func(c *fiber.Ctx) error {
			close(entered)
			<-c.UserContext().Done()
			close(cancelled)
			return c.UserContext().Err()
		})
	})
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "GET /query HTTP/1.1\r\nHost: here\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-entered
	conn.Close()
	<-cancelled
}

// fasthttp answers what it cannot read by itself, past every handler; it must speak like the rest.
func TestWhatCannotBeReadIsRefusedInJSON(t *testing.T) {
	url, _, _ := start(t, behaviours)
	for name, request := range map[string]string{
		`431 {"error":"request header fields too large"}`: "GET /long HTTP/1.1\r\nHost: here\r\nCookie: " +
			strings.Repeat("c", 40<<10) + "\r\n\r\n",
		`413 {"error":"request entity too large"}`: "POST /long HTTP/1.1\r\nHost: here\r\nContent-Length: " +
			"5000000\r\n\r\n",
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, request); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(response.Body)
		if got := response.Status[:3] + " " + string(body); got != name {
			t.Errorf("got %s, want %s", got, name)
		}
	}
}

// Clients go away in the middle of a request every day: no operator is called for that.
func TestAClientThatResetsIsNoFailure(t *testing.T) {
	url, log, stop := start(t, behaviours)
	for _, request := range []string{
		"", "GET /lo", "POST /long HTTP/1.1\r\nHost: here\r\nContent-Length: 10\r\n\r\nabc",
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, request); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(conn.(*net.TCPConn).SetLinger(0), conn.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if response, _ := ask(t, http.MethodGet, url+"/healthz"); response.StatusCode != http.StatusOK {
		t.Errorf("then healthz is %d", response.StatusCode)
	}
	if err := stop(); err != nil || strings.Contains(log.String(), "request failed") {
		t.Errorf("stop: %v; the log says %s", err, log)
	}
}

func TestAnAddressInUseIsKnownAtOnce(t *testing.T) {
	taken, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	if _, err := Listen(t.Context(), taken.Addr().String()); err == nil ||
		!strings.Contains(err.Error(), "address already in use") {
		t.Errorf("Listen() = %v", err)
	}
}
