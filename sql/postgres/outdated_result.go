package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/gofrs/uuid/v5"
)

// OutdatedResult is a result with a reading by an earlier extractor.
type OutdatedResult struct {
	ID             uuid.UUID `db:"id"`
	OrganizationID uuid.UUID `db:"organization_id"`
	CreatedAt      time.Time `db:"created_at"`
}

type (
	extractVersionBefore struct{ ExtractVersion int }
	outdatedResultsAfter struct {
		BrandID        uuid.UUID
		ExtractVersion int
		AfterAt        time.Time
		AfterID        uuid.UUID
		Most           int
	}
)

var (
	outdatedResultBrands = query[extractVersionBefore, id]("outdated_result_brands")
	outdatedResults      = query[outdatedResultsAfter, OutdatedResult]("outdated_results")
	renewResults         = query[struct{ Rows string }, none]("renew_results")
)

// OutdatedResultBrands are the brands that have results of an extractor before extractVersion.
func (db *DB) OutdatedResultBrands(ctx context.Context, extractVersion int) ([]uuid.UUID, error) {
	rows, err := outdatedResultBrands.all(ctx, db, extractVersionBefore{extractVersion})
	if err != nil {
		return nil, fmt.Errorf("find results of extractors before %d: %w", extractVersion, err)
	}
	brands := make([]uuid.UUID, len(rows))
	for i, r := range rows {
		brands[i] = r.ID
	}
	return brands, nil
}

// OutdatedResults are a brand's results of an extractor before extractVersion, newest first, at most most of them, that
// come after one of them; nil starts.
func (db *DB) OutdatedResults(ctx context.Context, brand uuid.UUID, extractVersion int, after *OutdatedResult, most int) ([]OutdatedResult, error) {
	if after == nil {
		after = &OutdatedResult{CreatedAt: time.Date(9999, time.December, 31, 0, 0, 0, 0, time.UTC)}
	}
	outdated, err := outdatedResults.all(ctx, db, outdatedResultsAfter{brand, extractVersion, after.CreatedAt, after.ID, most})
	return outdated, wrap(err, "find results of brand %s by extractors before %d", brand, extractVersion)
}

// RenewResults updates the readings of results where the given ones are newer, and returns how many it updated. Of a
// Result only its ids and its reading count.
func (db *DB) RenewResults(ctx context.Context, results []Result) (int64, error) {
	rows, err := rowsOf(results)
	if err != nil {
		return 0, err
	}
	renewed, err := renewResults.run(ctx, db, struct{ Rows string }{rows})
	return renewed, wrap(err, "renew %d results", len(results))
}
