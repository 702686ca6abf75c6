package httpd

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// A Check returns nil when something works now, else why it does not.
type Check func(ctx context.Context) error

// checkTimeout bounds one check, so that /readyz answers while something hangs.
const checkTimeout = 2 * time.Second

// Readiness is the list of what must work before the process takes traffic. What has no check yet is not ready. It is a
// prometheus.Collector, so that an alert sees what /readyz says.
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

// Lacking runs all checks at once and returns what is not ready, in the order in which it was required; nil means
// ready.
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

// reason is why a check fails, "" if it does not. It waits no longer than checkTimeout, even if the check ignores its
// context.
func reason(ctx context.Context, check Check) string {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	result := make(chan error, 1)
	go func() { result <- check(ctx) }()
	select {
	case err := <-result:
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

var readyDesc = prometheus.NewDesc("answerscope_ready", "1 for what works, 0 for what /readyz says does not, by its name there.", []string{"check"}, nil)

// Describe describes the one metric.
func (r *Readiness) Describe(to chan<- *prometheus.Desc) { to <- readyDesc }

// Collect runs every check.
func (r *Readiness) Collect(to chan<- prometheus.Metric) {
	lacks := map[string]bool{}
	for _, lack := range r.Lacking(context.Background()) {
		lacks[lack.Name] = true
	}
	for _, name := range r.required() {
		value := 1.0
		if lacks[name] {
			value = 0
		}
		to <- prometheus.MustNewConstMetric(readyDesc, prometheus.GaugeValue, value, name)
	}
}

func (r *Readiness) required() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.names)
}
