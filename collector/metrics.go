package collector

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics keep the counters of the common outcomes, so that a beacon looks up none by its labels.
type metrics struct {
	beacons  *prometheus.CounterVec
	accepted prometheus.Counter
	dropped  map[string]prometheus.Counter // by reason
	crawlers *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		beacons: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "answerscope_collector_beacons_total", Help: "Beacons by outcome (accepted, dropped, refused) and reason; a request whose body was not read counts as one."},
			[]string{"outcome", "reason"}),
		crawlers: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "answerscope_collector_crawler_beacons_total", Help: "Beacons that an AI crawler sent while it read a page, by its name. They are dropped."},
			[]string{"crawler"}),
		dropped: map[string]prometheus.Counter{},
	}
	m.accepted = m.beacons.WithLabelValues("accepted", "")
	for _, reason := range []string{dropBot, dropCrawler, dropPrivacy, dropNoSource} {
		m.dropped[reason] = m.beacons.WithLabelValues("dropped", reason)
	}
	return m, errors.Join(reg.Register(m.beacons), reg.Register(m.crawlers))
}

func (m *metrics) refused(reason string, n int) {
	m.beacons.WithLabelValues("refused", reason).Add(float64(n))
}
