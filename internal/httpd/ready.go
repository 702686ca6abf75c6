package httpd

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// A Check returns nil when a thing works now, else why it does not.
type Check func(ctx context.Context) error

// checkTimeout bounds one check, so that /readyz answers while something hangs.
const checkTimeout = 2 * time.Second

// Readiness is the list of what must work before the process takes traffic. Every name is given at the start: what
// has no check yet is not ready.
type Readiness struct {
	mu     sync.Mutex
	names  []string
	checks map[string]Check
}

// NewReadiness requires each of names.
func NewReadiness(names ...string) *Readiness {
	return &Readiness{names: names, checks: map[string]Check{}}
}

// Provide gives name its check; a name that was not required is added.
func (r *Readiness) Provide(name string, check Check) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.names, name) {
		r.names = append(r.names, name)
	}
	r.checks[name] = check
}

// A Lack is one thing that is not ready.
type Lack struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// Lacking runs every check, side by side, and returns what is not ready in the order in which it was required; nil
// means ready.
func (r *Readiness) Lacking(ctx context.Context) []Lack {
	r.mu.Lock()
	lacks := make([]Lack, len(r.names))
	var running sync.WaitGroup
	for i, name := range r.names {
		check := r.checks[name]
		lacks[i].Name = name
		if check == nil {
			lacks[i].Reason = "not started yet"
			continue
		}
		running.Go(func() { lacks[i].Reason = reason(ctx, check) })
	}
	r.mu.Unlock()
	running.Wait()
	return slices.DeleteFunc(lacks, func(l Lack) bool { return l.Reason == "" })
}

// reason gives up on a check that outlives checkTimeout, even one that does not listen to its context.
func reason(ctx context.Context, check Check) string {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	said := make(chan error, 1)
	go func() { said <- check(ctx) }()
	select {
	case err := <-said:
		if err != nil {
			return err.Error()
		}
		return ""
	case <-ctx.Done():
		return fmt.Sprintf("no answer within %s", checkTimeout)
	}
}

// Wait returns once nothing lacks, or with what still does when ctx ends.
func (r *Readiness) Wait(ctx context.Context) error {
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for {
		lacks := r.Lacking(ctx)
		if len(lacks) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s (%s): %w", lacks[0].Name, lacks[0].Reason, ctx.Err())
		case <-look.C:
		}
	}
}
