package intake

import (
	"context"

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
