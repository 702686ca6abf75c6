package clickhouse

import (
	"context"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// A Suspect is the first record of a batch whose plan had expired when it was inserted: some rollups of the month may have
// taken the batch before, and others not.
type Suspect struct {
	Landing string `ch:"landing"` // table whose rollups these are
	Month   Month  `ch:"month"`
	LogPosition
}

var suspectRecords = query[struct{}, Suspect]("suspect_records")

// Suspects are those whose month was not reconciled since. What was to be inserted of their batches has been.
func Suspects(ctx context.Context, conn *Conn) ([]Suspect, error) {
	return suspectRecords.All(ctx, conn, struct{}{})
}

// SuspectFrom marks the months in which a landing table has rows of a partition from a record on.
func SuspectFrom(ctx context.Context, conn *Conn, landing string, from LogPosition) error {
	var months []uint32
	const monthsFrom = `
SELECT groupUniqArray(toYYYYMM(day))
FROM {table:Identifier}
WHERE log_topic = {topic:String} AND log_partition = {partition:Int32} AND log_offset >= {offset:Int64}`
	err := conn.QueryRow(ctx, monthsFrom, clickhouse.Named("table", landing), clickhouse.Named("topic", from.Topic),
		clickhouse.Named("partition", from.Partition), clickhouse.Named("offset", from.Offset)).Scan(&months)
	if err != nil {
		return fmt.Errorf("read months of %s from %s on: %w", landing, from, err)
	}
	var marks []RecordMark
	for _, month := range months {
		marks = append(marks, RecordMark{from, MarkExpired, landing, Month(month)})
	}
	return MarkRecords(ctx, conn, marks)
}

// ClearSuspects marks the months of suspects as reconciled: all rollups of their landing tables were found right there, or
// were repaired, after the suspects were listed.
func ClearSuspects(ctx context.Context, conn *Conn, suspects []Suspect) error {
	var marks []RecordMark
	for _, s := range suspects {
		marks = append(marks, RecordMark{s.LogPosition, MarkReconciled, s.Landing, s.Month})
	}
	return MarkRecords(ctx, conn, marks)
}
