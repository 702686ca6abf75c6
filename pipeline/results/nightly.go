package results

import (
	"context"
	"fmt"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/pipeline/extract"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

const (
	prunedAtOnce  = 1000 // rows that one statement deletes at most
	renewedAtOnce = 500  // rows that one statement updates at most
)

// Prune deletes the rows that are older than kept and not the newest of their prompt and platform.
func (r *Results) Prune(ctx context.Context) error {
	var all int64
	defer func() { r.log.Info("results pruned", "rows", all) }()
	for {
		n, err := r.pruneSome(ctx)
		if err != nil {
			return err
		}
		all += n
		r.metrics.pruned.Add(float64(n))
		if n < prunedAtOnce {
			return nil
		}
	}
}

func (r *Results) pruneSome(ctx context.Context) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	return r.db.PruneResults(ctx, r.now().Add(-kept), prunedAtOnce)
}

// Renew takes the readings of an earlier extractor's rows from the warehouse, where they are newer there. At an upgrade
// the sink and this group are at different offsets: no reread comes for an answer that this one read before the upgrade
// and the sink after it.
func (r *Results) Renew(ctx context.Context) error {
	brands, err := r.db.OutdatedResultBrands(ctx, r.extractVersion)
	if err != nil {
		return err
	}
	for _, brand := range brands {
		if err := r.renewBrand(ctx, brand); err != nil {
			return fmt.Errorf("renew results of brand %s: %w", brand, err)
		}
	}
	return nil
}

func (r *Results) renewBrand(ctx context.Context, brand uuid.UUID) error {
	var last *postgres.OutdatedResult
	for {
		outdated, err := r.db.OutdatedResults(ctx, brand, r.extractVersion, last, renewedAtOnce)
		if err != nil || len(outdated) == 0 {
			return err
		}
		last = &outdated[len(outdated)-1]
		if err := r.renewSome(ctx, brand, outdated); err != nil {
			return err
		}
	}
}

func (r *Results) renewSome(ctx context.Context, brand uuid.UUID, outdated []postgres.OutdatedResult) error {
	keys := make([]clickhouse.Key, len(outdated))
	for i, o := range outdated {
		keys[i] = clickhouse.Key{
			OrganizationID: clickhouse.UUID(o.OrganizationID), BrandID: clickhouse.UUID(brand), ID: clickhouse.UUID(o.ID),
		}
	}
	current, err := clickhouse.CurrentAnswers(ctx, r.warehouse, keys, clickhouse.LogLimit{})
	if err != nil {
		return err
	}
	var readings []postgres.Result
	for _, row := range current {
		readings = append(readings, readingOf(row))
	}
	renewed, err := r.db.RenewResults(ctx, readings)
	r.metrics.renewed.Add(float64(renewed))
	return err
}

// readingOf is the reading of a row of the warehouse.
func readingOf(row *clickhouse.AnswerRow) postgres.Result {
	r := postgres.Result{
		ID:             uuid.UUID(row.ID),
		BrandID:        uuid.UUID(row.BrandID),
		Revision:       row.Revision,
		ExtractVersion: int(row.ExtractVersion),
		Mentions:       int(row.MentionCount),
		Citations:      int(row.CitationCount),
		Position:       int(row.Position),
		Sentiment:      row.Sentiment,
		Visibility:     int(row.VisibilityScore),
	}
	for i, url := range row.CitationURLs {
		kind := sourceType(row.CitationOwned[i], uuid.UUID(row.CitationCompetitorIDs[i]), extract.SourceType(row.CitationListedTypes[i]))
		r.Sources = append(r.Sources, postgres.ResultSource{URL: url, Title: row.CitationTitles[i], Cited: row.CitationCited[i], Type: kind})
	}
	for i, id := range row.CompetitorIDs {
		r.Competitors = append(r.Competitors, postgres.ResultCompetitor{
			ID:         uuid.UUID(id),
			Name:       row.CompetitorNames[i],
			Mentions:   int(row.CompetitorMentionCounts[i]),
			Citations:  int(row.CompetitorCitationCounts[i]),
			Visibility: int(row.CompetitorVisibilityScores[i]),
			Position:   unlessZero(row.CompetitorPositions[i]),
		})
	}
	return r
}
