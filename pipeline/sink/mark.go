package sink

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// mark records what the insert itself does not: progress on the log that no view records, suspect months, and metrics.
func (in *insertion[R]) mark(ctx context.Context) error {
	if last, ok := in.progress(); ok {
		if err := clickhouse.AdvanceLog(ctx, in.conn, in.position(last)); err != nil {
			return err
		}
	}
	if in.batch.Repeated && len(in.rows) > 0 { // after the insert, so that reconcile then finds all rows of the batch
		table, first := in.sink.topic.table.Name, in.position(in.batch.First)
		if err := clickhouse.MarkSuspects(ctx, in.conn, table, first, monthsOf(in.rows)); err != nil {
			return err
		}
	}
	if in.cached != nil {
		partition := clickhouse.TopicPartition{Topic: in.batch.Topic, Partition: in.batch.Partition}
		in.sink.cache.put(partition, in.cached.advance(in.batch.Last+1))
	}
	in.shard.metrics.count(len(in.rows), in.outcomes, in.deadLetters)
	if len(in.deadLetters) > 0 { // one line for a batch, even if all of it is garbage
		first := &in.deadLetters[0]
		in.sink.log.Warn("dead letters", "batch", in.batch.String(), "count", len(in.deadLetters),
			"first", first.LogOffset, "reason", first.Reason, "cause", first.Detail,
			"next", "in the morning: answerscope deadletters list")
	}
	return nil
}

// progress is the offset up to which everything has landed. ok is true if no view records it: for dead letters after
// the last row, and for rows that a repeated batch does not insert.
func (in *insertion[R]) progress() (last int64, ok bool) {
	lastDead, lastRow := int64(-1), int64(-1)
	if n := len(in.deadLetters); n > 0 {
		lastDead = in.deadLetters[n-1].LogOffset
	}
	if n := len(in.rows); n > 0 {
		lastRow = in.rows[n-1].Offset()
	}
	return max(lastDead, lastRow), lastDead > lastRow || in.batch.Repeated && lastRow >= 0
}

// An outcome is the result of a record that could be decoded.
type outcome int

const (
	inserted  outcome = iota
	duplicate         // its id had landed: dropped
	corrected         // a reread that was inserted
	outdated          // a reread of an unknown id, or one whose current row is as new: dropped
	dropped           // of a brand or an organization that was deleted
)

// outcomes counts the records of a batch.
type outcomes [len(outcomeNames)]int

var outcomeNames = [...]string{
	inserted: "inserted", duplicate: "duplicate", corrected: "corrected", outdated: "outdated", dropped: "deleted",
}

type metrics struct {
	rows        prometheus.Counter
	records     *prometheus.CounterVec
	deadLetters *prometheus.CounterVec
}

func newMetrics(registerer prometheus.Registerer, table string) *metrics {
	labels := prometheus.Labels{"table": table}
	register := promauto.With(registerer)
	return &metrics{
		rows: register.NewCounter(prometheus.CounterOpts{
			Name: "answerscope_sink_rows_total", Help: "Rows inserted into a landing table.", ConstLabels: labels,
		}),
		records: register.NewCounterVec(prometheus.CounterOpts{
			Name: "answerscope_sink_records_total", ConstLabels: labels,
			Help: "Records that were decoded, by outcome: inserted, duplicate (dropped: the id had landed), " +
				"corrected (a reread that was inserted), outdated (a reread that changes nothing: dropped), " +
				"deleted (dropped: of a brand or an organization that was deleted).",
		}, []string{"outcome"}),
		deadLetters: register.NewCounterVec(prometheus.CounterOpts{
			Name: "answerscope_sink_deadletters_total", ConstLabels: labels,
			Help: "Records that became dead letters, by reason: malformed, month frozen.",
		}, []string{"reason"}),
	}
}

// count counts a batch that was inserted.
func (m *metrics) count(rows int, outcomes outcomes, deadLetters []clickhouse.DeadLetter) {
	m.rows.Add(float64(rows))
	for name, n := range outcomes {
		m.records.WithLabelValues(outcomeNames[name]).Add(float64(n))
	}
	for i := range deadLetters {
		m.deadLetters.WithLabelValues(deadLetters[i].Reason).Inc()
	}
}
