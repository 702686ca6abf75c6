package clickhouse

// The dimension tables, mirrored from Postgres. The newest Version of an id wins; Deleted hides it.
var (
	DimensionBrands      = table[DimensionBrand]("dimension_brands")
	DimensionCompetitors = table[DimensionCompetitor]("dimension_competitors")
	DimensionPrompts     = table[DimensionPrompt]("dimension_prompts")
	DimensionTopics      = table[DimensionTopic]("dimension_topics")
)

// DimensionBrand is a row of dimension_brands.
type DimensionBrand struct {
	OrganizationID UUID     `ch:"organization_id"`
	ID             UUID     `ch:"id"`
	Name           string   `ch:"name"`
	Slug           string   `ch:"slug"`
	Aliases        []string `ch:"aliases"`
	Domains        []string `ch:"domains"`
	Industry       string   `ch:"industry"`
	Region         string   `ch:"region"`
	Language       string   `ch:"language"`
	Revision       int64    `ch:"revision"`
	IsActive       bool     `ch:"is_active"`
	Version        uint64   `ch:"version"`
	Deleted        bool     `ch:"deleted"`
}

// DimensionCompetitor is a row of dimension_competitors.
type DimensionCompetitor struct {
	OrganizationID UUID     `ch:"organization_id"`
	BrandID        UUID     `ch:"brand_id"`
	ID             UUID     `ch:"id"`
	Name           string   `ch:"name"`
	Aliases        []string `ch:"aliases"`
	Domains        []string `ch:"domains"`
	Version        uint64   `ch:"version"`
	Deleted        bool     `ch:"deleted"`
}

// DimensionPrompt is a row of dimension_prompts.
type DimensionPrompt struct {
	OrganizationID UUID   `ch:"organization_id"`
	BrandID        UUID   `ch:"brand_id"`
	ID             UUID   `ch:"id"`
	TopicID        UUID   `ch:"topic_id"` // nil: none
	Text           string `ch:"text"`
	IsBranded      *bool  `ch:"is_branded"`
	IsActive       bool   `ch:"is_active"`
	Version        uint64 `ch:"version"`
	Deleted        bool   `ch:"deleted"`
}

// DimensionTopic is a row of dimension_topics.
type DimensionTopic struct {
	OrganizationID UUID   `ch:"organization_id"`
	BrandID        UUID   `ch:"brand_id"`
	ID             UUID   `ch:"id"`
	Name           string `ch:"name"`
	IsActive       bool   `ch:"is_active"`
	Version        uint64 `ch:"version"`
	Deleted        bool   `ch:"deleted"`
}
