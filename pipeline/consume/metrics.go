package consume

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// metrics of one topic's consumption.
type metrics struct {
	records prometheus.Counter
	batches prometheus.Histogram
	bytes   prometheus.Histogram
	seconds prometheus.Histogram
	waits   prometheus.Histogram
	replays prometheus.Counter
	retries prometheus.Counter
	lag     *prometheus.GaugeVec
	age     *prometheus.GaugeVec
	offset  *prometheus.GaugeVec
	stopped *prometheus.GaugeVec
}

func newMetrics(registerer prometheus.Registerer, group, topic string) *metrics {
	labels := prometheus.Labels{"group": group, "topic": topic}
	register := promauto.With(registerer)
	return &metrics{
		records: register.NewCounter(prometheus.CounterOpts{Name: "answerscope_consume_records_total", Help: "Records landed and committed.", ConstLabels: labels}),
		batches: register.NewHistogram(prometheus.HistogramOpts{Name: "answerscope_consume_batch_records", Help: "Records of a landed batch.", ConstLabels: labels, Buckets: prometheus.ExponentialBuckets(1, 4, 9)}),
		seconds: register.NewHistogram(prometheus.HistogramOpts{Name: "answerscope_consume_batch_seconds", Help: "Seconds from plan to commit of a batch.", ConstLabels: labels, Buckets: prometheus.ExponentialBuckets(0.004, 2, 14)}),
		bytes:   register.NewHistogram(prometheus.HistogramOpts{Name: "answerscope_consume_batch_bytes", Help: "Bytes of keys and values of a landed batch.", ConstLabels: labels, Buckets: prometheus.ExponentialBuckets(1<<10, 4, 8)}),
		waits:   register.NewHistogram(prometheus.HistogramOpts{Name: "answerscope_consume_lock_wait_seconds", Help: "Seconds that a batch waited for the lock of the sinks before it was planned.", ConstLabels: labels, Buckets: prometheus.ExponentialBuckets(0.0005, 4, 9)}),
		replays: register.NewCounter(prometheus.CounterOpts{Name: "answerscope_consume_replays_total", Help: "Batches that were planned by a predecessor.", ConstLabels: labels}),
		retries: register.NewCounter(prometheus.CounterOpts{Name: "answerscope_consume_retries_total", Help: "Steps that failed and were tried again.", ConstLabels: labels}),
		lag:     register.NewGaugeVec(prometheus.GaugeOpts{Name: "answerscope_consume_lag_records", Help: "Records of the log that have not landed.", ConstLabels: labels}, []string{"partition"}),
		age:     register.NewGaugeVec(prometheus.GaugeOpts{Name: "answerscope_consume_lag_seconds", Help: "Seconds since the oldest record of the log that has not landed was appended, 0 when all has.", ConstLabels: labels}, []string{"partition"}),
		offset:  register.NewGaugeVec(prometheus.GaugeOpts{Name: "answerscope_consume_offset", Help: "Last offset landed and committed.", ConstLabels: labels}, []string{"partition"}),
		stopped: register.NewGaugeVec(prometheus.GaugeOpts{Name: "answerscope_consume_stopped", Help: "1 for a partition that waits for a person; the log says why.", ConstLabels: labels}, []string{"partition"}),
	}
}

// reset forgets the partitions, which were assigned anew.
func (m *metrics) reset() {
	for _, g := range []*prometheus.GaugeVec{m.stopped, m.lag, m.age, m.offset} {
		g.Reset()
	}
}

func (m *metrics) landed(partition int32, records, bytes int, last int64, took time.Duration) {
	m.records.Add(float64(records))
	m.batches.Observe(float64(records))
	m.bytes.Observe(float64(bytes))
	m.seconds.Observe(took.Seconds())
	m.offset.WithLabelValues(strconv.Itoa(int(partition))).Set(float64(last))
}
