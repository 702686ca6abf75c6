package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// answering is a server, and how a load on it is planned.
func answering(t *testing.T, answer http.HandlerFunc) loadPlan {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return loadPlan{
		Address:     server.Listener.Addr().String(),
		Requests:    [][]byte{[]byte("POST /a HTTP/1.1\r\nHost: a.example\r\nContent-Length: 5\r\n\r\nhello")},
		Connections: 4,
		Time:        50 * time.Millisecond,
	}
}

func TestALoadCountsAnswersByStatus(t *testing.T) {
	plan := answering(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		switch {
		case err != nil || string(body) != "hello":
			http.Error(w, "no", http.StatusBadRequest)
		case r.URL.Path == "/a":
			w.WriteHeader(http.StatusNoContent)
		default:
			http.Error(w, "later", http.StatusServiceUnavailable)
		}
	})
	plan.Requests = append(plan.Requests, []byte(strings.Replace(string(plan.Requests[0]), "/a", "/b", 1)))
	r, err := plan.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if r.Statuses[204] == 0 || r.Statuses[503] == 0 || len(r.Statuses) != 2 || r.Broken != 0 {
		t.Errorf("%+v, want some 204, some 503, nothing else", r)
	}
	slices.Sort(r.Times)
	if r.onlyAccepted() == nil {
		t.Error("503 was accepted")
	}
	if p50, p99 := percentile(r.Times, 50), percentile(r.Times, 99); p50 <= 0 || p99 < p50 {
		t.Errorf("p50 %v, p99 %v", p50, p99)
	}
}

func TestALoadAtARateIsMeasuredFromWhenEachWasDue(t *testing.T) {
	const slow = 20 * time.Millisecond
	plan := answering(t, func(w http.ResponseWriter, r *http.Request) {
		<-time.After(slow)
		w.WriteHeader(http.StatusNoContent)
	})
	plan.Connections, plan.Rate, plan.Time = 1, 200, 200*time.Millisecond
	r, err := plan.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// 40 are due within the time, and one connection needs 20 ms for each: the last is late by a multiple of it.
	if n := r.Statuses[204]; n < 38 || n > 42 {
		t.Errorf("%d answers, want some 40", n)
	}
	slices.Sort(r.Times)
	if p99 := percentile(r.Times, 99); p99 < 400 {
		t.Errorf("p99 is %v ms: the time since a request was due was left out", p99)
	}
}

func TestALoadSaysWhatBroke(t *testing.T) {
	plan := answering(t, func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_ = conn.Close()
		}
	})
	r, err := plan.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if r.Broken == 0 || len(r.Statuses) != 0 {
		t.Errorf("%+v, want broken ones alone", r)
	}

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	plan.Address = listener.Addr().String()
	_ = listener.Close()
	if _, err := plan.run(t.Context()); err == nil {
		t.Error("a load on a closed port succeeded")
	}
}

func TestALoadEndsWithItsContext(t *testing.T) {
	plan := answering(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // else the server does not notice that its client has gone
		<-r.Context().Done()
	})
	plan.Time = time.Hour
	ctx, cancel := context.WithCancelCause(t.Context())
	left := errors.New("left")
	defer time.AfterFunc(50*time.Millisecond, func() { cancel(left) }).Stop()
	if _, err := plan.run(ctx); !errors.Is(err, left) {
		t.Errorf("run() = %v, want its context's cause", err)
	}
}

func TestAnAnswerThatIsNotHTTPIsBroken(t *testing.T) {
	for text, want := range map[string]int{
		"HTTP/1.1 204 No Content\r\n\r\n":                     204,
		"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\n": 403,
		"\r\n\r\n":                             0,
		"SMTP ready, what do you want\r\n\r\n": 0,
	} {
		client, server := net.Pipe()
		go func() {
			_, _ = io.ReadFull(server, make([]byte, len("GET")))
			_, _ = io.WriteString(server, text)
			_ = server.Close()
		}()
		w := wire{conn: client, answers: bufio.NewReader(client)}
		if status, err := w.ask([]byte("GET")); status != want || (err == nil) != (want > 0) {
			t.Errorf("%q has status %d, %v, want %d", text, status, err, want)
		}
	}
}

func TestPercentileIsTheNearestRank(t *testing.T) {
	var times []time.Duration
	for i := range 200 {
		times = append(times, time.Duration(i+1)*time.Millisecond)
	}
	for p, want := range map[float64]float64{50: 100, 95: 190, 99: 198, 100: 200} {
		if got := percentile(times, p); got != want {
			t.Errorf("percentile(%v) = %v, want %v", p, got, want)
		}
	}
	if got := percentile(times[:1], 50); got != 1 {
		t.Errorf("of one: %v", got)
	}
}

func TestAskingEndsWithTheFirstRefusal(t *testing.T) {
	refused := errors.New("refused")
	var asked atomic.Int64
	_, err := alternate(t.Context(), 4, 0, 1, time.Minute, func(context.Context, int) error {
		if asked.Add(1) == 10 {
			return refused
		}
		return nil
	})
	if !errors.Is(err, refused) {
		t.Errorf("alternate() = %v", err)
	}
}
