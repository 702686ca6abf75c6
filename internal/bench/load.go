package bench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// A loadPlan is what is sent to an HTTP server: whole requests, made beforehand, over connections that stay open.
type loadPlan struct {
	Address     string        `json:"address"`  // host:port
	Requests    [][]byte      `json:"requests"` // a connection sends one of them over and over
	Connections int           `json:"connections"`
	Rate        float64       `json:"rate"` // requests a second at times of their own, however slow the answers; 0: the next as soon as the last is answered
	Time        time.Duration `json:"time"`
}

// A loadResult is what came back.
type loadResult struct {
	Statuses map[int]int64 `json:"statuses"` // answers by status
	Broken   int64         `json:"broken"`   // requests whose connection ended before the answer
	Took     time.Duration `json:"took"`     // from the first request to the last answer
	Times    histogram     `json:"times"`    // of answers: since the request was sent or, at a rate, since it was due
}

func (p loadPlan) validate() error {
	var errs []error
	if _, _, err := net.SplitHostPort(p.Address); err != nil {
		errs = append(errs, fmt.Errorf("address: %w", err))
	}
	if len(p.Requests) == 0 || p.Connections < 1 || p.Rate < 0 || p.Time <= 0 {
		errs = append(errs, fmt.Errorf("%d requests over %d connections at %v a second for %s: want all above 0", len(p.Requests), p.Connections, p.Rate, p.Time))
	}
	return errors.Join(errs...)
}

// patience is how long an answer may take after the last request was sent.
const patience = 10 * time.Second

// run sends until the time is over, and waits for what is under way. It is meant for a process of its own, since it
// takes as much of the machine as the server lets it.
func (p loadPlan) run(ctx context.Context) (loadResult, error) {
	if err := p.validate(); err != nil {
		return loadResult{}, fmt.Errorf("plan load: %w", err)
	}
	lines := make([]*wire, p.Connections)
	for i := range lines {
		w, err := dialWire(ctx, p.Address)
		if err != nil {
			return loadResult{}, err
		}
		defer w.close()
		lines[i] = w
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, func() { // a read does not look at a context
		for _, w := range lines {
			w.close()
		}
	})()
	begin := time.Now()
	until := begin.Add(p.Time)
	due := p.schedule(begin)
	var each sync.WaitGroup
	taken := make([]loadResult, p.Connections)
	for i, w := range lines {
		w.bound(until.Add(patience))
		each.Go(func() { taken[i] = w.send(ctx, p.Requests[i%len(p.Requests)], until, due) })
	}
	each.Wait()
	whole := loadResult{Statuses: map[int]int64{}, Took: time.Since(begin)}
	for i := range taken {
		whole.add(&taken[i])
	}
	return whole, context.Cause(ctx)
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
			if w.again(ctx) != nil {
				break // the server has gone
			}
			continue
		}
		r.Times.add(time.Since(since))
		r.Statuses[status]++
	}
	return r
}

// add takes another result to r, of the same time.
func (r *loadResult) add(other *loadResult) {
	for status, n := range other.Statuses {
		r.Statuses[status] += n
	}
	r.Broken += other.Broken
	r.Times.merge(&other.Times)
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
