package httpd

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
)

// A request whose body ends in two ways is refused, and its connection closed, before anything of a body is read.
func TestOneRequestHasOneEnd(t *testing.T) {
	url, _, _ := start(t, func(app *fiber.App) {
		app.Post("/echo", func(c *fiber.Ctx) error { return c.Send(c.BodyRaw()) })
	})
	for _, c := range []struct {
		headers, body string
		status        int
	}{
		{"Content-Length: 4\r\n", "body", 200},
		{"Content-Length: 4\r\nContent-Length: 4\r\n", "body", 200},
		{"Transfer-Encoding: chunked\r\n", "4\r\nbody\r\n0\r\n\r\n", 200},
		{"content-length: 4\r\nCONTENT-LENGTH: 60\r\n", "body", 400},
		{"Content-Length: 60\r\nContent-Length: 4\r\n", "body", 400},
		{"Content-Length: 4, 4\r\n", "body", 400},
		{"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", "4\r\nbody\r\n0\r\n\r\n", 400},
		{"Transfer-Encoding: xchunked\r\n", "4\r\nbody\r\n0\r\n\r\n", 400},
		{"Transfer-Encoding: gzip, chunked\r\n", "4\r\nbody\r\n0\r\n\r\n", 400},
		{"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", "4\r\nbody\r\n0\r\n\r\n", 400},
	} {
		conn, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(t.Context(), "tcp",
			strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "POST /echo HTTP/1.1\r\nHost: x\r\n%s\r\n%s", c.headers, c.body)
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%q: %v", c.headers, err)
		}
		body, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != c.status || c.status == 200 && string(body) != "body" ||
			(c.status == 400) != response.Close {
			t.Errorf("%q: %d %s, closed %v, %v; want %d", c.headers, response.StatusCode, body,
				response.Close, err, c.status)
		}
		conn.Close()
	}
}

// No browser guesses what a response is, whichever part of a server sends it.
func TestNoResponseIsSniffed(t *testing.T) {
	url, _ := surfaces(t)
	for _, target := range []string{
		"/long", "/panic", "/nowhere", "/healthz", "/rest/v1/unproven", "/auth/v1/long",
		"/long?" + strings.Repeat("x", 64<<10),
	} {
		response, _ := ask(t, http.MethodGet, url+target)
		if got := response.Header.Get("X-Content-Type-Options"); got != "nosniff" {
			t.Errorf("%.40s: %d with X-Content-Type-Options %q", target, response.StatusCode, got)
		}
	}
}
