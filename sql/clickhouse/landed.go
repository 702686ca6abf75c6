package clickhouse

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// Key identifies an answer, a visit or a crawl: ids are unique within a brand. The first 48 bits of an id are a time in
// Unix milliseconds.
type Key struct {
	OrganizationID UUID `ch:"organization_id"`
	BrandID        UUID `ch:"brand_id"`
	ID             UUID `ch:"id"`
}

// landings has each landing table by its name.
var landings = map[string]landingTable{}

// landingTable has what differs between the queries of landing tables.
type landingTable struct {
	key    string                        // columns in which no two rows are equal, unless a batch was inserted twice
	export Query[ExportFilter, struct{}] // exported_<table>; the server formats its rows, so no Go type has them
}

// factKey finds a row by the primary key of tables that are sorted by the time in their ids.
const factKey = "organization_id, brand_id, day, toUInt64(bitShiftRight(toUInt128(id), 80)), id"

// landing declares the landing table of the topic of its name.
func landing[R any](t Table[R], key string) Table[R] {
	landings[t.Name] = landingTable{key, query[ExportFilter, struct{}]("exported_" + t.Name)}
	return t
}

// LogLimit hides the rows of one partition at and after a position from a lookup: the replay of a batch must find the
// same rows as its first attempt.
type LogLimit LogPosition

// A ReadingVersion identifies the names and the extractor by which an answer was read.
type ReadingVersion struct {
	Revision       int64  `ch:"revision"`
	ExtractVersion uint16 `ch:"extract_version"`
}

// Older reports whether other has later names, or the same names and a later extractor.
func (v ReadingVersion) Older(other ReadingVersion) bool {
	if v.Revision != other.Revision {
		return v.Revision < other.Revision
	}
	return v.ExtractVersion < other.ExtractVersion
}

type (
	landedParams struct {
		Organizations []UUID `ch:"organizations"`
		Brands        []UUID `ch:"brands"`
		Days          []Day  `ch:"days"`
		IDs           []UUID `ch:"ids"`
		Topic         string `ch:"topic"`
		Partition     int32  `ch:"partition"`
		Below         int64  `ch:"below"`
	}
	landedFactParams struct {
		landedParams
		Table string   `ch:"table"`
		Times []uint64 `ch:"times"`
	}
	landedAnswer struct {
		Key
		ReadingVersion
		Counted int64 `ch:"counted"`
	}
)

var (
	landedAnswers  = query[landedParams, landedAnswer]("landed_answers")
	currentAnswers = query[landedParams, AnswerRow]("current_answers")
)

// The days of possible rows, relative to the day of the id.
const (
	answerDaysAfter = 2 // a run ends within a day of its due time, and the clock of the producer may be a day ahead
	visitDaysAround = 1 // the time of a visit is within 24 hours of the time in its id; a crawl has the time of its id
)

// LandedAnswers returns the keys that have landed below the limit, with the version of the newest reading.
func LandedAnswers(ctx context.Context, conn *Conn, keys []Key, limit LogLimit) (map[Key]ReadingVersion, error) {
	return lookUpAnswers(ctx, conn, landedAnswers, keys, limit, func(r *landedAnswer) (Key, ReadingVersion) {
		return r.Key, r.ReadingVersion
	})
}

// CountedAnswers returns the keys that have landed below the limit: true where the first row has landed, too.
func CountedAnswers(ctx context.Context, conn *Conn, keys []Key, limit LogLimit) (map[Key]bool, error) {
	return lookUpAnswers(ctx, conn, landedAnswers, keys, limit, func(r *landedAnswer) (Key, bool) {
		return r.Key, r.Counted > 0
	})
}

// CurrentAnswers returns the current rows of keys below the limit. Columns that only the first row of an id has are
// empty: text, returned citations, search queries, products and usage.
func CurrentAnswers(ctx context.Context, conn *Conn, keys []Key, limit LogLimit) (map[Key]*AnswerRow, error) {
	return lookUpAnswers(ctx, conn, currentAnswers, keys, limit, func(r *AnswerRow) (Key, *AnswerRow) {
		return r.Key(), r
	})
}

func lookUpAnswers[R, V any](
	ctx context.Context, conn *Conn, q Query[landedParams, R], keys []Key, limit LogLimit, entry func(*R) (Key, V),
) (map[Key]V, error) {
	landed := make(map[Key]V, len(keys))
	for chunk := range slices.Chunk(keys, keysPerLookup) {
		rows, err := q.All(ctx, conn, lookUp(chunk, 0, answerDaysAfter, limit))
		if err != nil {
			return landed, err
		}
		for i := range rows {
			key, value := entry(&rows[i])
			landed[key] = value
		}
	}
	return landed, nil
}

