package httpd

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/prometheus/client_golang/prometheus"
)

// A Check returns nil when something works now, else why it does not.
type Check func(ctx context.Context) error

// checkTimeout bounds one check, so that /readyz answers while something hangs.
const checkTimeout = 2 * time.Second

// Readiness has a check of everything that must work before the process takes traffic. A name without a check is not
// ready. It is a prometheus.Collector, so that an alert sees the result of /readyz.
type Readiness struct {
	mu       sync.Mutex
	names    []string
	checks   map[string]Check
	optional map[string]bool // names that the process takes traffic without
}

// NewReadiness requires each of names.
func NewReadiness(names ...string) *Readiness {
	return &Readiness{names: names, checks: map[string]Check{}, optional: map[string]bool{}}
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

// Note gives name a check of something that the process can miss for a while: /readyz shows it as missing.
func (r *Readiness) Note(name string, check Check) {
	r.Provide(name, check)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.optional[name] = true
}

// A Lack is one thing that is not ready.
type Lack struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`

	optional bool
}

// Lacking runs all checks at once and returns the names that are not ready, in the order in which they were required;
// nil means ready.
func (r *Readiness) Lacking(ctx context.Context) []Lack {
	lacks, _ := r.look(ctx)
	return lacks
}

// look runs all checks at once and returns the names that are not ready, and apart from them the optional ones that are
// missing.
func (r *Readiness) look(ctx context.Context) (lacks, missing []Lack) {
	for _, l := range r.all(ctx) {
		switch {
		case l.Reason == "":
		case l.optional:
			missing = append(missing, l)
		default:
			lacks = append(lacks, l)
		}
	}
	return lacks, missing
}

// all runs all checks at once; a result without a reason is ready.
func (r *Readiness) all(ctx context.Context) []Lack {
	r.mu.Lock()
	all := make([]Lack, len(r.names))
	var running sync.WaitGroup
	for i, name := range r.names {
		all[i].Name, all[i].optional = name, r.optional[name]
		if check := r.checks[name]; check != nil {
			running.Go(func() { all[i].Reason = reason(ctx, check) })
		} else {
			all[i].Reason = "not started yet"
		}
	}
	r.mu.Unlock()
	running.Wait()
	return all
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
	for {
		lacks := r.Lacking(ctx)
		if len(lacks) == 0 {
			return nil
		}
		if err := lifecycle.Pause(ctx, 50*time.Millisecond); err != nil {
			return fmt.Errorf("wait for %s (%s): %w", lacks[0].Name, lacks[0].Reason, err)
		}
	}
}

var readyDesc = prometheus.NewDesc("answerscope_ready",
	"1 for what works, 0 for what /readyz says does not, by its name there.", []string{"check"}, nil)

// Describe describes the one metric.
func (r *Readiness) Describe(to chan<- *prometheus.Desc) { to <- readyDesc }

// Collect runs every check.
func (r *Readiness) Collect(to chan<- prometheus.Metric) {
	for _, required := range r.all(context.Background()) {
		value := 1.0
		if required.Reason != "" {
			value = 0
		}
		to <- prometheus.MustNewConstMetric(readyDesc, prometheus.GaugeValue, value, required.Name)
	}
}
