package sink

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// An outcome is what became of a record that could be decoded.
type outcome int

const (
	inserted  outcome = iota
	duplicate         // its id had landed: dropped
	corrected         // a reread that was inserted
	outdated          // a reread of an id that is not there, or whose current row is as new: dropped
	dropped           // of a brand or an organization that was deleted
)

// outcomes counts the records of a batch.
type outcomes [len(outcomeNames)]int

var outcomeNames = [...]string{inserted: "inserted", duplicate: "duplicate", corrected: "corrected", outdated: "outdated", dropped: "deleted"}

func (o *outcomes) add(of outcome) { o[of]++ }

type metrics struct {
	rows        prometheus.Counter
	records     *prometheus.CounterVec
	deadLetters *prometheus.CounterVec
}

func newMetrics(registerer prometheus.Registerer, table string) *metrics {
	labels := prometheus.Labels{"table": table}
	register := promauto.With(registerer)
	return &metrics{
		rows:        register.NewCounter(prometheus.CounterOpts{Name: "answerscope_sink_rows_total", Help: "Rows inserted into a landing table.", ConstLabels: labels}),
		records:     register.NewCounterVec(prometheus.CounterOpts{Name: "answerscope_sink_records_total", Help: "Records that were decoded, by outcome: inserted, duplicate (dropped: the id had landed), corrected (a reread that was inserted), outdated (a reread that changes nothing: dropped), deleted (dropped: of a brand or an organization that was deleted).", ConstLabels: labels}, []string{"outcome"}),
		deadLetters: register.NewCounterVec(prometheus.CounterOpts{Name: "answerscope_sink_deadletters_total", Help: "Records that became dead letters, by reason: malformed, month frozen.", ConstLabels: labels}, []string{"reason"}),
	}
}

// count counts a batch that has landed.
func (m *metrics) count(rows int, of outcomes, deadLetters []clickhouse.DeadLetter) {
	m.rows.Add(float64(rows))
	for name, n := range of {
		m.records.WithLabelValues(outcomeNames[name]).Add(float64(n))
	}
	for i := range deadLetters {
		m.deadLetters.WithLabelValues(deadLetters[i].Reason).Inc()
	}
}
