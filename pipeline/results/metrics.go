package results

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/sql/postgres"
)

type metrics struct {
	records *prometheus.CounterVec // by outcome
	pruned  prometheus.Counter
	renewed prometheus.Counter
}

func newMetrics(registerer prometheus.Registerer) *metrics {
	m := &metrics{
		records: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "answerscope_results_records_total",
			Help: "Records of topic answers by what became of them in prompt_results: added, changed, repeated, old, orphaned (the prompt is gone), unread (given up, or a dead letter), refused.",
		}, []string{"outcome"}),
		pruned:  prometheus.NewCounter(prometheus.CounterOpts{Name: "answerscope_results_pruned_total", Help: "Rows of prompt_results that were deleted for their age."}),
		renewed: prometheus.NewCounter(prometheus.CounterOpts{Name: "answerscope_results_renewed_total", Help: "Rows of prompt_results that took over a newer reading from the warehouse."}),
	}
	registerer.MustRegister(m.records, m.pruned, m.renewed)
	return m
}

// outcome counts the records of a batch by what became of them.
type outcome struct {
	unread                                           int
	added, changed, repeated, old, orphaned, refused int64
}

// add counts so many rows that were written or left out in one transaction.
func (o *outcome) add(rows int, added, changed postgres.ResultCounts) {
	live, current := added.Live+changed.Live, added.Current+changed.Current
	o.added += added.Added + changed.Added
	o.changed += added.Changed + changed.Changed
	o.orphaned += int64(rows) - live
	o.old += live - current
	o.repeated += current - added.Added - added.Changed - changed.Added - changed.Changed
}

func (m *metrics) count(o outcome) {
	for name, n := range map[string]int64{
		"unread": int64(o.unread), "added": o.added, "changed": o.changed, "repeated": o.repeated,
		"old": o.old, "orphaned": o.orphaned, "refused": o.refused,
	} {
		m.records.WithLabelValues(name).Add(float64(n))
	}
}
