package reconcile

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	findings *prometheus.CounterVec
	compared prometheus.Counter
	open     prometheus.Gauge
	last     prometheus.Gauge
	seconds  prometheus.Gauge
	locked   prometheus.Histogram
}

func newMetrics(registerer prometheus.Registerer) *metrics {
	m := &metrics{
		findings: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "answerscope_reconcile_findings_total", Help: "Months of a rollup that did not have what their landing rows make, by what became of them.",
		}, []string{"table", "state"}),
		compared: prometheus.NewCounter(prometheus.CounterOpts{Name: "answerscope_reconcile_compared_total", Help: "Months of a rollup that were compared with their landing rows."}),
		open:     prometheus.NewGauge(prometheus.GaugeOpts{Name: "answerscope_reconcile_open", Help: "Months of a rollup that the last nightly run of this process found wrong and left so."}),
		last:     prometheus.NewGauge(prometheus.GaugeOpts{Name: "answerscope_reconcile_last_run_timestamp_seconds", Help: "When the last nightly run of this process ended, in Unix time."}),
		seconds:  prometheus.NewGauge(prometheus.GaugeOpts{Name: "answerscope_reconcile_last_run_seconds", Help: "Seconds that the last nightly run of this process took."}),
		locked: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "answerscope_reconcile_held_seconds", Help: "Seconds for which the sinks were stopped.", Buckets: prometheus.ExponentialBuckets(0.01, 2, 12),
		}),
	}
	registerer.MustRegister(m.findings, m.compared, m.open, m.last, m.seconds, m.locked)
	return m
}

func (m *metrics) found(f *Finding) { m.findings.WithLabelValues(f.Table, f.State).Inc() }

// ended reports a run. The gauges are of runs of everything.
func (m *metrics) ended(s Scope, r *Report, took time.Duration) {
	m.compared.Add(float64(r.Compared))
	if !s.all() {
		return
	}
	m.open.Set(float64(r.Open))
	m.last.SetToCurrentTime()
	m.seconds.Set(took.Seconds())
}
