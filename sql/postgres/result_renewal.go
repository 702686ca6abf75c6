package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/gofrs/uuid/v5"
)

// StaleResult is a result that an earlier reader read.
type StaleResult struct {
	ID             uuid.UUID `db:"id"`
	OrganizationID uuid.UUID `db:"organization_id"`
	CreatedAt      time.Time `db:"created_at"`
}

type (
	readerBefore  struct{ ExtractVersion int }
	resultsBehind struct {
		BrandID        uuid.UUID
		ExtractVersion int
		BehindAt       time.Time
		BehindID       uuid.UUID
		Most           int
	}
	readingRows struct {
		IDs, Brands                    []uuid.UUID // of equal length, as all lists
		Sources                        []string
		Mentions, Citations, Positions []int32
		Sentiments                     []string
		Visibilities                   []int32
		Competitors                    []string
		Revisions                      []int64
		ExtractVersions                []int32
	}
)

var (
	staleResultBrands = query[readerBefore, id]("stale_result_brands")
	staleResults      = query[resultsBehind, StaleResult]("stale_results")
	renewResults      = query[readingRows, none]("renew_results")
)

// StaleResultBrands are the brands that have results of a reader before
// extractVersion.
func (db *DB) StaleResultBrands(ctx context.Context, extractVersion int) ([]uuid.UUID, error) {
	rows, err := staleResultBrands.all(ctx, db, readerBefore{extractVersion})
	if err != nil {
		return nil, fmt.Errorf("find results of readers before %d: %w", extractVersion, err)
	}
	brands := make([]uuid.UUID, len(rows))
	for i, r := range rows {
		brands[i] = r.ID
	}
	return brands, nil
}

// StaleResults are a brand's results of a reader before extractVersion, newest first,
// at most most of them, behind one; nil begins.
func (db *DB) StaleResults(ctx context.Context, brand uuid.UUID, extractVersion int, behind *StaleResult, most int) ([]StaleResult, error) {
	if behind == nil {
		behind = &StaleResult{CreatedAt: afterAll}
	}
	stale, err := staleResults.all(ctx, db, resultsBehind{brand, extractVersion, behind.CreatedAt, behind.ID, most})
	if err != nil {
		return nil, fmt.Errorf("find results of brand %s by readers before %d: %w", brand, extractVersion, err)
	}
	return stale, nil
}

// afterAll is later than any answer.
var afterAll = time.Date(9999, time.December, 31, 0, 0, 0, 0, time.UTC)

// RenewResults gives results that are there the reading given, if it is newer than
// theirs, and says how many. Of a Result only its ids and its reading count.
func (db *DB) RenewResults(ctx context.Context, results []Result) (int64, error) {
	var rows readingRows
	for i := range results {
		rows.add(&results[i])
	}
	renewed, err := renewResults.run(ctx, db, rows)
	if err != nil {
		return 0, fmt.Errorf("renew %d results: %w", len(results), err)
	}
	return renewed, nil
}

func (rows *readingRows) add(r *Result) {
	rows.IDs = append(rows.IDs, r.ID)
	rows.Brands = append(rows.Brands, r.BrandID)
	rows.Sources = append(rows.Sources, r.sources())
	rows.Mentions = append(rows.Mentions, int32(r.Mentions))
	rows.Citations = append(rows.Citations, int32(r.Citations))
	rows.Positions = append(rows.Positions, int32(r.Position))
	rows.Sentiments = append(rows.Sentiments, r.Sentiment)
	rows.Visibilities = append(rows.Visibilities, int32(r.Visibility))
	rows.Competitors = append(rows.Competitors, r.competitors())
	rows.Revisions = append(rows.Revisions, r.Revision)
	rows.ExtractVersions = append(rows.ExtractVersions, int32(r.ExtractVersion))
}
