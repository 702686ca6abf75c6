package purge

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

type metrics struct {
	rows     *prometheus.CounterVec // by table
	failures prometheus.Counter
	waiting  prometheus.Gauge
	since    atomic.Pointer[time.Time] // when the oldest waiting deletion was made; nil: none waits
}

func newMetrics(registerer prometheus.Registerer) *metrics {
	register := promauto.With(registerer)
	m := &metrics{
		rows: register.NewCounterVec(prometheus.CounterOpts{
			Name: "answerscope_purge_rows_total",
			Help: "Rows of deleted brands and organizations that were deleted from the warehouse.",
		}, []string{"table"}),
		failures: register.NewCounter(prometheus.CounterOpts{
			Name: "answerscope_purge_failures_total", Help: "Looks for deletions to purge that failed, each tried again.",
		}),
		waiting: register.NewGauge(prometheus.GaugeOpts{
			Name: "answerscope_purge_waiting", Help: "Deletions that were never purged, as the purging process sees them.",
		}),
	}
	register.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "answerscope_purge_oldest_seconds",
		Help: "Seconds that the oldest deletion waits that was never purged, 0 when none does.",
	}, m.oldest)
	return m
}

// set sets how many deletions wait, and for how long the oldest has; its age grows from now on.
func (m *metrics) set(waiting int, oldest time.Duration) {
	m.waiting.Set(float64(waiting))
	if waiting == 0 {
		m.since.Store(nil)
		return
	}
	since := time.Now().Add(-oldest)
	m.since.Store(&since)
}

func (m *metrics) oldest() float64 {
	since := m.since.Load()
	if since == nil {
		return 0
	}
	return time.Since(*since).Seconds()
}
