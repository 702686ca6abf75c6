package restfuzz

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
)

// An Answer is what came back.
type Answer struct {
	Status int
	Header http.Header
	Body   string
}

// Send sends a request as it is to a server's address, host:port.
func (r Request) Send(ctx context.Context, address string) (Answer, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return Answer{}, err
	}
	defer conn.Close()
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s?%s HTTP/1.1\r\nHost: fuzz\r\nConnection: close\r\nContent-Length: %d\r\n", r.Method, r.Path, r.Query, len(r.Body))
	for _, h := range r.Headers {
		fmt.Fprintf(&text, "%s: %s\r\n", h[0], h[1])
	}
	if _, err := conn.Write([]byte(text.String() + "\r\n" + r.Body)); err != nil {
		return Answer{}, err
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: r.Method})
	if err != nil {
		return Answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return Answer{response.StatusCode, response.Header, string(body)}, err
}

// Failed is whether an answer says that the server is at fault. Of what PostgreSQL refuses, PostgREST calls some so: a
// view that takes no rows, rows that conflict with each other, and more columns than there may be.
func (a Answer) Failed() bool {
	if a.Status < http.StatusInternalServerError {
		return false
	}
	for _, state := range []string{"55000", "21000", "54011"} {
		if a.Header.Get("Proxy-Status") == "PostgREST; error="+state {
			return false
		}
	}
	return true
}
