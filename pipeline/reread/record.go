package reread

import (
	"encoding/json"
	"fmt"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// record is a kept answer as it was appended first, but with current names.
func record(kept *clickhouse.AnswerRow, names *postgres.Snapshot, extractVersion int) (*event.Answer, error) {
	a := &event.Answer{
		V:              event.Version,
		ID:             uuid.UUID(kept.ID),
		OrganizationID: names.OrganizationID,
		Brand: event.Brand{
			Entity:   event.Entity{ID: names.BrandID, Name: names.Name, Aliases: names.Aliases, Domains: names.Domains},
			Revision: names.Revision,
		},
		Prompt: event.Prompt{
			ID:        uuid.UUID(kept.PromptID),
			Text:      kept.PromptText,
			SetID:     uuid.UUID(kept.PromptSetID),
			TopicID:   unlessNil(kept.TopicID),
			IsBranded: kept.IsBranded,
		},
		Platform:      kept.Platform,
		Model:         kept.Model,
		ServedModel:   kept.ServedModel,
		Region:        kept.Region,
		Language:      kept.Language,
		Surface:       event.Surface(kept.Surface),
		Sample:        kept.Sample,
		JobID:         unlessNil(kept.JobID),
		Simulated:     kept.Simulated,
		AnsweredAt:    event.At(kept.AnsweredAt),
		LatencyMS:     kept.LatencyMS,
		Attempts:      int(kept.Attempts),
		Finish:        event.Finish(kept.Finish),
		Text:          kept.Text,
		SearchQueries: kept.SearchQueries,
		Usage:         usage(kept),
		Reread:        &event.Reread{MinExtractVersion: extractVersion},
	}
	for _, c := range names.Competitors {
		a.Competitors = append(a.Competitors, event.Entity{ID: c.ID, Name: c.Name, Aliases: c.Aliases, Domains: c.Domains})
	}
	for i, url := range kept.RawCitationURLs {
		a.Citations = append(a.Citations, event.Citation{URL: url, Title: kept.RawCitationTitles[i], Cited: kept.RawCitationCited[i]})
	}
	if kept.RawProducts != "" {
		if err := json.Unmarshal([]byte(kept.RawProducts), &a.Products); err != nil {
			return nil, fmt.Errorf("read products of answer %s: %w", a.ID, err)
		}
	}
	if kept.GivenUp {
		a.GivenUp = &event.GivenUp{Class: kept.GivenUpClass, Error: kept.GivenUpError}
	}
	return a, nil
}

// usage is nil where the record had none.
func usage(kept *clickhouse.AnswerRow) *event.Usage {
	if kept.InputTokens == 0 && kept.OutputTokens == 0 && kept.Searches == 0 && kept.CostUSD.IsZero() {
		return nil
	}
	u := &event.Usage{InputTokens: kept.InputTokens, OutputTokens: kept.OutputTokens, Searches: kept.Searches}
	if !kept.CostUSD.IsZero() {
		u.CostUSD = kept.CostUSD.String()
	}
	return u
}

func unlessNil(id clickhouse.UUID) *uuid.UUID {
	if id == (clickhouse.UUID{}) {
		return nil
	}
	u := uuid.UUID(id)
	return &u
}
