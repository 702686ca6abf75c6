package clickhouse

import (
	"context"
	"slices"
	"time"

	"github.com/shopspring/decimal"
)

// AnswerFilter is a Filter of at most Limit answers after a cursor. An empty list lets everything pass.
type AnswerFilter struct {
	Filter
	AnswerCursor
	Prompts     []UUID   `ch:"prompts"`
	Mentioned   []bool   `ch:"mentioned"`   // the brand
	Cited       []bool   `ch:"cited"`       // its pages
	Competitors []UUID   `ch:"competitors"` // one of which it mentions
	Domains     []string `ch:"domains"`     // one of which it cites, as URLs, Pages and Categories
	URLs        []string `ch:"urls"`
	Pages       []string `ch:"pages"`
	Categories  []string `ch:"categories"` // source types
	Limit       uint32   `ch:"limit"`
}

// AnswerCursor is the position of an answer in the order of AnswersFound; the zero value is before all.
type AnswerCursor struct {
	AnsweredAt string `ch:"before"`       // 2006-01-02 15:04:05.000, UTC
	ID         string `ch:"after_answer"` // lower-case text
}

// AnswerCursorAt is the position of an answer.
func AnswerCursorAt(answeredAt time.Time, id UUID) AnswerCursor {
	return AnswerCursor{answeredAt.UTC().Format("2006-01-02 15:04:05.000"), id.String()}
}

// AnswerMatch is one of the Total answers that pass a filter.
type AnswerMatch struct {
	Day        time.Time `ch:"day"`
	ID         UUID      `ch:"id"`
	AnsweredAt time.Time `ch:"answered_at"`
	ComesAfter bool      `ch:"comes_after"` // the cursor
	Total      uint64    `ch:"total"`
}

// AnswersFound gives which answers pass a filter, newest first, those of one instant by id: those after the cursor, and
// where they do not fill the page others, so that there is a row with the total.
var AnswersFound = rollup[AnswerFilter, AnswerMatch]("answers_found")

type (
	listedParams struct {
		Organization UUID   `ch:"organization"`
		Brand        UUID   `ch:"brand"`
		Days         []Day  `ch:"days"`
		IDs          []UUID `ch:"ids"`
	}
	oneAnswerParams struct {
		Organization UUID   `ch:"organization"`
		Brands       []UUID `ch:"brands"`
		Days         []Day  `ch:"days"`
		IDs          []UUID `ch:"ids"`
	}
)

var (
	listedAnswers = query[listedParams, ListedAnswer]("listed_answers")
	oneAnswer     = query[oneAnswerParams, OneAnswer]("one_answer")
)

// ListedAnswer is an answer as it was asked, its text and what its current reading says of the brand.
type ListedAnswer struct {
	ID             UUID      `ch:"id"`
	AnsweredAt     time.Time `ch:"answered_at"`
	Platform       string    `ch:"platform"`
	Model          string    `ch:"model"`
	ServedModel    string    `ch:"served_model"`
	Region         string    `ch:"region"`
	Sample         int64     `ch:"sample"`
	PromptID       UUID      `ch:"prompt_id"`
	PromptText     string    `ch:"prompt_text"` // when it was asked
	Text           string    `ch:"text"`        // in a list, its first 65,536 code points
	MentionCount   uint32    `ch:"mention_count"`
	Position       uint32    `ch:"position"` // 0: not mentioned
	Sentiment      string    `ch:"sentiment"`
	Citations      uint32    `ch:"citations"` // URLs that it cites, whosever
	ExtractVersion uint16    `ch:"extract_version"`
}

// ListAnswers gives the answers that were found of a brand, in their order. One that was purged meanwhile is left out.
func ListAnswers(ctx context.Context, conn *Conn, organization, brand UUID, found []AnswerMatch) ([]ListedAnswer, error) {
	if len(found) == 0 {
		return nil, nil
	}
	params, place := listedParams{Organization: organization, Brand: brand}, map[UUID]int{}
	for i, f := range found {
		params.Days, params.IDs, place[f.ID] = append(params.Days, DayOf(f.Day)), append(params.IDs, f.ID), i
	}
	slices.Sort(params.Days)
	params.Days = slices.Compact(params.Days)
	rows, err := listedAnswers.All(ctx, conn, params)
	slices.SortFunc(rows, func(a, b ListedAnswer) int { return place[a.ID] - place[b.ID] })
	return rows, err
}

// OneAnswer is all that is known of an answer.
type OneAnswer struct {
	ListedAnswer
	BrandID       UUID            `ch:"brand_id"`
	JobID         UUID            `ch:"job_id"` // nil: none
	SearchQueries []string        `ch:"search_queries"`
	InputTokens   int64           `ch:"input_tokens"`
	OutputTokens  int64           `ch:"output_tokens"`
	Searches      int64           `ch:"searches"`
	CostUSD       decimal.Decimal `ch:"cost_usd"`

	CitationURLs        []string `ch:"citations.url"` // normalised, in the order of the answer
	CitationTitles      []string `ch:"citations.title"`
	CitationDomains     []string `ch:"citations.domain"`
	CitationSourceTypes []string `ch:"citations.source_type"`
	CitationCited       []bool   `ch:"citations.cited"`

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

// FindAnswer gives the answer of an id, of a shopping platform too; nil where there is none. brands are those that it
// may be of, none is all of the organization.
func FindAnswer(ctx context.Context, conn *Conn, organization UUID, brands []UUID, id UUID) (*OneAnswer, error) {
	if idTime(id).Year() > 2100 {
		return nil, nil // a day that no row has, and ClickHouse's Date may not hold
	}
	days := lookUp([]Key{{ID: id}}, 0, answerDaysAfter, LogLimit{}).Days
	rows, err := oneAnswer.All(ctx, conn, oneAnswerParams{organization, brands, days, []UUID{id}})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}
