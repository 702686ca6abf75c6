package reconcile

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/clickhouse/rollup"
)

// A Report is what was compared and found.
type Report struct {
	Compared int           `json:"compared"` // months of rollups that were compared
	Repaired int           `json:"repaired"` // of Findings
	Open     int           `json:"open"`     // of Findings: that are as they were found
	Frozen   []RollupMonth `json:"frozen"`   // months of rollups that were left alone
	Findings []Finding     `json:"findings"` // what differed, or could not be compared
}

// A RollupMonth is one month of one rollup.
type RollupMonth struct {
	Table string           `json:"table"`
	Month clickhouse.Month `json:"month,omitzero"` // none of log_progress
	Shard int              `json:"shard"`
}

// The states of a finding.
const (
	Differs  = "differs"  // left as found
	Repaired = "repaired" // rebuilt
	Kept     = "kept"     // may have rows that its landing table has lost: a person decides whether they go
	Unknown  = "unknown"  // not compared, or not repaired: the cause says why
)

// A Finding is a month of a rollup, or of a landing table with surplus rows, that was not as it should be.
type Finding struct {
	RollupMonth
	State       string              `json:"state"`
	Differences []rollup.Difference `json:"differences,omitempty"`
	Brands      []rollup.Brand      `json:"brands,omitempty"`  // that differ, at most mostBrands; none: it took too long to ask
	Offsets     []WrongOffset       `json:"logs,omitempty"`    // of log_progress
	Surplus     uint64              `json:"surplus,omitempty"` // of a landing table: rows that stood there already
	Cause       string              `json:"cause,omitempty"`
}

// hasMore says whether the rollup has more than its landing rows make.
func (f *Finding) hasMore() bool {
	return slices.ContainsFunc(f.Differences, func(d rollup.Difference) bool { return d.Have.Units > d.Want.Units })
}

// A WrongOffset is a partition of which log_progress has another offset than it should.
type WrongOffset struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Want      int64  `json:"want"`
	Have      int64  `json:"have"`
}

// mostBrands bounds the brands of a finding.
const mostBrands = 100

func (r *Report) leave(table string, month clickhouse.Month) {
	r.Frozen = append(r.Frozen, RollupMonth{Table: table, Month: month})
}

// open says whether anything of a month is not as it should be.
func (r *Report) open(month clickhouse.Month) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Month == month && f.State != Repaired })
}

// add notes the outcome of one month; a nil finding is no difference.
func (r *run) add(f *Finding, err error) {
	r.report.Compared++
	if f == nil {
		return
	}
	if err != nil {
		f.State, f.Cause = Unknown, err.Error()
	}
	if f.State == Repaired {
		r.report.Repaired++
	} else {
		r.report.Open++
	}
	f.Shard = r.shard
	r.report.Findings = append(r.report.Findings, *f)
	r.metrics.found(f)
	r.logFinding(f)
}

func (r *run) logFinding(f *Finding) {
	of := []any{"table", f.Table, "month", f.Month, "shard", f.Shard, "state", f.State}
	for _, d := range f.Differences {
		of = append(of, d.Column, d.String())
	}
	for _, o := range f.Offsets {
		of = append(of, "log", o)
	}
	if f.Surplus > 0 {
		of = append(of, "surplus", f.Surplus)
	}
	switch {
	case f.Surplus > 0 && f.State == Repaired:
		r.log.Warn("rows that stood twice deleted", append(of,
			"next", "nothing: one of each is left; find out whether a server lost power, or a group's offset was set back")...)
		return
	case f.Surplus > 0 && f.State == Differs:
		r.log.Error("rows stand twice in a landing table", append(of, "next", "run: answerscope reconcile --fix")...)
		return
	}
	switch f.State {
	case Unknown:
		r.log.Error("rollup not reconciled", append(of, "cause", f.Cause, "next", "read the cause; the next run tries again")...)
	case Repaired:
		r.log.Warn("rollup repaired", append(of, "next", "nothing: it is as it should be; find out what had happened to it")...)
	case Kept:
		r.log.Error("rollup may have rows that its landing table has lost", append(of,
			"next", "see whether landing rows were lost, and restore them; if not, run: answerscope reconcile --fix")...)
	default:
		r.log.Error("rollup differs from its landing rows", append(of, "next", "run: answerscope reconcile --fix")...)
	}
}

type metrics struct {
	findings *prometheus.CounterVec
	compared prometheus.Counter
	open     prometheus.Gauge
	last     prometheus.Gauge
	seconds  prometheus.Gauge
	locked   prometheus.Histogram
	broken   *prometheus.GaugeVec
}

func newMetrics(registerer prometheus.Registerer) *metrics {
	m := &metrics{
		findings: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "answerscope_reconcile_findings_total", Help: "Months of a rollup that did not have what their landing rows make, by what became of them.",
		}, []string{"table", "state"}),
		compared: prometheus.NewCounter(prometheus.CounterOpts{Name: "answerscope_reconcile_compared_total", Help: "Months of a rollup that were compared with their landing rows."}),
		open:     prometheus.NewGauge(prometheus.GaugeOpts{Name: "answerscope_reconcile_open", Help: "Months of a rollup that the last nightly run of this process found wrong and left so."}),
		last:     prometheus.NewGauge(prometheus.GaugeOpts{Name: "answerscope_reconcile_last_run_timestamp_seconds", Help: "When the last nightly run of this process ended, in Unix time."}),
		seconds:  prometheus.NewGauge(prometheus.GaugeOpts{Name: "answerscope_reconcile_last_run_seconds", Help: "Seconds that the last nightly run of this process took."}),
		locked: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "answerscope_reconcile_locked_seconds", Help: "Seconds for which the sinks were stopped.", Buckets: prometheus.ExponentialBuckets(0.01, 2, 12),
		}),
	}
	m.broken = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "answerscope_clickhouse_broken_parts", Help: "Parts that ClickHouse could not read and has set aside, as far as this process has looked.",
	}, []string{"table"})
	registerer.MustRegister(m.findings, m.compared, m.open, m.last, m.seconds, m.locked, m.broken)
	return m
}

func (m *metrics) found(f *Finding) { m.findings.WithLabelValues(f.Table, f.State).Inc() }

// ended reports a run. The gauges are of runs of everything.
func (m *metrics) ended(s Scope, r *Report, took time.Duration) {
	m.compared.Add(float64(r.Compared))
	if !s.all() {
		return
	}
	m.open.Set(float64(r.Open))
	m.last.SetToCurrentTime()
	m.seconds.Set(took.Seconds())
}
