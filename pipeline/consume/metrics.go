package consume

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// metrics of one group's consumption of a topic. Gauges are by partition.
type metrics struct {
	records, replays, retries      prometheus.Counter
	batches, bytes, seconds, waits prometheus.Histogram
	lag, age, offset, stopped      *prometheus.GaugeVec
}

func newMetrics(registerer prometheus.Registerer, group, topic string) *metrics {
	labels := prometheus.Labels{"group": group, "topic": topic}
	register := promauto.With(registerer)
	counter := func(name, help string) prometheus.Counter {
		return register.NewCounter(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: labels})
	}
	histogram := func(name, help string, buckets []float64) prometheus.Histogram {
		opts := prometheus.HistogramOpts{Name: name, Help: help, ConstLabels: labels, Buckets: buckets}
		return register.NewHistogram(opts)
	}
	gauge := func(name, help string) *prometheus.GaugeVec {
		opts := prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels}
		return register.NewGaugeVec(opts, []string{"partition"})
	}
	exponential := prometheus.ExponentialBuckets
	return &metrics{
		records: counter("answerscope_consume_records_total", "Records landed and committed."),
		batches: histogram("answerscope_consume_batch_records",
			"Records of a landed batch.", exponential(1, 4, 9)),
		seconds: histogram("answerscope_consume_batch_seconds",
			"Seconds from plan to commit of a batch.", exponential(0.004, 2, 14)),
		bytes: histogram("answerscope_consume_batch_bytes",
			"Bytes of keys and values of a landed batch.", exponential(1<<10, 4, 8)),
		waits: histogram("answerscope_consume_lock_wait_seconds",
			"Seconds that a batch waited for the lock of the sinks before it was planned.", exponential(0.0005, 4, 9)),
		replays: counter("answerscope_consume_replays_total", "Batches that were planned by a predecessor."),
		retries: counter("answerscope_consume_retries_total", "Steps that failed and were tried again."),
		lag:     gauge("answerscope_consume_lag_records", "Records of the log that have not landed."),
		age: gauge("answerscope_consume_lag_seconds",
			"Seconds since the oldest record of the log that has not landed was appended, 0 when all has."),
		offset:  gauge("answerscope_consume_offset", "Last offset landed and committed."),
		stopped: gauge("answerscope_consume_stopped", "1 for a partition that waits for a person; the log says why."),
	}
}

// reset drops the partitions of an earlier assignment.
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
