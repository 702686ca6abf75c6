package results

import (
	"context"
	"fmt"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/pipeline/extract"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// renewedAtOnce bounds one statement.
const renewedAtOnce = 500

// Renew gives results that an earlier reader read the reading that stands in the
// warehouse. At an upgrade the two groups are not at one place of the log: what this
// one had read before it and the sink reads after it is told again by nobody.
func (r *Results) Renew(ctx context.Context) error {
	brands, err := r.db.OutdatedResultBrands(ctx, r.cfg.ExtractVersion)
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
		stale, err := r.db.OutdatedResults(ctx, brand, r.cfg.ExtractVersion, last, renewedAtOnce)
		if err != nil || len(stale) == 0 {
			return err
		}
		last = &stale[len(stale)-1]
		if err := r.renew(ctx, brand, stale); err != nil {
			return err
		}
	}
}

func (r *Results) renew(ctx context.Context, brand uuid.UUID, stale []postgres.OutdatedResult) error {
	keys := make([]clickhouse.AnswerKey, len(stale))
	for i, s := range stale {
		keys[i] = clickhouse.AnswerKey{OrganizationID: clickhouse.UUID(s.OrganizationID), BrandID: clickhouse.UUID(brand), ID: clickhouse.UUID(s.ID)}
	}
	standing, err := clickhouse.StandingAnswers(ctx, r.warehouse, keys, due, clickhouse.Below{})
	if err != nil {
		return err
	}
	var readings []postgres.Result
	for _, row := range standing {
		readings = append(readings, readingOf(row))
	}
	renewed, err := r.db.RenewResults(ctx, readings)
	r.metrics.renewed.Add(float64(renewed))
	return err
}

func due(id clickhouse.UUID) time.Time { return event.IDTime(uuid.UUID(id)) }

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
		c := extract.CitationReading{
			Listed: extract.SourceType(row.CitationListedTypes[i]), Owned: row.CitationOwned[i], CompetitorID: uuid.UUID(row.CitationCompetitorIDs[i]),
		}
		r.Sources = append(r.Sources, postgres.ResultSource{URL: url, Title: row.CitationTitles[i], Cited: row.CitationCited[i], Type: sourceType(&c)})
	}
	for i, id := range row.CompetitorIDs {
		r.Competitors = append(r.Competitors, postgres.ResultCompetitor{
			ID: uuid.UUID(id), Name: row.CompetitorNames[i], Mentions: int(row.CompetitorMentionCounts[i]), Citations: int(row.CompetitorCitationCounts[i]),
			Visibility: int(row.CompetitorVisibilityScores[i]), Position: unlessZero(row.CompetitorPositions[i]),
		})
	}
	return r
}
