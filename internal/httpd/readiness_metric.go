package httpd

import (
	"context"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

var readyDesc = prometheus.NewDesc("answerscope_ready", "1 for what works, 0 for what /readyz says does not, by its name there.", []string{"check"}, nil)

// Describe makes a Readiness a prometheus.Collector.
func (r *Readiness) Describe(to chan<- *prometheus.Desc) { to <- readyDesc }

// Collect runs every check, as /readyz does, so that an alert sees what it says: whoever waits for an engine counts
// nothing else meanwhile.
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
