package postgres

import (
	"context"
	"math/big"
	"strings"
	"time"

	"github.com/gofrs/uuid/v5"
)

// TrackingDay has the runs of a brand's jobs that were started on a UTC day, on one platform.
type TrackingDay struct {
	BrandID  uuid.UUID `db:"brand_id"`
	Day      time.Time `db:"day"`
	Platform string    `db:"platform"`
	Runs     int64     `db:"runs"`
	NotShown int64     `db:"not_shown"` // seen without an answer
	GivenUp  int64     `db:"given_up"`
	Cost     string    `db:"cost"` // of the ended runs, in US dollars; an estimate where a platform reports no usage
}

// TrackingSpending returns the days from one to another, both included, of some brands, brand by brand. Jobs are
// deleted 90 days after they ended.
func (db *DB) TrackingSpending(
	ctx context.Context, organization uuid.UUID, from, to time.Time, brands ...uuid.UUID,
) ([]TrackingDay, error) {
	return queryAll[TrackingDay](ctx, db, "tracking_spending", organization, brands, from, to)
}

// TotalCost adds up the costs of days.
func TotalCost(days []TrackingDay) string {
	sum := new(big.Rat)
	for _, d := range days {
		if cost, ok := new(big.Rat).SetString(d.Cost); ok {
			sum.Add(sum, cost)
		}
	}
	return Decimal(sum)
}

// Decimal returns an amount of money with up to nine decimals, without trailing zeros.
func Decimal(amount *big.Rat) string {
	return strings.TrimSuffix(strings.TrimRight(amount.FloatString(9), "0"), ".")
}

// PlatformProgress has the runs of a job on a platform. The rate and the time that is left are the job's, nil until 20
// runs have ended.
type PlatformProgress struct {
	Platform      string   `db:"platform" json:"platform"`
	Answered      int64    `db:"answered" json:"answered"`
	NotShown      int64    `db:"not_shown" json:"not_shown"` // of those
	GivenUp       int64    `db:"given_up" json:"given_up"`
	Waiting       int64    `db:"waiting" json:"waiting"`
	RatePerMinute *float64 `db:"rate_per_minute" json:"-"`
	MinutesLeft   *int     `db:"minutes_left" json:"-"`
}

// TrackingProgress returns a row for each platform of a job as of an instant, none of an unknown job.
func (db *DB) TrackingProgress(
	ctx context.Context, organization, job uuid.UUID, now time.Time,
) ([]PlatformProgress, error) {
	return queryAll[PlatformProgress](ctx, db, "tracking_progress", organization, job, now)
}
