package clickhouse

import (
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// StaleBrand is a brand with the oldest of the current readings of its answers.
type StaleBrand struct {
	OrganizationID UUID `ch:"organization_id"`
	BrandID        UUID `ch:"brand_id"`
	ReadingVersion
	Checksum uint64 `ch:"checksum"` // of all readings: it changes with each that lands
}

// A StaleFilter selects answers of a brand whose current reading is older than this version.
type StaleFilter struct {
	OrganizationID UUID   `ch:"organization"`
	BrandID        UUID   `ch:"brand"`
	Revision       int64  `ch:"reading_revision"`
	ExtractVersion uint16 `ch:"reading_version"`
}

// StaleDay is a day with stale answers.
type StaleDay struct {
	Day     time.Time `ch:"day"`
	Answers uint64    `ch:"answers"`
}

// StaleCursor is the position of an answer in the order of StaleAnswers; the zero value is the start.
type StaleCursor struct {
	Day time.Time
	ID  UUID
}

// StaleAnswer is a stale answer with the reading version of its first row.
type StaleAnswer struct {
	Day time.Time `ch:"day"`
	ID  UUID      `ch:"id"`
	ReadingVersion
}

type (
	sinceDay struct {
		Since Day `ch:"since"`
	}
	staleDaysParams struct {
		StaleFilter
		First Day `ch:"first_day"`
		Last  Day `ch:"last_day"`
	}
	staleAnswersParams struct {
		StaleFilter
		Days     []Day  `ch:"days"`
		AfterDay Day    `ch:"after_day"`
		AfterID  UUID   `ch:"after_id"`
		Limit    uint32 `ch:"most"`
	}
)

var (
	staleBrands  = query[sinceDay, StaleBrand]("stale_brands")
	staleDays    = query[staleDaysParams, StaleDay]("stale_days")
	staleAnswers = query[staleAnswersParams, StaleAnswer]("stale_answers")
)

// StaleBrands returns all brands with answers of the day or later.
func StaleBrands(ctx context.Context, conn *Conn, since time.Time) ([]StaleBrand, error) {
	return staleBrands.All(ctx, conn, sinceDay{DayOf(since)})
}

// StaleDays returns the days from first to last on which a brand has stale answers, in order.
func StaleDays(ctx context.Context, conn *Conn, filter StaleFilter, first, last time.Time) ([]StaleDay, error) {
	return staleDays.All(ctx, conn, staleDaysParams{filter, DayOf(first), DayOf(last)})
}

// StaleAnswers returns at most limit stale answers of some days after a cursor, by day and, on a day, in the server's
// order of ids.
func StaleAnswers(
	ctx context.Context, conn *Conn, filter StaleFilter, days []time.Time, cursor StaleCursor, limit int,
) ([]StaleAnswer, error) {
	if cursor.Day.IsZero() {
		cursor.Day = time.Unix(0, 0)
	}
	return staleAnswers.All(ctx, conn, staleAnswersParams{
		filter, mapSlice(days, DayOf), DayOf(cursor.Day), cursor.ID, uint32(limit),
	})
}

var keptAnswers = query[answersParams, AnswerRow]("kept_answers")

// KeptAnswers passes the first rows of answers to take, in the order of their days and ids; it has a few in memory.
// They have what the platform returned, and of the reading only its version. An error of take stops it.
func KeptAnswers(
	ctx context.Context, conn *Conn, organization, brand UUID, answers []StaleAnswer, take func(*AnswerRow) error,
) error {
	p := answersParams{Organization: organization, Brand: brand}
	first := make(map[UUID]ReadingVersion, len(answers))
	for _, a := range answers {
		if day := DayOf(a.Day); len(p.Days) == 0 || p.Days[len(p.Days)-1] != day {
			p.Days = append(p.Days, day)
		}
		p.IDs = append(p.IDs, a.ID)
		first[a.ID] = a.ReadingVersion
	}
	return keptAnswers.each(ctx, conn, p, clickhouse.Settings{"max_threads": 1}, func(row *AnswerRow) error {
		if first[row.ID] != (ReadingVersion{row.Revision, row.ExtractVersion}) {
			return nil // a correction, which has no texts
		}
		return take(row)
	})
}
