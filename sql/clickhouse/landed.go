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

// landingTable is what questions about landing tables differ in.
type landingTable struct {
	key    string                        // no two rows are equal in these columns, unless a batch was inserted twice
	export Query[ExportFilter, struct{}] // exported_<table>; the server formats its rows, so no Go type has them
}

// factKey finds a row by the primary key of tables that are sorted by the time in their ids.
const factKey = "organization_id, brand_id, day, toUInt64(bitShiftRight(toUInt128(id), 80)), id"

// landing declares a table to be the landing table of the topic of its name.
func landing[R any](t Table[R], key string) Table[R] {
	landings[t.Name] = landingTable{key, query[ExportFilter, struct{}]("exported_" + t.Name)}
	return t
}

// LogLimit hides from a lookup the rows of one partition at and after a position.
type LogLimit LogPosition

// A ReadingVersion says which names and which extractor judged an answer.
type ReadingVersion struct {
	Revision       int64  `ch:"revision"`
	ExtractVersion uint16 `ch:"extract_version"`
}

// Older says whether other has later names, or the same names and a later extractor.
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

// The days on which a row may be, counted from the day of its id.
const (
	answerDaysAfter = 2 // a run ends within a day of its due time, and the clock of the producer may be a day ahead
	factDaysBeside  = 1 // the time of a visit or crawl is within 24 hours of that of its id
)

// LandedAnswers says which of keys are in the landing table, with the version of the newest reading of each, as far as
// below lets it see.
func LandedAnswers(ctx context.Context, conn *Conn, keys []Key, below LogLimit) (map[Key]ReadingVersion, error) {
	landed := make(map[Key]ReadingVersion)
	err := eachChunk(keys, func(some []Key) error {
		rows, err := landedAnswers.All(ctx, conn, lookUp(some, 0, answerDaysAfter, below))
		for _, r := range rows {
			landed[r.Key] = r.ReadingVersion
		}
		return err
	})
	return landed, err
}

// CountedAnswers says which of keys are in the landing table with their first row, as far as below lets it see.
func CountedAnswers(ctx context.Context, conn *Conn, keys []Key, below LogLimit) (map[Key]bool, error) {
	counted := make(map[Key]bool)
	err := eachChunk(keys, func(some []Key) error {
		rows, err := landedAnswers.All(ctx, conn, lookUp(some, 0, answerDaysAfter, below))
		for _, r := range rows {
			counted[r.Key] = r.Counted > 0
		}
		return err
	})
	return counted, err
}

// CurrentAnswers are the current rows of keys, without what stays on the id's first row (text, citations as returned,
// search queries, products, usage).
func CurrentAnswers(ctx context.Context, conn *Conn, keys []Key, below LogLimit) (map[Key]*AnswerRow, error) {
	current := make(map[Key]*AnswerRow, len(keys))
	err := eachChunk(keys, func(some []Key) error {
		rows, err := currentAnswers.All(ctx, conn, lookUp(some, 0, answerDaysAfter, below))
		for i := range rows {
			current[rows[i].Key()] = &rows[i]
		}
		return err
	})
	return current, err
}

// Landed says which of keys are in the landing table, as far as below lets it see. Rows at or after below are hidden:
// the replay of a batch must find what its first try found. The table is sorted by the time in its ids.
func (t Table[R]) Landed(ctx context.Context, conn *Conn, keys []Key, below LogLimit) (map[Key]bool, error) {
	const question = `
SELECT DISTINCT organization_id, brand_id, id
FROM {table:Identifier}
WHERE organization_id IN {organizations:Array(UUID)}
  AND brand_id IN {brands:Array(UUID)}
  AND day IN {days:Array(Date)}
  AND toUInt64(bitShiftRight(toUInt128(id), 80)) IN {times:Array(UInt64)}
  AND id IN {ids:Array(UUID)}
  AND NOT (log_topic = {topic:String} AND log_partition = {partition:Int32} AND log_offset >= {below:Int64})`
	landed := make(map[Key]bool)
	err := eachChunk(keys, func(some []Key) error {
		params := landedFactParams{landedParams: lookUp(some, factDaysBeside, factDaysBeside, below), Table: t.Name}
		for _, key := range some {
			params.Times = append(params.Times, uint64(idTime(key.ID).UnixMilli()))
		}
		slices.Sort(params.Times)
		params.Times = slices.Compact(params.Times)
		rows, err := Query[landedFactParams, Key]{Name: "landed_" + t.Name, Text: question}.All(ctx, conn, params)
		for _, key := range rows {
			landed[key] = true
		}
		return err
	})
	return landed, err
}

type landedFactParams struct {
	landedParams
	Table string   `ch:"table"`
	Times []uint64 `ch:"times"`
}

// eachChunk looks keys up some at a time.
func eachChunk(keys []Key, lookUp func([]Key) error) error {
	for some := range slices.Chunk(keys, keysAtOnce) {
		if err := lookUp(some); err != nil {
			return err
		}
	}
	return nil
}

// keysAtOnce bounds one lookup: over HTTP the server takes a megabyte of parameters, and 128 KB of one.
const keysAtOnce = 2000

// lookUp asks for keys on the days from so many before that of each id to so many after it.
func lookUp(keys []Key, before, after int, below LogLimit) landedParams {
	p := landedParams{Topic: below.Topic, Partition: below.Partition, Below: below.Offset}
	days := map[Day]bool{}
	for _, key := range keys {
		p.Organizations = append(p.Organizations, key.OrganizationID)
		p.Brands = append(p.Brands, key.BrandID)
		p.IDs = append(p.IDs, key.ID)
		for n := -before; n <= after; n++ {
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

// LandedMonths says where a shard's landing table has rows of the records from one position to another of the same
// partition, both included. They can have rows from the first to the last of some months alone.
func (t Table[R]) LandedMonths(ctx context.Context, conn *Conn, from, to LogPosition, months []Month) (map[RowMonth]bool, error) {
	if err := conn.CatchUp(ctx); err != nil {
		return nil, err
	}
	const between = `
SELECT DISTINCT log_offset, toYYYYMM(day) AS month
FROM {table:Identifier}
WHERE log_topic = {topic:String} AND log_partition = {partition:Int32} AND log_offset BETWEEN {first:Int64} AND {last:Int64} AND toYYYYMM(day) BETWEEN {from:UInt32} AND {to:UInt32}
SETTINGS log_comment = 'landed of batch'`
	var rows []RowMonth
	err := conn.Select(ctx, &rows, between, clickhouse.Named("table", conn.Local(t.Name)), clickhouse.Named("topic", from.Topic),
		clickhouse.Named("partition", from.Partition), clickhouse.Named("first", from.Offset), clickhouse.Named("last", to.Offset),
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
