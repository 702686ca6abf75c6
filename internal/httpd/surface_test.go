package httpd

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/internal/testkit/logbuffer"
)

// surfaces serves two surfaces of different shapes beside the paths that no surface has.
func surfaces(t *testing.T) (url string, log *logbuffer.Buffer) {
	t.Helper()
	listener, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	log = &logbuffer.Buffer{}
	server := New(DefaultConfig(), listener, slog.New(slog.NewTextHandler(log, nil)), prometheus.NewRegistry())
	routes := func(router fiber.Router) {
		router.Get("/long", func(c *fiber.Ctx) error { return c.JSON(long) })
		router.Post("/long", func(c *fiber.Ctx) error { return c.JSON(len(c.BodyRaw())) })
		router.Get("/panic", func(*fiber.Ctx) error { panic("the secret is 42") })
		router.Get("/late", func(*fiber.Ctx) error { return context.DeadlineExceeded })
		unproven := func(*fiber.Ctx) error { return problem.New(problem.Unauthenticated, "unknown key") }
		router.Get("/unproven", unproven).Post("/unproven", unproven)
	}
	routes(server.App)
	routes(server.Mount(Surface{Prefix: "/rest/v1", BodyLimit: 8 << 20,
		Error: func(c *fiber.Ctx, err error) (int, any) {
			status, message := Explain(err)
			c.Set("Proxy-Status", "rest")
			return status, fiber.Map{"code": "REST", "message": message}
		}}))
	routes(server.Mount(Surface{Prefix: "/auth/v1", BodyLimit: 1 << 10, ETag: true,
		Error: func(c *fiber.Ctx, err error) (int, any) {
			if kind, _ := problem.Of(err); kind == problem.Unauthenticated {
				return http.StatusBadRequest, fiber.Map{"code": "invalid_credentials"}
			}
			status, _ := Explain(err)
			return status, fiber.Map{"code": status}
		}}))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return server.URL(), log
}

func TestEachSurfaceHasItsOwnErrors(t *testing.T) {
	url, log := surfaces(t)
	for _, c := range []struct{ request, want string }{
		{"GET /panic", `500 {"error":"internal error"}`},
		{"GET /late", `500 {"error":"internal error"}`},
		{"GET /nowhere", `404 {"error":"no such path"}`},
		{"GET /rest/v10", `404 {"error":"no such path"}`},
		{"GET /rest/v1/panic", `500 {"code":"REST","message":"internal error"}`},
		{"GET /rest/v1/late", `500 {"code":"REST","message":"internal error"}`},
		{"GET /rest/v1/unproven", `401 {"code":"REST","message":"unknown key"}`},
		{"GET /rest/v1/nowhere", `404 {"code":"REST","message":"no such path"}`},
		{"GET /rest/v1", `404 {"code":"REST","message":"no such path"}`},
		{"PUT /rest/v1/long", `405 {"code":"REST","message":"method not allowed; see the Allow header"}`},
		{"GET /auth/v1/panic", `500 {"code":500}`},
		{"GET /auth/v1/unproven", `400 {"code":"invalid_credentials"}`},
		{"GET /auth/v1/nowhere", `404 {"code":404}`},
		{"PUT /auth/v1/long", `405 {"code":405}`},
	} {
		method, path, _ := strings.Cut(c.request, " ")
		response, body := ask(t, method, url+path)
		if got := response.Status[:3] + " " + body; got != c.want {
			t.Errorf("%s: %s, want %s", c.request, got, c.want)
		}
		if rest := strings.Contains(c.want, "REST"); rest != (response.Header.Get("Proxy-Status") == "rest") {
			t.Errorf("%s: Proxy-Status %q", c.request, response.Header.Get("Proxy-Status"))
		}
		if response.Header.Get("Www-Authenticate") != "" {
			t.Errorf("%s: WWW-Authenticate, which is of the plain errors", c.request)
		}
	}
	if n := strings.Count(log.String(), "the secret is 42"); n != 3 {
		t.Errorf("%d panics logged, want 3:\n%s", n, log)
	}
}

// A body is refused before it is read: nothing of it is sent here.
func TestEachSurfaceHasItsOwnBodyLimit(t *testing.T) {
	url, _ := surfaces(t)
	for _, c := range []struct{ path, length, want string }{
		{"/long", "5000000", `413 {"error":"request entity too large"}`},
		{"/rest/v1/long", "9000000", `413 {"code":"REST","message":"request entity too large"}`},
		{"/auth/v1/long", "1025", `413 {"code":413}`},
		{"/long", "65537", `401 {"error":"a body of over 65536 bytes is only read with a credential: sign in first"}`},
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, "POST "+c.path+"?x=1 HTTP/1.1\r\nHost: here\r\nContent-Length: "+
			c.length+"\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		if got := response.Status[:3] + " " + string(body); err != nil || got != c.want {
			t.Errorf("%s of %s bytes: %s, %v; want %s", c.path, c.length, got, err, c.want)
		}
	}
	body := strings.NewReader(strings.Repeat("x", 5_000_000)) // over the listener's limit
	request, err := http.NewRequest(http.MethodPost, url+"/rest/v1/long", body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "x")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	if err = errors.Join(err, response.Body.Close()); err != nil || string(text) != "5000000" {
		t.Errorf("%s %s, %v; want 5000000 bytes taken", response.Status, text, err)
	}
}

func TestEachSurfaceChoosesETagAndCompression(t *testing.T) {
	url, _ := surfaces(t)
	for path, want := range map[string]struct {
		tag        bool
		compressed string
	}{
		"/long":         {true, "br"},
		"/rest/v1/long": {false, ""},
		"/auth/v1/long": {true, ""},
	} {
		response, _ := ask(t, "GET", url+path, "Accept-Encoding: br", "If-None-Match: *")
		if got := response.StatusCode == http.StatusNotModified; got != want.tag {
			t.Errorf("%s: 304 %v, want %v", path, got, want.tag)
		}
		response, _ = ask(t, "GET", url+path, "Accept-Encoding: br")
		if got := response.Header.Get("Content-Encoding"); got != want.compressed ||
			(response.Header.Get("Etag") != "") != want.tag {
			t.Errorf("%s: encoding %q, tag %q", path, got, response.Header.Get("Etag"))
		}
		if vary := response.Header.Get("Vary"); (vary != "") != (want.compressed != "") {
			t.Errorf("%s: Vary %q", path, vary)
		}
	}
}
