package producer

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are named by topic, with its prefix.
type metrics struct {
	records  *prometheus.CounterVec
	bytes    *prometheus.CounterVec
	batches  *prometheus.HistogramVec
	seconds  *prometheus.HistogramVec
	retries  *prometheus.CounterVec
	failures *prometheus.CounterVec // by reason
	inFlight prometheus.Gauge
}

// newMetrics registers them; held says how many bytes wait or are under way.
func newMetrics(reg prometheus.Registerer, held func() float64) (*metrics, error) {
	topic := []string{"topic"}
	m := &metrics{
		records: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "answerscope_producer_records_total", Help: "Records acknowledged by all in-sync replicas."}, topic),
		bytes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "answerscope_producer_bytes_total", Help: "Bytes of their keys and values, before compression."}, topic),
		batches: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "answerscope_producer_batch_records", Help: "Records a batch.", Buckets: prometheus.ExponentialBuckets(1, 4, 8)}, topic),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "answerscope_producer_batch_seconds", Help: "From a batch's first attempt to its end.", Buckets: prometheus.ExponentialBuckets(0.0005, 2, 15)}, topic),
		retries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "answerscope_producer_retries_total", Help: "Attempts after the first: each may have put its records on the log twice."}, topic),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "answerscope_producer_failures_total", Help: "Appends and batches that failed, by reason."}, []string{"topic", "reason"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "answerscope_producer_batches_in_flight", Help: "Batches sent and not yet acknowledged."}),
	}
	buffered := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "answerscope_producer_buffered_bytes", Help: "Bytes held for records that are not yet acknowledged."}, held)
	var errs []error
	for _, c := range []prometheus.Collector{buffered, m.records, m.bytes, m.batches, m.seconds, m.retries, m.failures, m.inFlight} {
		errs = append(errs, reg.Register(c))
	}
	return m, errors.Join(errs...)
}

func (m *metrics) ended(topic string, b *batch, err error) {
	if err != nil {
		m.failures.WithLabelValues(topic, reason(err)).Inc()
		return
	}
	m.records.WithLabelValues(topic).Add(float64(len(b.ends)))
	m.bytes.WithLabelValues(topic).Add(float64(len(b.data)))
	m.batches.WithLabelValues(topic).Observe(float64(len(b.ends)))
}
