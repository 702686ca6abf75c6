package results

import (
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/pipeline/extract"
	"github.com/answerscope/answerscope/sql/postgres"
)

// rowOf is the row of an answer and its reading.
func rowOf(a *event.Answer, r *extract.Reading, version int) *postgres.Result {
	row := &postgres.Result{
		ID:             a.ID,
		PromptID:       a.Prompt.ID,
		BrandID:        a.Brand.ID,
		OrganizationID: a.OrganizationID,
		Platform:       a.Platform,
		Model:          a.Model,
		ServedModel:    a.ServedModel,
		Region:         a.Region,
		Sample:         a.Sample,
		Response:       a.Text,
		SearchQueries:  a.SearchQueries,
		AnsweredAt:     a.AnsweredAt.Time,
		Revision:       a.Brand.Revision,
		ExtractVersion: version,
		Mentions:       int(r.Brand.Mentions),
		Citations:      int(r.Brand.Citations),
		Position:       int(r.Brand.Position),
		Sentiment:      string(r.Brand.Sentiment),
		Visibility:     int(r.Brand.VisibilityScore),
	}
	if a.JobID != nil {
		row.JobID = *a.JobID
	}
	for i := range r.Citations {
		c := &r.Citations[i]
		row.Sources = append(row.Sources, postgres.ResultSource{URL: c.URL, Title: c.Title, Cited: c.Cited, Type: sourceType(c.Owned, c.CompetitorID, c.Listed)})
	}
	for i, c := range r.Competitors {
		row.Competitors = append(row.Competitors, postgres.ResultCompetitor{
			ID:         c.ID,
			Name:       a.Competitors[i].Name,
			Mentions:   int(c.Mentions),
			Citations:  int(c.Citations),
			Visibility: int(c.VisibilityScore),
			Position:   unlessZero(c.Position),
		})
	}
	return row
}

func sourceType(owned bool, competitor uuid.UUID, listed extract.SourceType) string {
	switch {
	case owned:
		return "owned"
	case competitor != uuid.Nil:
		return "competitor"
	}
	return string(listed)
}

func unlessZero(position uint32) *int {
	if position == 0 {
		return nil
	}
	return new(int(position))
}
