package sink

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// An outcome is what became of a record that could be read.
type outcome int

const (
	told      outcome = iota // landed
	repeated                 // told before, dropped
	corrected                // a reread that landed
	stale                    // a reread of what is not there, or stands so or newer already: dropped
	deleted                  // of a brand or an organization that was deleted: dropped
)

// outcomes counts the records of a batch.
type outcomes [len(outcomeNames)]int

var outcomeNames = [...]string{told: "told", repeated: "repeated", corrected: "corrected", stale: "stale", deleted: "deleted"}

func (o *outcomes) add(of outcome) { o[of]++ }

type metrics struct {
	rows    prometheus.Counter
	records *prometheus.CounterVec
	letters *prometheus.CounterVec

	searches prometheus.Histogram
}

func newMetrics(registerer prometheus.Registerer, table string) *metrics {
	labels := prometheus.Labels{"table": table}
	m := &metrics{
		rows:    prometheus.NewCounter(prometheus.CounterOpts{Name: "answerscope_sink_rows_total", Help: "Rows inserted into a landing table.", ConstLabels: labels}),
		records: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "answerscope_sink_records_total", Help: "Records that were read, by what became of them: told (landed), repeated (dropped: told before), corrected (a reread that landed), stale (a reread, dropped), deleted (dropped: of a brand or an organization that was deleted).", ConstLabels: labels}, []string{"outcome"}),
		letters: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "answerscope_sink_deadletters_total", Help: "Records that became dead letters.", ConstLabels: labels}, []string{"reason"}),
	}
	m.searches = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "answerscope_sink_search_seconds", Help: "Seconds that it took to find the records that the server refuses a batch for.", ConstLabels: labels, Buckets: prometheus.ExponentialBuckets(0.25, 2, 10)})
	registerer.MustRegister(m.rows, m.records, m.letters, m.searches)
	return m
}

// count counts a batch that has landed.
func (m *metrics) count(rows int, of outcomes, letters []clickhouse.DeadLetter) {
	m.rows.Add(float64(rows))
	for name, n := range of {
		m.records.WithLabelValues(outcomeNames[name]).Add(float64(n))
	}
	for i := range letters {
		m.letters.WithLabelValues(letters[i].Reason).Inc()
	}
}
