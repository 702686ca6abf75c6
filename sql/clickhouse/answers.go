package clickhouse

import (
	"context"
	"slices"
	"time"

	"github.com/shopspring/decimal"
)

// AnswerFilter is a Filter for at most Limit answers after a cursor. An empty list filters nothing.
type AnswerFilter struct {
	Filter
	AnswerCursor
	Sort        AnswerSort `ch:"sort"`
	Prompts     []UUID     `ch:"prompts"`
	Samples     []int64    `ch:"samples"`
	Shown       []bool     `ch:"shown"`       // false: surfaces that had no answer
	Sentiments  []string   `ch:"sentiments"`  // of the brand
	Mentioned   []bool     `ch:"mentioned"`   // whether the brand is
	Cited       []bool     `ch:"cited"`       // whether the brand's pages are
	Competitors []UUID     `ch:"competitors"` // any of these is mentioned
	Domains     []string   `ch:"domains"`     // any of these is cited; likewise URLs, Pages and Categories
	URLs        []string   `ch:"urls"`
	Pages       []string   `ch:"pages"`
	Categories  []string   `ch:"categories"` // source types
	Names       []string   `ch:"names"`      // any of these is in the text, as it is written
	Searches    []string   `ch:"searches"`   // any of these was issued, as it is written
	Limit       uint32     `ch:"limit"`
}

// AnswerSort is the order of the answers of a day; days go from the newest to the oldest.
type AnswerSort string

// The orders.
const (
	Newest   AnswerSort = "newest"
	ByPrompt AnswerSort = "prompt" // answers to a prompt follow each other, newest first
)

// cursorTime is the format of times in cursors, UTC.
const cursorTime = "2006-01-02 15:04:05.000"

// AnswerCursor is the position of an answer in the order of AnswersFound; the zero value is the start.
type AnswerCursor struct {
	AnsweredAt string `ch:"before"`       // as cursorTime
	Prompt     string `ch:"after_prompt"` // of AnswerMatch
	ID         string `ch:"after_answer"` // lower-case text
}

// AnswerCursorAt returns the position of an answer.
func AnswerCursorAt(answeredAt time.Time, prompt string, id UUID) AnswerCursor {
	return AnswerCursor{answeredAt.UTC().Format(cursorTime), prompt, id.String()}
}

// AnswerMatch is one of the Total answers that pass a filter.
type AnswerMatch struct {
	Day        time.Time `ch:"day"`
	ID         UUID      `ch:"id"`
	AnsweredAt time.Time `ch:"answered_at"`
	Prompt     string    `ch:"prompt"`      // its id as text, where answers are sorted by it, else ""
	ComesAfter bool      `ch:"comes_after"` // the cursor
	Total      uint64    `ch:"total"`
}

// AnswersFound returns the page after the cursor of the answers that pass a filter: sorted, newest first, then by id.
// A page that they do not fill has other rows behind, so that a row carries the total.
var AnswersFound = rollup[AnswerFilter, AnswerMatch]("answers_found")

type (
	answersParams struct {
		Organization UUID   `ch:"organization"`
		Brand        UUID   `ch:"brand"`
		Days         []Day  `ch:"days"`
		IDs          []UUID `ch:"ids"`
	}
	oneAnswerParams struct {
		Filter
		Days []Day  `ch:"days"`
		IDs  []UUID `ch:"ids"`
	}
)

var (
	listedAnswers  = query[answersParams, ListedAnswer]("listed_answers")
	briefedAnswers = query[answersParams, BriefedAnswer]("briefed_answers")
	oneAnswer      = query[oneAnswerParams, OneAnswer]("one_answer")
)

