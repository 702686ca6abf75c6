package answer

import (
	"context"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Snapshot is a brand with its competitors at the time of a run. Names and revision are read together.
type Snapshot struct {
	OrganizationID uuid.UUID
	Brand          event.Brand
	Competitors    []event.Entity
}

// ReadSnapshot reads the current snapshot of a brand; postgres.ErrNotFound if there is no such brand.
func ReadSnapshot(ctx context.Context, db *postgres.DB, brand uuid.UUID) (Snapshot, error) {
	s, err := db.Snapshot(ctx, brand)
	if err != nil {
		return Snapshot{}, err
	}
	snapshot := Snapshot{
		OrganizationID: s.OrganizationID,
		Brand:          event.Brand{Entity: event.Entity{ID: s.BrandID, Name: s.Name, Aliases: s.Aliases, Domains: s.Domains}, Revision: s.Revision},
	}
	for _, c := range s.Competitors {
		snapshot.Competitors = append(snapshot.Competitors, event.Entity{ID: c.ID, Name: c.Name, Aliases: c.Aliases, Domains: c.Domains})
	}
	return snapshot, nil
}

// Prompt is the record's part of a stored prompt.
func Prompt(p postgres.Prompt) event.Prompt {
	return event.Prompt{ID: p.ID, Text: p.Text, SetID: p.SetID, TopicID: p.TopicID, IsBranded: p.IsBranded}
}
