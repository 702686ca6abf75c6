package mirror

import (
	"fmt"

	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// rows are changes as rows of the dimension tables.
type rows struct {
	brands      []clickhouse.DimensionBrand
	competitors []clickhouse.DimensionCompetitor
	prompts     []clickhouse.DimensionPrompt
	topics      []clickhouse.DimensionTopic
}

func (r *rows) add(c *postgres.Change) error {
	organization, brand := clickhouse.UUID(c.OrganizationID), clickhouse.UUID(c.BrandID)
	id, version := clickhouse.UUID(c.RowID), uint64(c.ID)
	switch c.Kind {
	case "brand":
		r.brands = append(r.brands, clickhouse.DimensionBrand{
			OrganizationID: organization, ID: id,
			Name: c.Row.Name, Slug: c.Row.Slug, Aliases: c.Row.Aliases, Domains: c.Row.Domains,
			Industry: c.Row.Industry, Region: c.Row.Region, Language: c.Row.Language,
			Revision: c.Row.Revision, IsActive: c.Row.IsActive, Version: version, Deleted: c.Deleted,
		})
	case "competitor":
		r.competitors = append(r.competitors, clickhouse.DimensionCompetitor{
			OrganizationID: organization, BrandID: brand, ID: id,
			Name: c.Row.Name, Aliases: c.Row.Aliases, Domains: c.Row.Domains, Version: version, Deleted: c.Deleted,
		})
	case "prompt":
		r.prompts = append(r.prompts, clickhouse.DimensionPrompt{
			OrganizationID: organization, BrandID: brand, ID: id, TopicID: clickhouse.OrNil(c.Row.TopicID),
			Text: c.Row.Text, IsBranded: c.Row.IsBranded, IsActive: c.Row.IsActive, Version: version, Deleted: c.Deleted,
		})
	case "topic":
		r.topics = append(r.topics, clickhouse.DimensionTopic{
			OrganizationID: organization, BrandID: brand, ID: id,
			Name: c.Row.Name, IsActive: c.Row.IsActive, Version: version, Deleted: c.Deleted,
		})
	default:
		return fmt.Errorf("mirror change %d: unknown kind %q; upgrade this build", c.ID, c.Kind)
	}
	return nil
}
