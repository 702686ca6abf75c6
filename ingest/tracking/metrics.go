package tracking

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/capture"
	"github.com/answerscope/answerscope/ingest/platform/catalog"
)

// Values of labels, besides the classes of errors.
const (
	refusedForBudget = "budget"
	outcomeAnswered  = "answered"
)

type metrics struct {
	requests *prometheus.CounterVec   // by platform, provider and outcome
	polls    *prometheus.CounterVec   // by provider and outcome
	awaited  *prometheus.GaugeVec     // by provider
	seconds  *prometheus.HistogramVec // by platform
	unknown  *prometheus.CounterVec   // by platform
	refused  *prometheus.CounterVec   // by reason
	working  prometheus.Gauge
}

func newMetrics(registerer prometheus.Registerer) *metrics {
	auto := promauto.With(registerer)
	m := &metrics{
		requests: auto.NewCounterVec(prometheus.CounterOpts{
			Name: "answerscope_tracking_requests_total",
			Help: "Requests to AI platforms that ended, or could not be sent, by platform, capture provider (none: " +
				"the platform's API) and outcome: answered, with or without an overview, or the class of the error.",
		}, []string{"platform", "provider", "outcome"}),
		polls: auto.NewCounterVec(prometheus.CounterOpts{
			Name: "answerscope_tracking_polls_total",
			Help: "Polls of captures, by capture provider and outcome: answered, or the class of the error.",
		}, []string{"provider", "outcome"}),
		awaited: auto.NewGaugeVec(prometheus.GaugeOpts{
			Name: "answerscope_tracking_captures",
			Help: "Captures that providers have accepted and this process waits for, by capture provider.",
		}, []string{"provider"}),
		seconds: auto.NewHistogramVec(prometheus.HistogramOpts{
			Name: "answerscope_tracking_request_seconds", Help: "How long requests to AI platforms took.",
			Buckets: []float64{0.5, 1, 2, 5, 10, 20, 40, 80, 120},
		}, []string{"platform"}),
		unknown: auto.NewCounterVec(prometheus.CounterOpts{
			Name: "answerscope_tracking_unknown_items_total",
			Help: "Items of answers that were passed over because their kind is unknown, by platform.",
		}, []string{"platform"}),
		refused: auto.NewCounterVec(prometheus.CounterOpts{
			Name: "answerscope_tracking_refused_total", Help: "Starts of tracking jobs that were refused, by reason.",
		}, []string{"reason"}),
		working: auto.NewGauge(prometheus.GaugeOpts{
			Name: "answerscope_tracking_jobs", Help: "Tracking jobs that this process works on.",
		}),
	}
	// An alert sees how much a series rises, and not the value that it begins with.
	m.refused.WithLabelValues(refusedForBudget)
	outcomes := []string{outcomeAnswered}
	for _, class := range platform.Classes {
		outcomes = append(outcomes, string(class))
	}
	for _, p := range catalog.All() {
		m.unknown.WithLabelValues(p.Slug)
		providers := capture.Offers(p.Slug)
		if len(providers) == 0 {
			providers = []string{""}
		}
		for _, provider := range providers {
			for _, outcome := range outcomes {
				m.requests.WithLabelValues(p.Slug, provider, outcome)
			}
		}
	}
	for _, p := range capture.Providers() {
		m.awaited.WithLabelValues(p.Slug)
		for _, outcome := range outcomes {
			m.polls.WithLabelValues(p.Slug, outcome)
		}
	}
	return m
}

func (m *metrics) observe(
	slug, provider string, took time.Duration, reply platform.Reply, failure *platform.Error,
) {
	m.requests.WithLabelValues(slug, provider, outcomeOf(failure)).Inc()
	m.seconds.WithLabelValues(slug).Observe(took.Seconds())
	m.unknown.WithLabelValues(slug).Add(float64(len(reply.Unknown)))
}

// outcomeOf returns the outcome of a request that failed, or did not.
func outcomeOf(failure *platform.Error) string {
	if failure == nil {
		return outcomeAnswered
	}
	return string(failure.Class)
}
