package clickhouse

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Key identifies an answer, a visit or a crawl: ids are unique within a brand. The first 48 bits of an id are a time in
// Unix milliseconds.
type Key struct {
	OrganizationID UUID `ch:"organization_id"`
	BrandID        UUID `ch:"brand_id"`
	ID             UUID `ch:"id"`
}

// Below hides from a lookup the rows of one partition at and after Offset.
type Below struct {
	Topic     string
	Partition int32
	Offset    int64
}

// Reading says which names and which extractor judged an answer.
type Reading struct {
	Revision       int64  `ch:"revision"`
	ExtractVersion uint16 `ch:"extract_version"`
}

// Older says whether other has later names, or the same names and a later extractor.
func (r Reading) Older(other Reading) bool {
	if r.Revision != other.Revision {
		return r.Revision < other.Revision
	}
	return r.ExtractVersion < other.ExtractVersion
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
	landedTimesParams struct {
		landedParams
		Times []uint64 `ch:"times"`
	}
	landedAnswer struct {
		Key
		Reading
	}
)

var (
	landedAnswers  = query[landedParams, landedAnswer]("landed_answers")
	currentAnswers = query[landedParams, AnswerRow]("current_answers")
	landedVisits   = query[landedTimesParams, Key]("landed_visits")
	landedCrawls   = query[landedTimesParams, Key]("landed_crawls")
)

// The days on which a row may be, counted from the day of its id.
const (
	answerDaysAfter = 2 // a run ends within a day of its due time, and the clock of the producer may be a day ahead
	visitDaysBeside = 1 // a visit's time is within 24 hours of that of its id
)

// LandedAnswers says which of keys are in the landing table, with the newest reading of each, as far as below lets it see.
func LandedAnswers(ctx context.Context, conn *Conn, keys []Key, below Below) (map[Key]Reading, error) {
	landed := make(map[Key]Reading)
	err := eachChunk(keys, func(some []Key) error {
		rows, err := landedAnswers.All(ctx, conn, lookUp(some, 0, answerDaysAfter, below))
		for _, r := range rows {
			landed[r.Key] = r.Reading
		}
		return err
	})
	return landed, err
}

// CurrentAnswers are the current rows of keys, without what stays on the id's first row (text, citations as returned,
// search queries, products, usage).
func CurrentAnswers(ctx context.Context, conn *Conn, keys []Key, below Below) (map[Key]*AnswerRow, error) {
	current := make(map[Key]*AnswerRow, len(keys))
	err := eachChunk(keys, func(some []Key) error {
		rows, err := currentAnswers.All(ctx, conn, lookUp(some, 0, answerDaysAfter, below))
		for i := range rows {
			current[rows[i].Origin().Key] = &rows[i]
		}
		return err
	})
	return current, err
}

// LandedVisits says which of keys are in the landing table, as far as below lets it see.
func LandedVisits(ctx context.Context, conn *Conn, keys []Key, below Below) (map[Key]bool, error) {
	return landedByTime(ctx, conn, landedVisits, keys, visitDaysBeside, below)
}

// LandedCrawls says which of keys are in the landing table, as far as below lets it see.
func LandedCrawls(ctx context.Context, conn *Conn, keys []Key, below Below) (map[Key]bool, error) {
	return landedByTime(ctx, conn, landedCrawls, keys, 0, below)
}

func landedByTime(ctx context.Context, conn *Conn, question Query[landedTimesParams, Key], keys []Key, beside int, below Below) (map[Key]bool, error) {
	landed := make(map[Key]bool)
	err := eachChunk(keys, func(some []Key) error {
		params := landedTimesParams{landedParams: lookUp(some, beside, beside, below)}
		for _, key := range some {
			params.Times = append(params.Times, uint64(idTime(key.ID).UnixMilli()))
		}
		slices.Sort(params.Times)
		params.Times = slices.Compact(params.Times)
		rows, err := question.All(ctx, conn, params)
		for _, key := range rows {
			landed[key] = true
		}
		return err
	})
	return landed, err
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
func lookUp(keys []Key, before, after int, below Below) landedParams {
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

type lastVisitsParams struct {
	Topic     string `ch:"topic"`
	Partition int32  `ch:"partition"`
	From      int64  `ch:"from"`
	Below     int64  `ch:"below"`
}

var lastVisits = query[lastVisitsParams, Key]("last_visits")

// LastVisits are the visits that landed from the last offsets of a partition below an offset, in their order on the log.
func LastVisits(ctx context.Context, conn *Conn, offsets int64, below Below) ([]Key, error) {
	rows, err := lastVisits.All(ctx, conn, lastVisitsParams{below.Topic, below.Partition, below.Offset - offsets, below.Offset})
	if err != nil {
		return nil, fmt.Errorf("read last visits of %s/%d: %w", below.Topic, below.Partition, err)
	}
	return rows, nil
}

type newestVisitRow struct {
	Newest uint64 `ch:"newest"`
}

var newestVisit = query[struct{}, newestVisitRow]("newest_visit")

// NewestVisit is the latest time in the id of any visit that has landed; ok is false when none has.
func NewestVisit(ctx context.Context, conn *Conn) (at time.Time, ok bool, err error) {
	rows, err := newestVisit.All(ctx, conn, struct{}{})
	if err != nil || len(rows) == 0 {
		return time.Time{}, false, err
	}
	return time.UnixMilli(int64(rows[0].Newest)).UTC(), true, nil
}
