package clickhouse

import (
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// StaleBrand is a brand with the oldest current reading of its answers.
type StaleBrand struct {
	OrganizationID UUID `ch:"organization_id"`
	BrandID        UUID `ch:"brand_id"`
	ReadingVersion
}

// A StaleFilter asks for answers of a brand whose current reading is older than this one.
type StaleFilter struct {
	OrganizationID UUID   `ch:"organization"`
	BrandID        UUID   `ch:"brand"`
	Revision       int64  `ch:"reading_revision"`
	ExtractVersion uint16 `ch:"reading_version"`
}

// StaleDay is a day with answers whose current reading is older.
type StaleDay struct {
	Day     time.Time `ch:"day"`
	Answers uint64    `ch:"answers"`
}

// StaleCursor is the position of an answer in the order of StaleAnswers; the zero value is before all.
type StaleCursor struct {
	Day time.Time
	ID  UUID
}

// StaleAnswer is an answer whose current reading is older, with the reading of its first row.
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
		Most     uint32 `ch:"most"`
	}
)

var (
	staleBrands  = query[sinceDay, StaleBrand]("stale_brands")
	staleDays    = query[staleDaysParams, StaleDay]("stale_days")
	staleAnswers = query[staleAnswersParams, StaleAnswer]("stale_answers")
)

// StaleBrands are all brands that have answers of the day since or later.
func StaleBrands(ctx context.Context, conn *Conn, since time.Time) ([]StaleBrand, error) {
	return staleBrands.All(ctx, conn, sinceDay{DayOf(since)})
}

// StaleDays are the days from first to last on which a brand has answers to renew, in order.
func StaleDays(ctx context.Context, conn *Conn, of StaleFilter, first, last time.Time) ([]StaleDay, error) {
	return staleDays.All(ctx, conn, staleDaysParams{of, DayOf(first), DayOf(last)})
}

// StaleAnswers are at most most answers to renew on the given days, after a cursor, in order of their days and, on a
// day, in the server's order of their ids.
func StaleAnswers(ctx context.Context, conn *Conn, of StaleFilter, days []time.Time, after StaleCursor, most int) ([]StaleAnswer, error) {
	if after.Day.IsZero() {
		after.Day = time.Unix(0, 0)
	}
	return staleAnswers.All(ctx, conn, staleAnswersParams{of, texts(days, DayOf), DayOf(after.Day), after.ID, uint32(most)})
}

type keptParams struct {
	OrganizationID UUID   `ch:"organization"`
	BrandID        UUID   `ch:"brand"`
	Days           []Day  `ch:"days"`
	IDs            []UUID `ch:"ids"`
}

var keptAnswers = query[keptParams, AnswerRow]("kept_answers")

// KeptAnswers gives the first rows of answers to take, one after the other, in order of their days and ids; it holds a
// few at a time. They have what was returned and no reading but its revision and version. An error of take ends it.
func KeptAnswers(ctx context.Context, conn *Conn, organization, brand UUID, answers []StaleAnswer, take func(*AnswerRow) error) error {
	p := keptParams{OrganizationID: organization, BrandID: brand}
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
