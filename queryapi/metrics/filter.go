package metrics

import (
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// common are the parameters of every metrics endpoint. An empty list lets everything pass.
type common struct {
	brandID   uuid.UUID
	window    window
	platforms []string
	models    []string
	regions   []string
	topics    []clickhouse.UUID
	branded   []bool
}

// common reads the common parameters; now decides which days are meant where none are given.
func (q *query) common(now time.Time) common {
	c := common{
		brandID:   q.requiredID("brand_id", "the id of a brand that GET /api/v1/brands lists, a UUID"),
		window:    q.window(now),
		platforms: q.list("platform", "platform slugs separated by commas"),
		models:    q.list("model", "model slugs separated by commas"),
	}
	if region, ok := q.text("region", "a region, or no such parameter for all"); ok {
		c.regions = []string{region}
	}
	if topic := q.id("topic_id", "the id of a topic, a UUID"); topic != nil {
		c.topics = []clickhouse.UUID{clickhouse.UUID(*topic)}
	}
	switch q.oneOf("branded", "all", "true", "false") {
	case "true":
		c.branded = []bool{true}
	case "false":
		c.branded = []bool{false}
	}
	return c
}

// filter is what c asks the warehouse for. The organization is the caller's, whatever the query string says.
func (c common) filter(organization uuid.UUID) clickhouse.Filter {
	return clickhouse.Filter{
		OrganizationID: clickhouse.UUID(organization), BrandID: clickhouse.UUID(c.brandID),
		DateFrom: dateOf(c.window.from), DateTo: dateOf(c.window.to), Platforms: c.platforms, Models: c.models,
		Regions: c.regions, Topics: c.topics, Branded: c.branded,
	}
}
