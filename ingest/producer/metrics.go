package producer

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/answerscope/answerscope/ingest/producer/spool"
)

// metrics of the producer are labelled by topic, with its prefix; the spool's have no labels.
type metrics struct {
	records, bytes, retries *prometheus.CounterVec
	failures                *prometheus.CounterVec // by reason
	batches, seconds        *prometheus.HistogramVec
	inFlight                prometheus.Gauge

	spilled, drained, quarantined, spoolErrors prometheus.Counter
	fsync                                      prometheus.Histogram
}

// newMetrics registers the metrics of p, and of its spool if it has one.
func newMetrics(reg prometheus.Registerer, p *Producer) *metrics {
	auto := promauto.With(reg)
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return auto.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, append([]string{"topic"}, labels...))
	}
	histogram := func(name, help string, buckets []float64) *prometheus.HistogramVec {
		opts := prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}
		return auto.NewHistogramVec(opts, []string{"topic"})
	}
	m := &metrics{
		records: counter("answerscope_producer_records_total", "Records acknowledged by all in-sync replicas."),
		bytes:   counter("answerscope_producer_bytes_total", "Bytes of their keys and values, before compression."),
		retries: counter("answerscope_producer_retries_total",
			"Attempts after the first: each may have put its records on the log twice."),
		failures: counter("answerscope_producer_failures_total", "Appends and batches that failed, by reason: "+
			"too_large, overloaded, not_ready, away, stopped, given_up, refused, disk.", "reason"),
		batches: histogram("answerscope_producer_batch_records", "Records a batch.",
			prometheus.ExponentialBuckets(1, 4, 8)),
		seconds: histogram("answerscope_producer_batch_seconds", "From a batch's first attempt to its end.",
			prometheus.ExponentialBuckets(0.0005, 2, 15)),
		inFlight: auto.NewGauge(prometheus.GaugeOpts{
			Name: "answerscope_producer_batches_in_flight", Help: "Batches sent and not yet acknowledged."}),
	}
	auto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "answerscope_producer_buffered_bytes", Help: "Bytes held for records that are not yet acknowledged."},
		func() float64 { return float64(p.appendBytes.Load() + p.appendAllBytes.Load()) })
	if p.spill != nil {
		m.addSpool(auto, p.spill)
	}
	return m
}

func (m *metrics) addSpool(auto promauto.Factory, s *spill) {
	counter := func(name, help string) prometheus.Counter {
		return auto.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	gauge := func(name, help string, value func(*spool.Spool) float64) {
		auto.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 {
			if disk := s.disk.Load(); disk != nil {
				return value(disk)
			}
			return 0
		})
	}
	m.spilled = counter("answerscope_spool_spilled_total", "Records written to the spool.")
	m.drained = counter("answerscope_spool_drained_total",
		"Records of the spool that the log has, and that were removed.")
	m.quarantined = counter("answerscope_spool_quarantined_total",
		"Entries of the spool that the broker refused for good, or that the disk gave back damaged.")
	m.spoolErrors = counter("answerscope_spool_errors_total", "Times that the spool's disk failed.")
	m.fsync = auto.NewHistogram(prometheus.HistogramOpts{Name: "answerscope_spool_fsync_seconds",
		Help: "Fsyncs of the spool, each for all that waited.", Buckets: prometheus.ExponentialBuckets(0.0005, 2, 14)})
	gauge("answerscope_spool_records", "Records in the spool.",
		func(disk *spool.Spool) float64 { return float64(disk.Records()) })
	gauge("answerscope_spool_bytes", "Bytes of the spool's files, of which up to 1 MB may be drained already.",
		func(disk *spool.Spool) float64 { return float64(disk.Used()) })
	gauge("answerscope_spool_limit_bytes", "Bytes that the spool may have; beyond them appends are overloaded.",
		func(*spool.Spool) float64 { return float64(s.cfg.MaxBytes) })
	gauge("answerscope_spool_oldest_seconds", "Age of the oldest record that the drain may send.",
		func(disk *spool.Spool) float64 {
			if oldest := disk.Oldest(); !oldest.IsZero() {
				return max(0, time.Since(oldest).Seconds())
			}
			return 0
		})
}

func (m *metrics) appended(topic string, b *batch) {
	m.records.WithLabelValues(topic).Add(float64(len(b.ends)))
	m.bytes.WithLabelValues(topic).Add(float64(len(b.data)))
	m.batches.WithLabelValues(topic).Observe(float64(len(b.ends)))
}

var reasons = []struct {
	err  error
	name string
}{
	{ErrTooLarge, "too_large"}, {ErrOverloaded, "overloaded"}, {ErrNoRoom, "disk"}, {ErrNotReady, "not_ready"},
	{ErrAway, "away"}, {ErrStopped, "stopped"}, {context.Canceled, "given_up"}, {context.DeadlineExceeded, "given_up"},
}

// reason returns the label of an error.
func reason(err error) string {
	for _, r := range reasons {
		if errors.Is(err, r.err) {
			return r.name
		}
	}
	return "refused"
}
