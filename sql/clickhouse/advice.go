package clickhouse

import (
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// textQuery declares a query that reads texts. The server has few of them in memory.
func textQuery[P, R any](name string) Query[P, R] {
	q := query[P, R](name)
	q.settings = clickhouse.Settings{}
	for _, setting := range []string{
		"max_threads", "max_block_size", "aggregation_in_order_max_block_bytes", "max_bytes_before_external_sort",
	} {
		q.settings[setting] = exportSettings[setting]
	}
	return q
}

type adviceTextsFilter struct {
	ExportFilter
	Competitors []UUID `ch:"competitors"`
}

// AdviceText is an answer's text with its question.
type AdviceText struct {
	ID           UUID   `ch:"id"`
	PromptID     UUID   `ch:"prompt_id"`
	PromptText   string `ch:"prompt_text"`
	Platform     string `ch:"platform"`
	Language     string `ch:"language"`
	Text         string `ch:"text"`
	NamesBrand   bool   `ch:"names_brand"`
	NamesTracked bool   `ch:"names_tracked"` // the brand or a live competitor
}

var adviceTexts = textQuery[adviceTextsFilter, AdviceText]("advice_texts")

// AdviceTexts passes the texts of a brand's answers to take, by day and id; neither side has more than some of them in
// memory.
func AdviceTexts(
	ctx context.Context, conn *Conn, filter ExportFilter, competitors []UUID, take func(*AdviceText) error,
) error {
	return adviceTexts.each(ctx, conn, adviceTextsFilter{filter, competitors}, nil, take)
}

// CardBrand is an untracked brand of products.
type CardBrand struct {
	Name  string `ch:"product_brand"`
	Lists uint64 `ch:"lists"` // product lists that show one
}

// AdviceCards returns the untracked brands of products, the most frequent first.
var AdviceCards = query[ExportFilter, CardBrand]("advice_cards")

// NamesFilter is an ExportFilter of the answers whose texts have some names.
type NamesFilter struct {
	ExportFilter
	Names []string `ch:"names"` // at most 255
}

// NameCount is a name with the number of answers whose texts have it as it is written.
type NameCount struct {
	Name    string `ch:"name"`
	Answers int64  `ch:"answers"`
}

// AdviceNameCounts counts the answers of each name that any text has, as many as GET /api/v1/answers lists.
var AdviceNameCounts = textQuery[NamesFilter, NameCount]("advice_name_counts")

// DomainsFilter is an ExportFilter of the pages of some domains.
type DomainsFilter struct {
	ExportFilter
	Domains []string `ch:"domains"` // registrable
}

// AdviceNames returns a row for each domain and prompt, by domain, then by prompt.
var AdviceNames = query[ExportFilter, PromptNames]("advice_names")

// PromptNames counts whom the answers to a prompt name: all answers, or those that cite a domain's pages of others.
type PromptNames struct {
	Domain       string  `ch:"domain"` // registrable; "": all answers
	PromptID     UUID    `ch:"prompt_id"`
	Answers      int64   `ch:"answers"`
	BrandAnswers int64   `ch:"brand_answers"`
	OnlyRivals   int64   `ch:"only_rivals"`   // name a live competitor and not the brand
	Unnamed      int64   `ch:"unnamed"`       // do not name the brand, and cite any page of the domain
	Rivals       []UUID  `ch:"rivals"`        // live competitors, without those that none names
	RivalAnswers []int64 `ch:"rival_answers"` // of each of Rivals
	Prompts      uint64  `ch:"prompt_count"`  // of the domain, on each of its rows
	CriticalT    float64 `ch:"critical_t"`    // of Prompts, for 95 %; 0 under 5
}

// AdvicePages returns at most five pages of each domain, by domain, then by OnlyRivals descending, then by URL.
var AdvicePages = query[DomainsFilter, CitedPage]("advice_pages")

// CitedPage is a page that answers cite which name a live competitor and not the brand.
type CitedPage struct {
	Domain     string `ch:"domain"`
	URL        string `ch:"url"`
	Title      string `ch:"title"`       // "": none
	OnlyRivals int64  `ch:"only_rivals"` // such answers
	SourceType string `ch:"source_type"` // of the domain
}

var adviceSearches = query[ExportFilter, SearchingAnswer]("advice_searches")

// AdviceSearches passes the answers for which platforms issued searches to take, the newest first.
func AdviceSearches(ctx context.Context, conn *Conn, filter ExportFilter, take func(*SearchingAnswer) error) error {
	return adviceSearches.each(ctx, conn, filter, nil, take)
}

// SearchingAnswer has the searches that a platform issued for an answer.
type SearchingAnswer struct {
	Platform string    `ch:"asked_platform"`
	Day      time.Time `ch:"day"`
	PromptID UUID      `ch:"prompt"`
	Named    bool      `ch:"named"` // the answer names the brand
	Searches []string  `ch:"searches"`
}

// OwnedPages returns the pages of the brand's site that are crawled, cited or visited, by name.
var OwnedPages = query[ExportFilter, OwnedPage]("owned_pages")

// OwnedPage counts what AI platforms do with a page of the brand's site.
type OwnedPage struct {
	Page      string `ch:"page" json:"page"`             // host and path
	Crawls    int64  `ch:"crawls" json:"crawls"`         // of purpose search or user, answered with status 200
	CrawlDays int64  `ch:"crawl_days" json:"crawl_days"` // with any
	Citations int64  `ch:"citations" json:"citations"`   // answers that cite it as the brand's
	Listed    int64  `ch:"listed" json:"-"`              // answers that cite it
	Visits    int64  `ch:"visits" json:"visits"`
}