// ListedAnswer is an answer with its question, its text and the current reading of the brand.
type ListedAnswer struct {
	ID             UUID      `ch:"id"`
	AnsweredAt     time.Time `ch:"answered_at"`
	Platform       string    `ch:"platform"`
	Model          string    `ch:"model"`
	ServedModel    string    `ch:"served_model"`
	Provider       string    `ch:"provider"`
	Answered       bool      `ch:"answered"` // false: the surface had no answer
	Region         string    `ch:"region"`
	Sample         int64     `ch:"sample"`
	PromptID       UUID      `ch:"prompt_id"`
	PromptText     string    `ch:"prompt_text"` // at the time of the run
	Text           string    `ch:"text"`        // in a list, its first 65,536 code points
	MentionCount   uint32    `ch:"mention_count"`
	Position       uint32    `ch:"position"` // 0: not mentioned
	Sentiment      string    `ch:"sentiment"`
	Citations      uint32    `ch:"citations"` // cited URLs, own or not
	OwnCitations   uint32    `ch:"own_citations"`
	ExtractVersion uint16    `ch:"extract_version"`
}

// ListAnswers reads the matches of a brand, in their order. It leaves out answers that were purged meanwhile.
func ListAnswers(
	ctx context.Context, conn *Conn, organization, brand UUID, matches []AnswerMatch,
) ([]ListedAnswer, error) {
	return readMatches(ctx, conn, listedAnswers, organization, brand, matches,
		func(a ListedAnswer) UUID { return a.ID })
}

// readMatches reads the matches of a brand by a query, in their order.
func readMatches[R any](
	ctx context.Context, conn *Conn, question Query[answersParams, R], organization, brand UUID,
	matches []AnswerMatch, idOf func(R) UUID,
) ([]R, error) {
	if len(matches) == 0 {
		return nil, nil
	}
	params, order := answersParams{Organization: organization, Brand: brand}, map[UUID]int{}
	for i, m := range matches {
		params.Days, params.IDs, order[m.ID] = append(params.Days, DayOf(m.Day)), append(params.IDs, m.ID), i
	}
	slices.Sort(params.Days)
	params.Days = slices.Compact(params.Days)
	rows, err := question.All(ctx, conn, params)
	slices.SortFunc(rows, func(a, b R) int { return order[idOf(a)] - order[idOf(b)] })
	return rows, err
}

// BriefedAnswer is an answer for a content brief.
type BriefedAnswer struct {
	ID         UUID     `ch:"id"`
	PromptText string   `ch:"prompt_text"` // at the time of the run
	Platform   string   `ch:"platform"`
	Language   string   `ch:"language"`       // as requested, "": none was
	Text       string   `ch:"text"`           // its first 16,384 code points
	Searches   []string `ch:"search_queries"` // at most 50
	URLs       []string `ch:"urls"`           // cited, normalised, each once
	Titles     []string `ch:"titles"`         // of URLs, "": none
	Types      []string `ch:"types"`          // of URLs: listed source types
	Owned      []bool   `ch:"owned"`          // of URLs: pages of the brand
}

// BriefAnswers reads the matches of a brand for a content brief, in their order.
func BriefAnswers(
	ctx context.Context, conn *Conn, organization, brand UUID, matches []AnswerMatch,
) ([]BriefedAnswer, error) {
	return readMatches(ctx, conn, briefedAnswers, organization, brand, matches,
		func(a BriefedAnswer) UUID { return a.ID })
}

// OneAnswer has every column of an answer that people may see.
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

	CardColumns
}

