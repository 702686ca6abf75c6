package results

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/answerscope/answerscope/sql/postgres"
)

type metrics struct {
	records *prometheus.CounterVec // by outcome
	pruned  prometheus.Counter
	renewed prometheus.Counter
}

func newMetrics(registerer prometheus.Registerer) *metrics {
	register := promauto.With(registerer)
	return &metrics{
		records: register.NewCounterVec(prometheus.CounterOpts{
			Name: "answerscope_results_records_total",
			Help: "Records of topic answers by their outcome in prompt_results: inserted, corrected, duplicate, old, orphaned (the prompt is deleted), skipped (given up, or a dead letter), refused.",
		}, []string{"outcome"}),
		pruned: register.NewCounter(prometheus.CounterOpts{
			Name: "answerscope_results_pruned_total", Help: "Rows of prompt_results that were deleted for their age.",
		}),
		renewed: register.NewCounter(prometheus.CounterOpts{
			Name: "answerscope_results_renewed_total", Help: "Rows of prompt_results that took over a newer reading from the warehouse.",
		}),
	}
}

// outcomes counts the records of a batch.
type outcomes struct{ inserted, corrected, duplicate, old, orphaned, skipped, refused int64 }

// add counts so many rows of one transaction.
func (o *outcomes) add(rows int, first, rereads postgres.ResultCounts) {
	live, current := first.Live+rereads.Live, first.Current+rereads.Current
	inserted, corrected := first.Added+rereads.Added, first.Changed+rereads.Changed
	o.inserted += inserted
	o.corrected += corrected
	o.duplicate += current - inserted - corrected
	o.old += live - current
	o.orphaned += int64(rows) - live
}

func (m *metrics) count(o outcomes) {
	for name, n := range map[string]int64{
		"inserted": o.inserted, "corrected": o.corrected, "duplicate": o.duplicate, "old": o.old,
		"orphaned": o.orphaned, "skipped": o.skipped, "refused": o.refused,
	} {
		m.records.WithLabelValues(name).Add(float64(n))
	}
}