// Landed returns the keys that have landed below the limit, in a table that is sorted by the time in its ids.
func (t Table[R]) Landed(ctx context.Context, conn *Conn, keys []Key, limit LogLimit) (map[Key]bool, error) {
	const text = `
SELECT DISTINCT organization_id, brand_id, id
FROM {table:Identifier}
WHERE organization_id IN {organizations:Array(UUID)}
  AND brand_id IN {brands:Array(UUID)}
  AND day IN {days:Array(Date)}
  AND toUInt64(bitShiftRight(toUInt128(id), 80)) IN {times:Array(UInt64)}
  AND id IN {ids:Array(UUID)}
  AND NOT (log_topic = {topic:String} AND log_partition = {partition:Int32} AND log_offset >= {below:Int64})`
	around := map[string]int{"visits": visitDaysAround}[t.Name]
	q := Query[landedFactParams, Key]{Name: "landed_" + t.Name, Text: text}
	landed := make(map[Key]bool)
	for chunk := range slices.Chunk(keys, keysPerLookup) {
		params := landedFactParams{landedParams: lookUp(chunk, around, around, limit), Table: t.Name}
		for _, key := range chunk {
			params.Times = append(params.Times, uint64(idTime(key.ID).UnixMilli()))
		}
		slices.Sort(params.Times)
		params.Times = slices.Compact(params.Times)
		rows, err := q.All(ctx, conn, params)
		if err != nil {
			return landed, err
		}
		for _, key := range rows {
			landed[key] = true
		}
	}
	return landed, nil
}

// keysPerLookup bounds one lookup: over HTTP the server takes a megabyte of parameters, and 128 KB for each.
const keysPerLookup = 2000

// lookUp returns the parameters for keys whose rows are some days before to some days after the day of the id.
func lookUp(keys []Key, daysBefore, daysAfter int, limit LogLimit) landedParams {
	p := landedParams{Topic: limit.Topic, Partition: limit.Partition, Below: limit.Offset}
	days := map[Day]bool{}
	for _, key := range keys {
		p.Organizations = append(p.Organizations, key.OrganizationID)
		p.Brands = append(p.Brands, key.BrandID)
		p.IDs = append(p.IDs, key.ID)
		for n := -daysBefore; n <= daysAfter; n++ {
			days[DayOf(idTime(key.ID).AddDate(0, 0, n))] = true
		}
	}
	p.Days = slices.Sorted(maps.Keys(days))
	p.Organizations, p.Brands = distinct(p.Organizations), distinct(p.Brands)
	return p
}

func distinct(ids []UUID) []UUID {
	slices.SortFunc(ids, func(a, b UUID) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(ids)
}

func idTime(id UUID) time.Time {
	return time.UnixMilli(int64(binary.BigEndian.Uint64(id[:8]) >> 16)).UTC()
}

// A RowMonth is a month in which a record has rows.
type RowMonth struct {
	Offset int64 `ch:"log_offset"`
	Month  Month `ch:"month"`
}

// LandedMonths returns the records between two positions of one partition, both included, that have rows in a shard's
// landing table, with the month of the rows. Only the given months, which are sorted, can have rows.
func (t Table[R]) LandedMonths(
	ctx context.Context, conn *Conn, from, to LogPosition, months []Month,
) (map[RowMonth]bool, error) {
	if err := conn.Settle(ctx); err != nil {
		return nil, err
	}
	const text = `
SELECT DISTINCT log_offset, toYYYYMM(day) AS month
FROM {table:Identifier}
WHERE log_topic = {topic:String}
  AND log_partition = {partition:Int32}
  AND log_offset BETWEEN {first:Int64} AND {last:Int64}
  AND toYYYYMM(day) BETWEEN {from:UInt32} AND {to:UInt32}
SETTINGS log_comment = 'landed of batch'`
	var rows []RowMonth
	err := conn.Select(ctx, &rows, text, clickhouse.Named("table", conn.Local(t.Name)),
		clickhouse.Named("topic", from.Topic), clickhouse.Named("partition", from.Partition),
		clickhouse.Named("first", from.Offset), clickhouse.Named("last", to.Offset),
		clickhouse.Named("from", uint32(months[0])), clickhouse.Named("to", uint32(months[len(months)-1])))
	if err != nil {
		return nil, fmt.Errorf("look in %s for rows of %s to %d: %w", t.Name, from, to.Offset, err)
	}
	landed := make(map[RowMonth]bool, len(rows))
	for _, r := range rows {
		landed[r] = true
	}
	return landed, nil
}
