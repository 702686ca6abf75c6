package sink

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	rows       prometheus.Counter
	duplicates prometheus.Counter
	letters    *prometheus.CounterVec
}

func newMetrics(registerer prometheus.Registerer) *metrics {
	m := &metrics{
		rows:       prometheus.NewCounter(prometheus.CounterOpts{Name: "answerscope_sink_rows_total", Help: "Rows inserted into the landing table answers."}),
		duplicates: prometheus.NewCounter(prometheus.CounterOpts{Name: "answerscope_sink_duplicates_total", Help: "Records dropped because their run had ended before."}),
		letters:    prometheus.NewCounterVec(prometheus.CounterOpts{Name: "answerscope_sink_deadletters_total", Help: "Records that could not be read."}, []string{"reason"}),
	}
	registerer.MustRegister(m.rows, m.duplicates, m.letters)
	return m
}
