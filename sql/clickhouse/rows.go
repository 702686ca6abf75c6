package clickhouse

import (
	"time"

	"github.com/shopspring/decimal"
)

// The landing tables of answers and crawls, and the dimension tables, which the mirror copies from PostgreSQL. In a
// dimension the newest Version of an id counts, and Deleted hides it.
var (
	Answers = landing(table[AnswerRow]("answers"),
		"organization_id, brand_id, day, id, revision, extract_version, sign")
	Crawls = landing(table[CrawlRow]("crawls"), factKey)

	DimensionBrands      = table[DimensionBrand]("dimension_brands")
	DimensionCompetitors = table[DimensionCompetitor]("dimension_competitors")
	DimensionPrompts     = table[DimensionPrompt]("dimension_prompts")
	DimensionTopics      = table[DimensionTopic]("dimension_topics")
)

// AnswerRow is a row of the landing table answers: an answer as a platform returned it, and its reading. The nil UUID
// and 0 stand for none.
type AnswerRow struct {
	OrganizationID UUID      `ch:"organization_id"`
	BrandID        UUID      `ch:"brand_id"`
	Day            time.Time `ch:"day"` // UTC midnight of AnsweredAt
	ID             UUID      `ch:"id"`
	Sign           int8      `ch:"sign"`
	Revision       int64     `ch:"revision"`
	ExtractVersion uint16    `ch:"extract_version"`
	LogTopic       string    `ch:"log_topic"`
	LogPartition   int32     `ch:"log_partition"`
	LogOffset      int64     `ch:"log_offset"`

	AnsweredAt  time.Time `ch:"answered_at"`
	Platform    string    `ch:"platform"`
	Model       string    `ch:"model"`
	ServedModel string    `ch:"served_model"`
	Provider    string    `ch:"provider"`
	Region      string    `ch:"region"`
	Language    string    `ch:"language"`
	Surface     string    `ch:"surface"`
	Sample      int64     `ch:"sample"`
	PromptID    UUID      `ch:"prompt_id"`
	PromptSetID UUID      `ch:"prompt_set_id"`
	TopicID     UUID      `ch:"topic_id"`
	PromptText  string    `ch:"prompt_text"`
	IsBranded   *bool     `ch:"is_branded"`
	Branded     bool      `ch:"branded"`
	JobID       UUID      `ch:"job_id"`
	Simulated   bool      `ch:"simulated"`

	GivenUp      bool   `ch:"given_up"`
	GivenUpClass string `ch:"given_up_class"`
	GivenUpError string `ch:"given_up_error"`
	Attempts     uint32 `ch:"attempts"`
	LatencyMS    int64  `ch:"latency_ms"`
	Finish       string `ch:"finish"`

	Text              string          `ch:"text"`
	SearchQueries     []string        `ch:"search_queries"`
	RawCitationURLs   []string        `ch:"raw_citations.url"`
	RawCitationTitles []string        `ch:"raw_citations.title"`
	RawCitationCited  []bool          `ch:"raw_citations.cited"`
	RawProducts       string          `ch:"raw_products"` // JSON
	InputTokens       int64           `ch:"input_tokens"`
	OutputTokens      int64           `ch:"output_tokens"`
	Searches          int64           `ch:"searches"`
	CostUSD           decimal.Decimal `ch:"cost_usd"`

	BrandName       string `ch:"brand_name"`
	MentionCount    uint32 `ch:"mention_count"`
	Position        uint32 `ch:"position"`
	CitationCount   uint32 `ch:"citation_count"`
	VisibilityScore uint8  `ch:"visibility_score"`
	Sentiment       string `ch:"sentiment"`
	SentimentMethod string `ch:"sentiment_method"`

	CompetitorIDs              []UUID   `ch:"competitors.id"`
	CompetitorNames            []string `ch:"competitors.name"`
	CompetitorMentionCounts    []uint32 `ch:"competitors.mention_count"`
	CompetitorPositions        []uint32 `ch:"competitors.position"`
	CompetitorCitationCounts   []uint32 `ch:"competitors.citation_count"`
	CompetitorVisibilityScores []uint16 `ch:"competitors.visibility_score"`
	CompetitorSentiments       []string `ch:"competitors.sentiment"`

	CitationURLs          []string `ch:"citations.url"`
	CitationTitles        []string `ch:"citations.title"`
	CitationCited         []bool   `ch:"citations.cited"`
	CitationHosts         []string `ch:"citations.host"`
	CitationDomains       []string `ch:"citations.domain"`
	CitationListedTypes   []string `ch:"citations.listed_type"`
	CitationOwned         []bool   `ch:"citations.owned"`
	CitationCompetitorIDs []UUID   `ch:"citations.competitor_id"`

	CardColumns
}

// CardColumns has the shopping cards of an answer, a column for each field.
type CardColumns struct {
	CardPositions       []uint32           `ch:"cards.position"`
	CardTitles          []string           `ch:"cards.title"`
	CardBrands          []string           `ch:"cards.brand"`
	CardPriceAmounts    []*decimal.Decimal `ch:"cards.price_amount"`
	CardPriceCurrencies []string           `ch:"cards.price_currency"`
	CardImageURLs       []string           `ch:"cards.image_url"`
	CardMerchants       []string           `ch:"cards.merchant"`
	CardMerchantURLs    []string           `ch:"cards.merchant_url"`
	CardMerchantDomains []string           `ch:"cards.merchant_domain"`
	CardRatings         []*float64         `ch:"cards.rating"`
	CardReviewCounts    []*int64           `ch:"cards.review_count"`
	CardMatchedIDs      []UUID             `ch:"cards.matched_id"`
	CardRoles           []string           `ch:"cards.role"`
}

// Key identifies the answer.
func (r AnswerRow) Key() Key { return Key{r.OrganizationID, r.BrandID, r.ID} }

// Month is the partition of the row.
func (r AnswerRow) Month() Month { return MonthOf(r.Day) }

// Offset is the offset of the record.
func (r AnswerRow) Offset() int64 { return r.LogOffset }

// CrawlRow is a row of the landing table crawls: one request of an AI crawler.
type CrawlRow struct {
	OrganizationID UUID      `ch:"organization_id"`
	BrandID        UUID      `ch:"brand_id"`
	Day            time.Time `ch:"day"` // of At; the id has the same time
	ID             UUID      `ch:"id"`
	LogTopic       string    `ch:"log_topic"`
	LogPartition   int32     `ch:"log_partition"`
	LogOffset      int64     `ch:"log_offset"`

	At        time.Time `ch:"at"`
	Crawler   string    `ch:"crawler"`
	Operator  string    `ch:"operator"`
	Platform  string    `ch:"platform"`
	Purpose   string    `ch:"purpose"`
	Host      string    `ch:"host"`
	Path      string    `ch:"path"`
	Status    uint16    `ch:"status"`
	Bytes     int64     `ch:"bytes"`
	Verified  *bool     `ch:"verified"` // nil: not checked
	Simulated bool      `ch:"simulated"`
}

// Key identifies the crawl.
func (r CrawlRow) Key() Key { return Key{r.OrganizationID, r.BrandID, r.ID} }

// Month is the partition of the row.
func (r CrawlRow) Month() Month { return MonthOf(r.Day) }

// Offset is the offset of the record.
func (r CrawlRow) Offset() int64 { return r.LogOffset }

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
