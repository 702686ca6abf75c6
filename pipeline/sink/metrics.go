package sink

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

type metrics struct {
	rows       prometheus.Counter
	duplicates prometheus.Counter
	letters    *prometheus.CounterVec
}

func newMetrics(registerer prometheus.Registerer, table string) *metrics {
	labels := prometheus.Labels{"table": table}
	m := &metrics{
		rows:       prometheus.NewCounter(prometheus.CounterOpts{Name: "answerscope_sink_rows_total", Help: "Rows inserted into a landing table.", ConstLabels: labels}),
		duplicates: prometheus.NewCounter(prometheus.CounterOpts{Name: "answerscope_sink_duplicates_total", Help: "Records dropped because they had been told before.", ConstLabels: labels}),
		letters:    prometheus.NewCounterVec(prometheus.CounterOpts{Name: "answerscope_sink_deadletters_total", Help: "Records that could not be read.", ConstLabels: labels}, []string{"reason"}),
	}
	registerer.MustRegister(m.rows, m.duplicates, m.letters)
	return m
}

// count counts a batch that has landed.
func (m *metrics) count(records, rows int, letters []clickhouse.DeadLetter) {
	m.rows.Add(float64(rows))
	m.duplicates.Add(float64(records - rows - len(letters)))
	for i := range letters {
		m.letters.WithLabelValues(letters[i].Reason).Inc()
	}
}
