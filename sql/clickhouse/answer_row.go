package clickhouse

import (
	"time"

	"github.com/shopspring/decimal"
)

// AnswerRow is one row of the landing table answers: an answer as it was returned and as it was read. The nil UUID and
// 0 stand for none.
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

	CardPositions       []uint32           `ch:"cards.position"`
	CardTitles          []string           `ch:"cards.title"`
	CardBrands          []string           `ch:"cards.brand"`
	CardPriceAmounts    []*decimal.Decimal `ch:"cards.price_amount"`
	CardPriceCurrencies []string           `ch:"cards.price_currency"`
	CardImageURLs       []string           `ch:"cards.image_url"`
	CardMerchantURLs    []string           `ch:"cards.merchant_url"`
	CardMerchantDomains []string           `ch:"cards.merchant_domain"`
	CardRatings         []*float64         `ch:"cards.rating"`
	CardReviewCounts    []*int64           `ch:"cards.review_count"`
	CardMatchedIDs      []UUID             `ch:"cards.matched_id"`
	CardRoles           []string           `ch:"cards.role"`
}

// Key is the row's.
func (r AnswerRow) Key() Key { return Key{r.OrganizationID, r.BrandID, r.ID} }

// Month is the row's, by whose parts it lands.
func (r AnswerRow) Month() Month { return MonthOf(r.Day) }

// Offset is that of the record.
func (r AnswerRow) Offset() int64 { return r.LogOffset }
