package reread

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

type metrics struct {
	answers, left, failures, queued prometheus.Counter
	brands, seconds                 prometheus.Gauge
	landing                         prometheus.Histogram
}

func newMetrics(registerer prometheus.Registerer) *metrics {
	register := promauto.With(registerer)
	counter := func(name, help string) prometheus.Counter {
		return register.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	gauge := func(name, help string) prometheus.Gauge {
		return register.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	return &metrics{
		answers:  counter("answerscope_reread_answers_total", "Kept answers appended again."),
		left:     counter("answerscope_reread_left_total", "Kept answers that could not be appended again, or were not inserted."),
		failures: counter("answerscope_reread_failures_total", "Interruptions of rereads, each followed by a pause."),
		queued:   counter("answerscope_reread_swept_brands_total", "Brands that the sweep queued."),
		brands:   gauge("answerscope_reread_waiting_brands", "Brands that are due to be reread or being reread, as last seen."),
		seconds:  gauge("answerscope_reread_waiting_seconds", "Seconds for which the first of these brands has been due, as last seen."),
		landing: register.NewHistogram(prometheus.HistogramOpts{
			Name: "answerscope_reread_landing_seconds", Help: "Seconds from the append of a page to its insert.",
			Buckets: prometheus.ExponentialBuckets(0.05, 2, 14),
		}),
	}
}
