package clickhouse

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// AnswerKey is what an answer is known by.
type AnswerKey struct {
	OrganizationID UUID
	BrandID        UUID
	ID             UUID
}

// Reading says which names and which extractor judged an answer.
type Reading struct {
	Revision       int64
	ExtractVersion uint16
}

// Older says whether other is the reading of later names, or of the same names by a
// later extractor.
func (r Reading) Older(other Reading) bool {
	if r.Revision != other.Revision {
		return r.Revision < other.Revision
	}
	return r.ExtractVersion < other.ExtractVersion
}

// Below hides from a lookup the rows of one partition at and after Offset.
type Below struct {
	Topic     string
	Partition int32
	Offset    int64
}

type landedParams struct {
	Organizations []UUID `ch:"organizations"`
	Brands        []UUID `ch:"brands"`
	Days          []Day  `ch:"days"`
	IDs           []UUID `ch:"ids"`
	Topic         string `ch:"topic"`
	Partition     int32  `ch:"partition"`
	Below         int64  `ch:"below"`
}

type landedRow struct {
	OrganizationID UUID   `ch:"organization_id"`
	BrandID        UUID   `ch:"brand_id"`
	ID             UUID   `ch:"id"`
	Revision       int64  `ch:"revision"`
	ExtractVersion uint16 `ch:"extract_version"`
}

var (
	landedAnswers   = query[landedParams, landedRow]("landed_answers")
	standingAnswers = query[landedParams, AnswerRow]("standing_answers")
)

// daysAfterDue is how long after the day in its id an answer may be told: a run
// ends within a day of its due time, and the clock of the teller may be a day
// ahead.
const daysAfterDue = 2

// LandedAnswers says which of keys are in the landing table, with the newest
// reading of each, as far as below lets it see. due tells the instant in an id.
func LandedAnswers(ctx context.Context, conn *Conn, keys []AnswerKey, due func(UUID) time.Time, below Below) (map[AnswerKey]Reading, error) {
	landed := make(map[AnswerKey]Reading)
	for some := range slices.Chunk(keys, keysAtOnce) {
		rows, err := landedAnswers.All(ctx, conn, lookUp(some, due, below))
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			landed[AnswerKey{r.OrganizationID, r.BrandID, r.ID}] = Reading{r.Revision, r.ExtractVersion}
		}
	}
	return landed, nil
}

// StandingAnswers are the rows of keys that a correction takes back: each one's
// newest reading, without what stays on the id's first row (text, citations as
// returned, search queries, products, usage). Arguments as of LandedAnswers.
func StandingAnswers(ctx context.Context, conn *Conn, keys []AnswerKey, due func(UUID) time.Time, below Below) (map[AnswerKey]*AnswerRow, error) {
	standing := make(map[AnswerKey]*AnswerRow, len(keys))
	for some := range slices.Chunk(keys, keysAtOnce) {
		rows, err := standingAnswers.All(ctx, conn, lookUp(some, due, below))
		if err != nil {
			return nil, err
		}
		for i := range rows {
			r := &rows[i]
			standing[AnswerKey{r.OrganizationID, r.BrandID, r.ID}] = r
		}
	}
	return standing, nil
}

// keysAtOnce bounds one lookup: over HTTP parameters travel in the address, of
// which the server takes a megabyte, and of one value 128 KB.
const keysAtOnce = 2000

func lookUp(keys []AnswerKey, due func(UUID) time.Time, below Below) landedParams {
	p := landedParams{Topic: below.Topic, Partition: below.Partition, Below: below.Offset}
	for _, key := range keys {
		p.Organizations = append(p.Organizations, key.OrganizationID)
		p.Brands = append(p.Brands, key.BrandID)
		p.IDs = append(p.IDs, key.ID)
		for after := range daysAfterDue + 1 {
			p.Days = append(p.Days, DayOf(due(key.ID).AddDate(0, 0, after)))
		}
	}
	p.Organizations = distinct(p.Organizations, func(a, b UUID) int { return slices.Compare(a[:], b[:]) })
	p.Brands = distinct(p.Brands, func(a, b UUID) int { return slices.Compare(a[:], b[:]) })
	slices.Sort(p.Days)
	p.Days = slices.Compact(p.Days)
	return p
}

func distinct(ids []UUID, compare func(a, b UUID) int) []UUID {
	slices.SortFunc(ids, compare)
	return slices.Compact(ids)
}

type positionParams struct {
	Topic     string `ch:"topic"`
	Partition int32  `ch:"partition"`
}

type positionRow struct {
	LastOffset int64 `ch:"last_offset"`
}

// logProgressed is what a row of log_progress says.
type logProgressed struct {
	Topic     string `ch:"log_topic"`
	Partition int32  `ch:"log_partition"`
	Last      int64  `ch:"last_offset"`
}

var progressed = table[logProgressed]("log_progress")

// MoveLogPosition says of a shard that all has landed up to a record, as the views of
// landing tables do of their rows. Said twice, or when more has landed, it changes nothing.
func MoveLogPosition(ctx context.Context, conn *Conn, to RecordPlace) error {
	return progressed.Insert(ctx, conn, "", []logProgressed{{to.Topic, to.Partition, to.Offset}})
}

var logPosition = query[positionParams, positionRow]("log_position")

// LogPosition is the largest offset of a partition that has landed; ok is false
// when none has.
func LogPosition(ctx context.Context, conn *Conn, topic string, partition int32) (last int64, ok bool, err error) {
	rows, err := logPosition.All(ctx, conn, positionParams{topic, partition})
	if err != nil {
		return 0, false, fmt.Errorf("read position of %s/%d: %w", topic, partition, err)
	}
	if len(rows) == 0 {
		return 0, false, nil
	}
	return rows[0].LastOffset, true, nil
}
