package clickhouse

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// A RowPlace is where a row of a landing table stands, and which record it is of.
type RowPlace struct {
	OrganizationID UUID
	BrandID        UUID
	ID             UUID
	Day            time.Time // UTC midnight
	Record         RecordPlace
}

// Month is the row's as 202603.
func (p RowPlace) Month() uint32 { return uint32(p.Day.Year()*100 + int(p.Day.Month())) }

// Place is where the row stands.
func (r AnswerRow) Place() RowPlace {
	return RowPlace{r.OrganizationID, r.BrandID, r.ID, r.Day, RecordPlace{r.LogTopic, r.LogPartition, r.LogOffset}}
}

// Withdraw deletes from a landing table the rows of records that are not to be in it,
// all of one partition of the log, and returns when no lookup finds them any more. It
// leaves the table's tokens, and what views made of the rows. Rows that are not there
// are no error.
func (t Table[R]) Withdraw(ctx context.Context, conn *Conn, places []RowPlace) error {
	months := map[uint32][]RowPlace{}
	for _, p := range places {
		months[p.Month()] = append(months[p.Month()], p)
	}
	for month, places := range months {
		condition := of(places)
		var there uint64
		err := conn.QueryRow(ctx, "SELECT count() FROM "+conn.Local(t.Name)+" WHERE "+condition).Scan(&there)
		if err == nil && there > 0 { // a deletion looks at every part of the month
			settings := clickhouse.WithSettings(clickhouse.Settings{"lightweight_deletes_sync": 1, "log_comment": "withdraw " + t.Name})
			err = conn.Exec(clickhouse.Context(ctx, settings), fmt.Sprintf("DELETE FROM %s IN PARTITION ID '%d' WHERE %s", conn.Local(t.Name), month, condition))
		}
		if err != nil {
			return fmt.Errorf("withdraw %d records from %s: %w", len(places), t.Name, err)
		}
	}
	return nil
}

// A RowMonth is a month in which a record has rows.
type RowMonth struct {
	Offset int64  `ch:"log_offset"`
	Month  uint32 `ch:"month"` // as 202603
}

// RowMonth is the record and the month of the row.
func (p RowPlace) RowMonth() RowMonth { return RowMonth{p.Record.Offset, p.Month()} }

// Between says where a shard's landing table has rows of the records from one place to
// another of the same partition, both included, among some months.
func (t Table[R]) Between(ctx context.Context, conn *Conn, from, to RecordPlace, months []uint32) (map[RowMonth]bool, error) {
	if err := conn.CatchUp(ctx); err != nil {
		return nil, err
	}
	const between = `
SELECT DISTINCT log_offset, toYYYYMM(day) AS month
FROM {table:Identifier}
WHERE log_topic = {topic:String} AND log_partition = {partition:Int32} AND log_offset BETWEEN {first:Int64} AND {last:Int64} AND toYYYYMM(day) IN {months:Array(UInt32)}
SETTINGS log_comment = 'landed of batch'`
	params := struct {
		Table     string   `ch:"table"`
		Topic     string   `ch:"topic"`
		Partition int32    `ch:"partition"`
		First     int64    `ch:"first"`
		Last      int64    `ch:"last"`
		Months    []uint32 `ch:"months"`
	}{conn.Local(t.Name), from.Topic, from.Partition, from.Offset, to.Offset, months}
	var rows []RowMonth
	if err := conn.Select(ctx, &rows, between, bind(params)...); err != nil {
		return nil, fmt.Errorf("look in %s for rows of %s to %d: %w", t.Name, from, to.Offset, err)
	}
	landed := make(map[RowMonth]bool, len(rows))
	for _, r := range rows {
		landed[r] = true
	}
	return landed, nil
}

// of is fulfilled by the rows of some records of one partition; what comes first in
// the sorting keys leads to them.
func of(places []RowPlace) string {
	var organizations, brands, days, offsets []string
	for _, p := range places {
		organizations = append(organizations, "'"+p.OrganizationID.String()+"'")
		brands = append(brands, "'"+p.BrandID.String()+"'")
		days = append(days, "'"+string(DayOf(p.Day))+"'")
		offsets = append(offsets, fmt.Sprint(p.Record.Offset))
	}
	one := func(of []string) string {
		slices.Sort(of)
		return strings.Join(slices.Compact(of), ", ")
	}
	at := places[0].Record
	return fmt.Sprintf("organization_id IN (%s) AND brand_id IN (%s) AND day IN (%s) AND log_topic = %s AND log_partition = %d AND log_offset IN (%s)",
		one(organizations), one(brands), one(days), quote(at.Topic), at.Partition, one(offsets))
}

// samples are places in a landing table from which TryLanded takes rows.
var samples = []int{0, 100, 10_000}

// TryLanded sends rows that landed below a batch into a twin, one after the other,
// and returns the error of the last one when the twin takes none of them. What has
// landed once and is refused now tells that the tables and views are others now, or
// wrong; a table without rows tells nothing.
func (t Table[R]) TryLanded(ctx context.Context, conn *Conn, twin string, below Below) error {
	var refused error
	for _, n := range samples {
		row := fmt.Sprintf("FROM %s WHERE NOT (log_topic = %s AND log_partition = %d AND log_offset >= %d) LIMIT 1 OFFSET %d",
			conn.Local(t.Name), quote(below.Topic), below.Partition, below.Offset, n)
		var there uint64
		if err := conn.QueryRow(ctx, "SELECT count() FROM (SELECT 1 "+row+")").Scan(&there); err != nil {
			return fmt.Errorf("look for landed rows of %s: %w", t.Name, err)
		}
		if there == 0 {
			break
		}
		settings := clickhouse.WithSettings(insertSettings("landed"))
		err := conn.Exec(clickhouse.Context(ctx, settings), fmt.Sprintf("INSERT INTO %s.%s SELECT * %s", quoted(twin), conn.Local(t.Name), row))
		if err == nil {
			return nil
		}
		refused = fmt.Errorf("try a landed row of %s: %w", t.Name, err)
		if BlameOf(err) == NotRows {
			break
		}
	}
	return refused
}
