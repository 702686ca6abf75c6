package producer

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// spillMetrics are those of the spool.
type spillMetrics struct {
	spooled     prometheus.Counter
	drained     prometheus.Counter
	quarantined prometheus.Counter
	errors      prometheus.Counter
	fsync       prometheus.Histogram
}

func newSpillMetrics(reg prometheus.Registerer, s *spill) (*spillMetrics, error) {
	m := &spillMetrics{
		spooled: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "answerscope_spool_spilled_total", Help: "Records put into the spool."}),
		drained: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "answerscope_spool_drained_total", Help: "Records of the spool that the log has, and that were struck off."}),
		quarantined: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "answerscope_spool_quarantined_total", Help: "Entries of the spool that the broker refused for ever, or that the disk gave back damaged, put aside."}),
		errors: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "answerscope_spool_errors_total", Help: "Times that the spool's disk failed."}),
		fsync: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "answerscope_spool_fsync_seconds", Help: "Fsyncs of the spool, each for all that waited.", Buckets: prometheus.ExponentialBuckets(0.0005, 2, 14)}),
	}
	gauge := func(name, help string, value func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 {
			if !s.isOpen() {
				return 0
			}
			return value()
		})
	}
	var errs []error
	for _, c := range []prometheus.Collector{
		m.spooled, m.drained, m.quarantined, m.errors, m.fsync,
		gauge("answerscope_spool_records", "Records in the spool.", func() float64 { return float64(s.disk.Records()) }),
		gauge("answerscope_spool_bytes", "Bytes of the spool on disk.", func() float64 { return float64(s.disk.Used()) }),
		gauge("answerscope_spool_limit_bytes", "Bytes that it may have.", func() float64 { return float64(s.cfg.MaxBytes) }),
		gauge("answerscope_spool_oldest_seconds", "Age of the oldest record in the spool.", func() float64 {
			oldest := s.disk.Oldest()
			if oldest.IsZero() {
				return 0
			}
			return max(0, time.Since(oldest).Seconds())
		}),
	} {
		errs = append(errs, reg.Register(c))
	}
	return m, errors.Join(errs...)
}

// isOpen reports whether the disk may be asked.
func (s *spill) isOpen() bool {
	select {
	case <-s.begun:
		return s.err == nil
	default:
		return false
	}
}
