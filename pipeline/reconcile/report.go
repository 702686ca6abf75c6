package reconcile

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/clickhouse/rollup"
)

// A Report is the result of a run.
type Report struct {
	Compared int           `json:"compared"` // months of rollups that were compared
	Repaired int           `json:"repaired"` // of Findings
	Open     int           `json:"open"`     // of Findings: not repaired
	Frozen   []RollupMonth `json:"frozen"`   // months of rollups that were left alone
	Findings []Finding     `json:"findings"` // months that differed, or could not be compared
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
	Unknown  = "unknown"  // not compared, or not repaired: see the cause
)

// A Finding is a month of a rollup, or of a landing table with surplus rows, that was not as it should be.
type Finding struct {
	RollupMonth
	State       string              `json:"state"`
	Differences []rollup.Difference `json:"differences,omitempty"`
	Brands      []rollup.Brand      `json:"brands,omitempty"`  // that differ, at most maxBrands; none: took too long
	Offsets     []WrongOffset       `json:"logs,omitempty"`    // of log_progress
	Surplus     uint64              `json:"surplus,omitempty"` // of a landing table: rows that stood there already
	Cause       string              `json:"cause,omitempty"`
}

// hasMore reports whether the rollup has more than its landing rows make.
func (f *Finding) hasMore() bool {
	return slices.ContainsFunc(f.Differences, func(d rollup.Difference) bool { return d.Have.Units > d.Want.Units })
}

// A WrongOffset is a partition with a wrong offset in log_progress.
type WrongOffset struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Want      int64  `json:"want"`
	Have      int64  `json:"have"`
}

// maxBrands bounds the brands of a finding.
const maxBrands = 100

func (r *Report) addFrozen(table string, month clickhouse.Month) {
	r.Frozen = append(r.Frozen, RollupMonth{Table: table, Month: month})
}

// open reports whether a finding of a month is not repaired.
func (r *Report) open(month clickhouse.Month) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Month == month && f.State != Repaired })
}

// add counts one month; a nil finding means no difference.
func (r *shardRun) add(f *Finding, err error) {
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
	r.reconciler.metrics.findings.WithLabelValues(f.Table, f.State).Inc()
	r.logFinding(f)
}

func (r *shardRun) logFinding(f *Finding) {
	attributes := []any{"table", f.Table, "month", f.Month, "shard", f.Shard, "state", f.State}
	for _, d := range f.Differences {
		attributes = append(attributes, d.Column, d.String())
	}
	for _, o := range f.Offsets {
		attributes = append(attributes, "log", o)
	}
	if f.Surplus > 0 {
		attributes = append(attributes, "surplus", f.Surplus)
	}
	log := r.reconciler.log.With(attributes...)
	switch {
	case f.Surplus > 0 && f.State == Repaired:
		log.Warn("rows that stood twice deleted", "next",
			"nothing: one of each is left; find out whether a server lost power, or a group's offset was set back")
	case f.Surplus > 0 && f.State == Differs:
		log.Error("rows stand twice in a landing table", "next", "run: answerscope reconcile --fix")
	case f.State == Unknown:
		log.Error("rollup not reconciled", "cause", f.Cause, "next", "read the cause; the next run tries again")
	case f.State == Repaired:
		log.Warn("rollup repaired", "next", "nothing: it is as it should be; find out what had happened to it")
	case f.State == Kept:
		log.Error("rollup may have rows that its landing table has lost", "next",
			"see whether landing rows were lost, and restore them; if not, run: answerscope reconcile --fix")
	default:
		log.Error("rollup differs from its landing rows", "next", "run: answerscope reconcile --fix")
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
	register := promauto.With(registerer)
	gauge := func(name, help string) prometheus.Gauge {
		return register.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	return &metrics{
		findings: register.NewCounterVec(prometheus.CounterOpts{
			Name: "answerscope_reconcile_findings_total",
			Help: "Months of a rollup that did not have what their landing rows make, by what became of them.",
		}, []string{"table", "state"}),
		compared: register.NewCounter(prometheus.CounterOpts{
			Name: "answerscope_reconcile_compared_total",
			Help: "Months of a rollup that were compared with their landing rows.",
		}),
		open: gauge("answerscope_reconcile_open",
			"Months of a rollup that the last nightly run of this process found wrong and left so."),
		last: gauge("answerscope_reconcile_last_run_timestamp_seconds",
			"When the last nightly run of this process ended, in Unix time."),
		seconds: gauge("answerscope_reconcile_last_run_seconds",
			"Seconds that the last nightly run of this process took."),
		locked: register.NewHistogram(prometheus.HistogramOpts{
			Name: "answerscope_reconcile_locked_seconds", Help: "Seconds for which the sinks were stopped.",
			Buckets: prometheus.ExponentialBuckets(0.01, 2, 12),
		}),
		broken: register.NewGaugeVec(prometheus.GaugeOpts{
			Name: "answerscope_clickhouse_broken_parts",
			Help: "Parts that ClickHouse could not read and has set aside, as far as this process has looked.",
		}, []string{"table"}),
	}
}

// ended counts a run. Only runs over everything set the gauges.
func (m *metrics) ended(s Scope, r *Report, took time.Duration) {
	m.compared.Add(float64(r.Compared))
	if !s.all() {
		return
	}
	m.open.Set(float64(r.Open))
	m.last.SetToCurrentTime()
	m.seconds.Set(took.Seconds())
}
