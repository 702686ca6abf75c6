package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// An engine that ends by itself is restarted. One that ends maxEnds times in endsWindow is lost: more restarts would
// not repair it, and a supervisor or a person must notice.
const (
	maxEnds    = 5
	endsWindow = 10 * time.Minute
)

// child is an engine in a process of its own.
type child interface {
	running
	Done() <-chan struct{}
	Err() error
	restart(ctx context.Context) (child, error) // with the same files, credentials and port
	lastLines() string                          // of its log
}

// keep restarts the engine running[i] when it ends, and ClickHouse also for other reasons. It closes lost if that does
// not help.
func (e *Engines) keep(ctx context.Context, i int, c child) {
	tick := time.NewTicker(usersInterval)
	defer tick.Stop()
	r := restarts{Engines: e, pauses: backoff.NewExponentialBackOff()}
	r.pauses.MaxInterval = 15 * time.Second
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.Done():
			if !r.pauseAfter(ctx, c, c.Err()) {
				return
			}
		case <-tick.C:
			clickhouse, ok := c.(*ClickHouse)
			if !ok || !clickhouse.endForRestart(ctx, e.room() != nil) {
				continue
			}
		}
		if c = r.start(ctx, c); c == nil {
			return
		}
		e.mu.Lock()
		e.running[i] = c
		e.mu.Unlock()
	}
}

// endForRestart ends the engine if its users have changed, a full disk has damaged parts, or a query has passed its
// limits.
func (c *ClickHouse) endForRestart(ctx context.Context, full bool) (ended bool) {
	if c.usersChanged() || c.markDamage(ctx, full) {
		c.drain(ctx)
		return true
	}
	return c.endRunaway(ctx)
}

// restarts counts the restarts of one engine.
type restarts struct {
	*Engines
	pauses *backoff.ExponentialBackOff
	ends   []time.Time // in the last endsWindow
}

// start tries to restart an engine until it succeeds; nil if it is lost, or ctx has ended.
func (r *restarts) start(ctx context.Context, c child) child {
	for {
		next, err := c.restart(ctx)
		if err == nil {
			return next
		}
		if ctx.Err() != nil || !r.pauseAfter(ctx, c, err) {
			return nil
		}
	}
}

// pauseAfter waits before the restart of an engine that has ended or failed to start; false if it is lost, or ctx has
// ended. Ends on a full disk do not count: room will help.
func (r *restarts) pauseAfter(ctx context.Context, c child, cause error) (retry bool) {
	if full := r.room(); full != nil {
		r.log.Error("engine ended; it is started again", "error", cause, "disk", full, "next", "make room on the disk")
		return pause(ctx, r.pauses.NextBackOff()) == nil
	}
	r.ends = append(r.ends, time.Now())
	for time.Since(r.ends[0]) > endsWindow {
		r.ends = r.ends[1:]
	}
	if len(r.ends) == 1 {
		r.pauses.Reset()
	}
	if len(r.ends) < maxEnds {
		r.log.Error("engine ended; it is started again", "error", cause, "times", len(r.ends),
			"next", "read its log, which the error names")
		return pause(ctx, r.pauses.NextBackOff()) == nil
	}
	r.lose(fmt.Errorf("%w, %d times in %s; the last lines of its log:\n%s", cause, maxEnds, endsWindow, c.lastLines()))
	return false
}
