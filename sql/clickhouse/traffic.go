package clickhouse

// TrafficFilter is the brand and the inclusive UTC days that a question about
// visits is about. A visit knows no model, region or topic.
type TrafficFilter struct {
	OrganizationID UUID `ch:"organization_id"`
	BrandID        UUID `ch:"brand_id"`
	DateFrom       Day  `ch:"date_from"`
	DateTo         Day  `ch:"date_to"`
}

// AITraffic gives the views of the window by facet; within one the most visited
// first, then by name in code-point order. Without views it gives nothing.
var AITraffic = rollup[TrafficFilter, Traffic]("ai_traffic")

// The facets of AITraffic: what a row counts the views of.
const (
	FacetTotal    = "total"
	FacetPlatform = "platform"
	FacetPage     = "page" // a path, one of the ten most visited
	FacetCountry  = "country"
)

// Traffic is how many views one platform, path or country brought, or all did.
type Traffic struct {
	Facet  string `ch:"facet"`
	Name   string `ch:"name"` // "" is all, or an unknown country
	Visits int64  `ch:"visits"`
}