// FindAnswer returns the answer of an id, also of a shopping platform; nil if none passes the filter. Without a brand
// every one of the organization is searched, without days all of them.
func FindAnswer(ctx context.Context, conn *Conn, filter Filter, id UUID) (*OneAnswer, error) {
	if idTime(id).Year() > 2100 {
		return nil, nil // no row has such a day, and ClickHouse's Date may not hold it
	}
	days := lookUp([]Key{{ID: id}}, 0, answerDaysAfter, LogLimit{}).Days
	if filter.DateTo == "" {
		filter.DateFrom, filter.DateTo = slices.Min(days), slices.Max(days)
	}
	rows, err := oneAnswer.All(ctx, conn, oneAnswerParams{filter, days, []UUID{id}})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

// FanoutTotals returns a row for each platform, then one for all, if there are answers.
var FanoutTotals = query[Filter, PlatformSearches]("fanout_totals")

// FanoutQueries returns the queries that most answers issued.
var FanoutQueries = query[ListFilter, SearchQuery]("fanout_queries")

// FanoutWords returns the words that queries add to their prompt, then those that they drop, at most Limit of each.
var FanoutWords = query[ListFilter, SearchWord]("fanout_words")

// PlatformSearches counts what a platform, or all of them, searched for before it answered.
type PlatformSearches struct {
	AllPlatforms      bool     `ch:"all_platforms"`
	Platform          string   `ch:"platform"`
	Answers           int64    `ch:"answers"`
	SearchingAnswers  int64    `ch:"searching_answers"`
	Searches          int64    `ch:"searches"`
	Queries           uint64   `ch:"queries"` // different ones
	SearchesPerAnswer *float64 `ch:"searches_per_answer"`
}

// SearchQuery is a query that platforms issued.
type SearchQuery struct {
	Query          string   `ch:"query"`
	Answers        int64    `ch:"answers"` // that issued it
	PromptCount    uint64   `ch:"prompt_count"`
	Platforms      []string `ch:"platforms"`
	MentionRatePct *float64 `ch:"mention_rate_pct"`
	CitesOwnPct    *float64 `ch:"cites_own_pct"`
}

// SearchWord is a word that searches add to their prompt or drop from it.
type SearchWord struct {
	Added    bool     `ch:"added"`
	Word     string   `ch:"word"`
	Searches int64    `ch:"searches"`
	Pct      *float64 `ch:"pct"` // of the searches that differ from their prompt
}

// CardFilter is a Filter for at most Limit cards after a cursor.
type CardFilter struct {
	Filter
	CardCursor
	Roles []string `ch:"roles"`
	Limit uint32   `ch:"limit"`
}

// CardCursor is the position of a card in the order of NewestCards; the zero value is the start.
type CardCursor struct {
	AnsweredAt string `ch:"before"`       // as cursorTime
	AnswerID   string `ch:"after_answer"` // lower-case text, like ID
	Position   uint32 `ch:"after_position"`
	ID         string `ch:"after_card"`
}

// CardCursorAt returns the position of a card.
func CardCursorAt(answeredAt time.Time, answer UUID, position uint32, id UUID) CardCursor {
	return CardCursor{answeredAt.UTC().Format(cursorTime), answer.String(), position, id.String()}
}

// NewestCards returns shopping cards, newest first, then by answer id, position and id.
var NewestCards = rollup[CardFilter, Card]("newest_cards")

// Card is a product in an answer. Texts that the platform did not return are "".
type Card struct {
	ID             UUID             `ch:"id"`
	AnsweredAt     time.Time        `ch:"answered_at"`
	AnswerID       UUID             `ch:"answer_id"`
	Position       uint32           `ch:"position"` // 1-based in the answer
	Title          string           `ch:"title"`
	Brand          string           `ch:"product_brand"`
	PriceAmount    *decimal.Decimal `ch:"price_amount"`
	PriceCurrency  string           `ch:"price_currency"` // ISO 4217
	ImageURL       string           `ch:"image_url"`
	Merchant       string           `ch:"merchant"` // its name
	MerchantURL    string           `ch:"merchant_url"`
	MerchantDomain string           `ch:"merchant_domain"` // registrable
	Rating         *float64         `ch:"rating"`
	ReviewCount    *int64           `ch:"review_count"`
	MatchedID      UUID             `ch:"matched_id"` // brand or competitor; nil: neither
	Role           string           `ch:"role"`       // own, competitor, other
	Platform       string           `ch:"platform"`
	Region         string           `ch:"region"`
}

// ShoppingPrices returns the prices of each of them by currency, those with the most cards first.
var ShoppingPrices = rollup[Filter, PriceRange]("shopping_prices")

// PriceRange has the prices of an entity's cards in one currency.
type PriceRange struct {
	ID       UUID            `ch:"entity_id"`
	Currency string          `ch:"currency"`
	Cards    int64           `ch:"cards"`
	Lowest   decimal.Decimal `ch:"lowest"`
	Median   decimal.Decimal `ch:"median"` // the lower of two middle ones
	Highest  decimal.Decimal `ch:"highest"`
}
