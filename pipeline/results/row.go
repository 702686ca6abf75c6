package results

import (
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// resultOf converts a landing row.
func resultOf(row *clickhouse.AnswerRow) *postgres.Result {
	result := &postgres.Result{
		ID:             uuid.UUID(row.ID),
		PromptID:       uuid.UUID(row.PromptID),
		BrandID:        uuid.UUID(row.BrandID),
		OrganizationID: uuid.UUID(row.OrganizationID),
		Platform:       row.Platform,
		Model:          row.Model,
		ServedModel:    row.ServedModel,
		Provider:       row.Provider,
		Finish:         row.Finish,
		Region:         row.Region,
		Sample:         row.Sample,
		Response:       row.Text,
		SearchQueries:  row.SearchQueries,
		JobID:          uuid.UUID(row.JobID),
		AnsweredAt:     row.AnsweredAt,
		Revision:       row.Revision,
		ExtractVersion: int(row.ExtractVersion),
		Mentions:       int(row.MentionCount),
		Citations:      int(row.CitationCount),
		Position:       int(row.Position),
		Sentiment:      row.Sentiment,
		Visibility:     int(row.VisibilityScore),
	}
	for i, url := range row.CitationURLs {
		source := postgres.ResultSource{
			URL: url, Title: row.CitationTitles[i], Cited: row.CitationCited[i], Type: row.CitationListedTypes[i],
		}
		switch {
		case row.CitationOwned[i]:
			source.Type = "owned"
		case row.CitationCompetitorIDs[i] != clickhouse.UUID{}:
			source.Type = "competitor"
		}
		result.Sources = append(result.Sources, source)
	}
	for i, id := range row.CompetitorIDs {
		competitor := postgres.ResultCompetitor{
			ID:         uuid.UUID(id),
			Name:       row.CompetitorNames[i],
			Mentions:   int(row.CompetitorMentionCounts[i]),
			Citations:  int(row.CompetitorCitationCounts[i]),
			Visibility: int(row.CompetitorVisibilityScores[i]),
		}
		if position := row.CompetitorPositions[i]; position > 0 {
			competitor.Position = new(int(position))
		}
		result.Competitors = append(result.Competitors, competitor)
	}
	return result
}
