package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// A loadPlan is what is sent to an HTTP server, over connections that stay open.
type loadPlan struct {
	Address     string        `json:"address"`  // host:port
	Requests    [][]byte      `json:"requests"` // whole ones; a connection sends one of them over and over
	Connections int           `json:"connections"`
	Rate        float64       `json:"rate"` // requests a second, however slow the answers; 0: each after the last one's answer
	Time        time.Duration `json:"time"`
}

// A loadResult is what came back.
type loadResult struct {
	Statuses map[int]int64   `json:"statuses"` // answers by status
	Broken   int64           `json:"broken"`   // requests whose connection ended before the answer
	Took     time.Duration   `json:"took"`     // from the first request to the last answer
	Times    []time.Duration `json:"times"`    // of answers: since the request was sent or, at a rate, since it was due
}

// answerTimeout is how long an answer may take after the last request was sent.
const answerTimeout = 10 * time.Second

// run sends until the time is over, and waits for what is under way.
func (p loadPlan) run(ctx context.Context) (loadResult, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	wires := make([]*wire, p.Connections)
	for i := range wires {
		wires[i] = &wire{address: p.Address}
		if err := wires[i].connect(ctx); err != nil {
			return loadResult{}, err
		}
	}
	begin := time.Now()
	until := begin.Add(p.Time)
	due := p.schedule(begin)
	var each sync.WaitGroup
	results := make([]loadResult, p.Connections)
	for i, w := range wires {
		w.deadline = until.Add(answerTimeout)
		_ = w.conn.SetDeadline(w.deadline) // fails on a closed connection, as the next write will
		each.Go(func() { results[i] = w.send(ctx, p.Requests[i%len(p.Requests)], until, due) })
	}
	each.Wait()
	all := loadResult{Statuses: map[int]int64{}, Took: time.Since(begin)}
	for i := range results {
		all.add(&results[i])
	}
	return all, context.Cause(ctx)
}

// schedule says when the next request is due: a time that has passed already, where no connection was free at it.
func (p loadPlan) schedule(begin time.Time) func() time.Time {
	if p.Rate == 0 {
		return nil
	}
	var next atomic.Int64
	apart := float64(time.Second) / p.Rate
	return func() time.Time { return begin.Add(time.Duration(float64(next.Add(1)-1) * apart)) }
}

// add adds the answers of another result to r.
func (r *loadResult) add(other *loadResult) {
	for status, n := range other.Statuses {
		r.Statuses[status] += n
	}
	r.Broken += other.Broken
	r.Times = append(r.Times, other.Times...)
}

// accepted is how many a second were answered with 204.
func (r *loadResult) accepted() float64 {
	return float64(r.Statuses[http.StatusNoContent]) / r.Took.Seconds()
}

// onlyAccepted says what else came back, if anything did.
func (r *loadResult) onlyAccepted() error {
	if len(r.Statuses) == 1 && r.Statuses[http.StatusNoContent] > 0 && r.Broken == 0 {
		return nil
	}
	return fmt.Errorf("answers by status are %v, and %d connections broke: want 204 alone", r.Statuses, r.Broken)
}

// A wire is one connection of HTTP/1.1. It does as little as can be, since it shares the machine with what is measured:
// net/http would take the larger part of it.
type wire struct {
	address  string
	deadline time.Time
	conn     net.Conn
	answers  *bufio.Reader
	header   fasthttp.ResponseHeader // of the last answer
}

// connect opens the connection, in place of an earlier one. It is closed when ctx ends.
func (w *wire) connect(ctx context.Context) error {
	if w.conn != nil {
		_ = w.conn.Close()
	}
	conn, err := (&net.Dialer{Timeout: answerTimeout}).DialContext(ctx, "tcp", w.address)
	if err != nil {
		return fmt.Errorf("connect to %s: %w", w.address, err)
	}
	context.AfterFunc(ctx, func() { _ = conn.Close() }) // a read does not look at a context
	_ = conn.SetDeadline(w.deadline)
	w.conn, w.answers = conn, bufio.NewReader(conn)
	return nil
}

// send sends one request over and over. due is nil where each follows the last one's answer.
func (w *wire) send(ctx context.Context, request []byte, until time.Time, due func() time.Time) loadResult {
	r := loadResult{Statuses: map[int]int64{}}
	for ctx.Err() == nil {
		since := time.Now()
		if due != nil {
			since = due()
			time.Sleep(time.Until(since))
		}
		if since.After(until) {
			break
		}
		status, err := w.ask(request)
		if err != nil {
			r.Broken++
		} else {
			r.Times = append(r.Times, time.Since(since))
			r.Statuses[status]++
		}
		if status != http.StatusNoContent && w.connect(ctx) != nil { // any other answer may have a body, which is not read
			break
		}
	}
	return r
}

// ask sends a whole request and reads the headers of its answer, of which it returns the status.
func (w *wire) ask(request []byte) (status int, err error) {
	if _, err := w.conn.Write(request); err != nil {
		return 0, fmt.Errorf("send request: %w", err)
	}
	if err := w.header.Read(w.answers); err != nil {
		return 0, fmt.Errorf("read answer: %w", err)
	}
	return w.header.StatusCode(), nil
}
