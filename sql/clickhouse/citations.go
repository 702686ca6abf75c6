package clickhouse

// SourceFilter is which citations count, by whose pages they are of.
type SourceFilter string

// The source filters.
const (
	AllSources        SourceFilter = "all"
	OwnedSources      SourceFilter = "owned"
	CompetitorSources SourceFilter = "competitor"
	ExternalSources   SourceFilter = "external" // neither owned nor a competitor's
)

// SourceTypes are of citations: the first of them that applies.
var SourceTypes = []string{"owned", "competitor", "forum", "social", "review", "institutional", "editorial"}

// CitationFilter is a Filter of citations; lists have at most Limit rows.
type CitationFilter struct {
	Filter
	Mentioned []bool       `ch:"mentioned"` // whether the answers mention the brand
	Source    SourceFilter `ch:"source_filter"`
	Limit     uint32       `ch:"limit"`
}

// CitationSources gives what answers cite: one row in all, then the domains and
// the URLs that they cite most, each list by citations descending, then by name.
var CitationSources = rollup[CitationFilter, CitationSource]("citation_sources")

// The facets of a CitationSource.
const (
	AllCitations   = "total"
	CitationDomain = "domain"
	CitationURL    = "url"
)

// CitationSource is what the answers of a window cite, in all, of one domain, or of one URL. A percentage is rounded to
// one decimal, nil where there is nothing to divide by.
type CitationSource struct {
	Facet              string     `ch:"facet"`
	Domain             string     `ch:"domain"`      // registrable; of the domain or URL
	URL                string     `ch:"url"`         // of the URL
	Title              string     `ch:"title"`       // of the URL, "": none has one
	SourceType         string     `ch:"source_type"` // of the domain or URL: the first among its citations
	Models             []string   `ch:"models"`      // requested, of the citing answers, ascending
	Answers            int64      `ch:"answers"`     // of the window, whatever they cite
	Citations          int64      `ch:"citations"`
	CitingAnswers      int64      `ch:"citing_answers"`
	UsagePct           *float64   `ch:"usage_pct"`            // citing answers, of Answers
	CitationsPerAnswer *float64   `ch:"citations_per_answer"` // of Answers
	Domains            uint64     `ch:"domains"`              // in all, on every row
	URLs               uint64     `ch:"urls"`                 // in all, on every row
	SourceTypes        []string   `ch:"source_types"`         // in all: the seven, in their order
	DomainsByType      []uint64   `ch:"domains_by_type"`      // domains of each of SourceTypes
	PctByType          []*float64 `ch:"pct_by_type"`          // of Domains
}
