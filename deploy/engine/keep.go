package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// An engine that ends by itself is started again. One that ends maxEnds times in endsWindow is lost: more starts would not
// repair it, and a supervisor, or a person, must see that.
const (
	maxEnds    = 5
	endsWindow = 10 * time.Minute
)

// child is an engine that is a process of its own.
type child interface {
	running
	Done() <-chan struct{}
	Err() error
	again(ctx context.Context) (child, error) // starts it with the same files, credentials and port
	lastLines() string                        // of its log
}

// keep starts the engine of running[i] again when it ends, and a ClickHouse also when its users have changed, a full disk has
// damaged parts or a query has passed its limits. It closes lost when that does not help. Ends on a full disk do not count:
// room will help.
func (e *Engines) keep(ctx context.Context, i int, c child) {
	look := time.NewTicker(usersInterval)
	defer look.Stop()
	pauses := backoff.NewExponentialBackOff()
	pauses.MaxInterval = 15 * time.Second
	var ends []time.Time // in the last endsWindow
	failed := func(cause error) (lost bool) {
		if full := e.room(); full != nil {
			e.log.Error("engine ended; it is started again", "error", cause, "disk", full, "next", "make room on the disk")
			return pause(ctx, pauses.NextBackOff()) != nil
		}
		ends = append(ends, time.Now())
		for time.Since(ends[0]) > endsWindow {
			ends = ends[1:]
		}
		if len(ends) == 1 {
			pauses.Reset()
		}
		if len(ends) < maxEnds {
			e.log.Error("engine ended; it is started again", "error", cause, "times", len(ends), "next", "read its log, which the error names")
			return pause(ctx, pauses.NextBackOff()) != nil
		}
		e.lose(fmt.Errorf("%w, %d times in %s; the last lines of its log:\n%s", cause, maxEnds, endsWindow, c.lastLines()))
		return true
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.Done():
			if failed(c.Err()) {
				return
			}
		case <-look.C:
			clickhouse, ok := c.(*ClickHouse)
			switch {
			case !ok:
				continue
			case clickhouse.usersChanged(), clickhouse.isDamaged(ctx, e.room() != nil):
				clickhouse.drain(ctx)
			case !clickhouse.endRunaway(ctx):
				continue
			}
		}
		for {
			next, err := c.again(ctx)
			if err == nil {
				c = next
				break
			}
			if ctx.Err() != nil || failed(err) {
				return
			}
		}
		e.mu.Lock()
		e.running[i] = c
		e.mu.Unlock()
	}
}
