package httpd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/internal/testkit/wait"
)

// zeros is a body, of which tests send as much as they want.
var zeros = make([]byte, 20<<20)

// A bodyForm is how a body is sent: a header and what is around the body, with its size where LENGTH and HEX stand.
type bodyForm struct{ header, before, after string }

var (
	sized   = bodyForm{"Authorization: x\r\nContent-Length: LENGTH\r\n", "", ""}
	chunked = bodyForm{"Cookie: x=y\r\nTransfer-Encoding: chunked\r\n", "HEX\r\n", "\r\n0\r\n\r\n"}
	gzipped = bodyForm{"apikey: x\r\nContent-Encoding: gzip\r\nContent-Length: LENGTH\r\n", "", ""}
	pieces  = bodyForm{"Transfer-Encoding: chunked\r\n", "HEX\r\n", "\r\n0\r\n\r\n"}
)

// startAdmin serves the operator's listener until the test ends.
func startAdmin(t *testing.T) (url string) {
	t.Helper()
	listener, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	admin := NewAdmin(listener, NewReadiness(), prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- admin.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("Run() = %v", err)
		}
	})
	return admin.URL()
}

// sendFirst sends a whole request before it reads the response, as many clients do, and returns status and body.
func sendFirst(ctx context.Context, url, path, header, before string, body []byte, after string) (answer string,
	err error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		return "", err
	}
	defer conn.Close()
	head := "POST " + path + " HTTP/1.1\r\nHost: here\r\n" + header + "\r\n" + before
	for _, piece := range [][]byte{[]byte(head), body, []byte(after)} {
		if n, err := conn.Write(piece); err != nil {
			return "", fmt.Errorf("send: %w after %d bytes", err, n)
		}
	}
	return readAnswer(conn)
}

func readAnswer(conn net.Conn) (answer string, err error) {
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(response.Body)
	return response.Status[:3] + " " + string(text), err
}

// Once, a client that sent a long body was reset in place of being answered, 20 of 20 times with 20 MB.
func TestEveryListenerAnswersALongBody(t *testing.T) {
	t.Parallel()
	public, _ := surfaces(t)
	collecting := DefaultConfig()
	collecting.BodyLimit = 64 << 10
	beacons, _, _ := startWith(t, collecting, behaviours)
	admin := startAdmin(t)
	const plainly, restful = `413 {"error":"request entity too large"}`,
		`413 {"code":"REST","message":"request entity too large"}`
	const packed = `415 {"error":"want a body without Content-Encoding"}`
	for _, c := range []struct {
		url, path string
		form      bodyForm
		limit     int
		within    string // is the answer to a body of up to limit bytes
		beyond    string
	}{
		{public, "/long", sized, 4 << 20, "200 SIZE", plainly},
		{public, "/long", chunked, 4 << 20, "200 SIZE", plainly},
		{public, "/long", gzipped, 4 << 20, packed, plainly},
		{public, "/unproven", pieces, 64 << 10, "", plainly},
		{public, "/rest/v1/unproven", pieces, 64 << 10, "", restful},
		{public, "/unproven", sized, 4 << 20, `401 {"error":"unknown key"}`, plainly},
		{public, "/nowhere", sized, 4 << 20, `404 {"error":"no such path"}`, plainly},
		{public, "/rest/v1/long", sized, 8 << 20, "200 SIZE", restful},
		{public, "/rest/v1/unproven", sized, 8 << 20, `401 {"code":"REST","message":"unknown key"}`, restful},
		{public, "/auth/v1/nowhere", sized, 1 << 10, "", `413 {"code":413}`},
		{beacons, "/id", sized, 64 << 10, "", plainly},
		{beacons, "/id", chunked, 64 << 10, "", plainly},
		{beacons, "/nowhere", gzipped, 64 << 10, "", plainly},
		{admin, "/metrics", sized, len(zeros), "405 Method Not Allowed\n", ""},
		{admin, "/nowhere", chunked, len(zeros), "404 404 page not found\n", ""},
	} {
		for _, size := range []int{300_000, 3 << 20, len(zeros)} {
			want := strings.Replace(c.within, "SIZE", strconv.Itoa(size), 1)
			if size > c.limit {
				want = c.beyond
			}
			header := strings.Replace(c.form.header, "LENGTH", strconv.Itoa(size), 1)
			before := strings.Replace(c.form.before, "HEX", strconv.FormatInt(int64(size), 16), 1)
			var tries sync.WaitGroup
			for range min(20, 3*len(zeros)/size) {
				tries.Go(func() {
					answer, err := sendFirst(t.Context(), c.url, c.path, header, before, zeros[:size], c.form.after)
					if err != nil || answer != want {
						t.Errorf("%s of %d bytes, %q: %s, %v; want %s", c.path, size, header, answer, err, want)
					}
				})
			}
			tries.Wait()
		}
	}
}

// lingerWith serves with bounds of its own, and returns the slots of connections that linger.
func lingerWith(t *testing.T, bounds lingerBounds) (url string, slots chan struct{}) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	lingering := newLingeringListener(listener.(*net.TCPListener), bounds)
	server := New(DefaultConfig(), lingering, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("Run() = %v", err)
		}
	})
	return server.URL(), lingering.slots
}

// Whoever goes on sending, however slowly, is cut off at the first bound that is reached; the others are far away.
func TestLingeringEnds(t *testing.T) {
	t.Parallel()
	const far = time.Hour
	endless, trickle := zeros[:64<<10], zeros[:1]
	for name, c := range map[string]struct {
		bounds lingerBounds
		piece  []byte
	}{
		"endless":      {lingerBounds{time: far, pause: far, bytes: 1 << 20, atOnce: 1}, endless},
		"trickling":    {lingerBounds{time: 50 * time.Millisecond, pause: far, bytes: math.MaxInt, atOnce: 1}, trickle},
		"silent":       {lingerBounds{time: far, pause: 50 * time.Millisecond, bytes: math.MaxInt, atOnce: 1}, nil},
		"one too many": {lingerBounds{time: far, pause: far, bytes: math.MaxInt, atOnce: 0}, trickle},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, slots := lingerWith(t, c.bounds)
			conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(conn,
				"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 9000000000000\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			if answer, err := readAnswer(conn); err != nil || answer != `413 {"error":"request entity too large"}` {
				t.Errorf("%s, %v", answer, err)
			}
			if _, err := conn.Read(make([]byte, 1)); err == nil {
				t.Error("there is more than the answer")
			}
			for err == nil && c.piece != nil { // until the server has closed
				_, err = conn.Write(c.piece)
			}
			if errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error("it is not cut off")
			}
			wait.For(t, "the end", func() bool { return len(slots) == 0 })
		})
	}
}

// A client that asks before it sends its body is refused without it.
func TestARefusedClientIsNotToldToContinue(t *testing.T) {
	t.Parallel()
	url, _ := surfaces(t)
	for headers, want := range map[string]string{
		"Content-Length: 5000000\r\n":                         `413 {"error":"request entity too large"}`,
		"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n": "400 ",
		"Content-Length: 4\r\n":                               "100 ",
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, "POST /long HTTP/1.1\r\nHost: here\r\nExpect: 100-continue\r\n"+
			headers+"\r\n"); err != nil {
			t.Fatal(err)
		}
		if answer, err := readAnswer(conn); err != nil || !strings.HasPrefix(answer, want) {
			t.Errorf("%q: %s, %v; want %s", headers, answer, err, want)
		}
	}
}
