package clickhouse

import (
	"context"
	"time"
)

// OutdatedBrand is a brand with the oldest reading that stands of any of its answers.
type OutdatedBrand struct {
	OrganizationID UUID   `ch:"organization_id"`
	BrandID        UUID   `ch:"brand_id"`
	Revision       int64  `ch:"revision"`
	ExtractVersion uint16 `ch:"extract_version"`
}

// A Renewal asks for answers of a brand that stand with a reading older than this one.
type Renewal struct {
	OrganizationID UUID   `ch:"organization"`
	BrandID        UUID   `ch:"brand"`
	Revision       int64  `ch:"reading_revision"`
	ExtractVersion uint16 `ch:"reading_version"`
}

// StaleDay is a day on which answers stand with an older reading.
type StaleDay struct {
	Day     time.Time `ch:"day"`
	Answers uint64    `ch:"answers"`
}

// AnswerPlace is where an answer stands in the order of StaleAnswers; the zero value
// is before all.
type AnswerPlace struct {
	Day time.Time
	ID  UUID
}

// StaleAnswer is an answer that stands with an older reading, and the reading of its
// first row.
type StaleAnswer struct {
	Day            time.Time `ch:"day"`
	ID             UUID      `ch:"id"`
	Revision       int64     `ch:"revision"`
	ExtractVersion uint16    `ch:"extract_version"`
}

type (
	sinceDay struct {
		Since Day `ch:"since"`
	}
	staleDaysParams struct {
		Renewal
		First Day `ch:"first_day"`
		Last  Day `ch:"last_day"`
	}
	staleAnswersParams struct {
		Renewal
		Days     []Day  `ch:"days"`
		AfterDay Day    `ch:"after_day"`
		AfterID  UUID   `ch:"after_id"`
		Most     uint32 `ch:"most"`
	}
)

var (
	staleBrands  = query[sinceDay, OutdatedBrand]("stale_brands")
	staleDays    = query[staleDaysParams, StaleDay]("stale_days")
	staleAnswers = query[staleAnswersParams, StaleAnswer]("stale_answers")
)

// StaleBrands are all brands that have answers of the day since or later.
func StaleBrands(ctx context.Context, conn *Conn, since time.Time) ([]OutdatedBrand, error) {
	return staleBrands.All(ctx, conn, sinceDay{DayOf(since)})
}

// StaleDays are the days from first to last on which a brand has answers to renew,
// in order.
func StaleDays(ctx context.Context, conn *Conn, of Renewal, first, last time.Time) ([]StaleDay, error) {
	return staleDays.All(ctx, conn, staleDaysParams{of, DayOf(first), DayOf(last)})
}

// StaleAnswers are at most most answers to renew on the given days, behind a place,
// in order of their days and, on a day, in the server's order of their ids.
func StaleAnswers(ctx context.Context, conn *Conn, of Renewal, days []time.Time, after AnswerPlace, most int) ([]StaleAnswer, error) {
	if after.Day.IsZero() {
		after.Day = time.Unix(0, 0)
	}
	return staleAnswers.All(ctx, conn, staleAnswersParams{of, daysOf(days), DayOf(after.Day), after.ID, uint32(most)})
}

func daysOf(times []time.Time) []Day {
	days := make([]Day, len(times))
	for i, t := range times {
		days[i] = DayOf(t)
	}
	return days
}
