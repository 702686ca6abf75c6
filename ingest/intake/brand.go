package intake

import (
	"context"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/sql/postgres"
	"github.com/gofrs/uuid/v5"
)

// EnsureBrand returns the organization's brand of spec's slug, and makes it with
// its domains and competitors, all or nothing, when it is missing. One that is there
// stays as it is.
func EnsureBrand(ctx context.Context, db *postgres.DB, organization uuid.UUID, spec BrandSpec) (_ postgres.Brand, added bool, err error) {
	brand := postgres.NewBrand{
		Name: spec.Name, Slug: spec.Slug, Industry: spec.Industry, Region: spec.Region, Language: spec.Language,
		Aliases: spec.Aliases, Domains: spec.Domains,
	}
	for _, c := range spec.Competitors {
		brand.Competitors = append(brand.Competitors, postgres.NewCompetitor{Name: c.Name, Aliases: c.Aliases, Domains: c.Domains})
	}
	return db.AddBrand(ctx, organization, brand)
}

// Snapshot reads for whom a brand's answers are judged now; postgres.ErrNotFound
// if there is no such brand.
func (in *Intake) Snapshot(ctx context.Context, brand uuid.UUID) (Snapshot, error) {
	s, err := in.store.Snapshot(ctx, brand)
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

// Prompt is a stored prompt as an answer's record names it.
func Prompt(p postgres.Prompt) event.Prompt {
	return event.Prompt{ID: p.ID, Text: p.Text, SetID: p.SetID, TopicID: p.TopicID, IsBranded: p.IsBranded}
}
