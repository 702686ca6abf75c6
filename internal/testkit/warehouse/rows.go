package warehouse

import (
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/shopspring/decimal"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// The owner of the rows, and a competitor.
var (
	Organization = clickhouse.UUID{1}
	Brand        = clickhouse.UUID{2}
	Competitor   = clickhouse.UUID{3}
)

// Answer returns a row that feeds every view: the brand is mentioned and cited, with a competitor, a citation and a
// card.
func Answer(offset int64, at time.Time) clickhouse.AnswerRow {
	price := decimal.RequireFromString("12.5000")
	rating, reviews, branded := 4.5, int64(7), true
	return clickhouse.AnswerRow{
		OrganizationID: Organization, BrandID: Brand, Day: at.Truncate(24 * time.Hour),
		ID:   clickhouse.UUID(event.RunID(event.Identity{BrandID: uuid.UUID(Brand), Sample: offset, Due: at})),
		Sign: 1, Revision: 1, ExtractVersion: 1, LogTopic: "answers", LogPartition: 0, LogOffset: offset,
		AnsweredAt: at, Platform: "openai", Model: "m", Sample: 1, PromptID: clickhouse.UUID{4}, IsBranded: &branded,
		Branded: true, PromptText: "a lamp", Text: "Lumen makes lamps", SearchQueries: []string{"best lamp"},
		MentionCount: 2, Position: 3, CitationCount: 1, VisibilityScore: 50, Sentiment: "neutral",
		CompetitorIDs: []clickhouse.UUID{Competitor}, CompetitorNames: []string{"Rival"},
		CompetitorMentionCounts: []uint32{1},
		CompetitorPositions:     []uint32{1}, CompetitorCitationCounts: []uint32{0},
		CompetitorVisibilityScores: []uint16{17}, CompetitorSentiments: []string{"unknown"},
		CitationURLs: []string{"https://example.com/a"}, CitationTitles: []string{"A"}, CitationCited: []bool{true},
		CitationHosts:   []string{"example.com"},
		CitationDomains: []string{"example.com"}, CitationListedTypes: []string{"editorial"},
		CitationOwned: []bool{true}, CitationCompetitorIDs: make([]clickhouse.UUID, 1),
		CardColumns: clickhouse.CardColumns{
			CardPositions: []uint32{1}, CardTitles: []string{"Thing"}, CardBrands: []string{"Maker"},
			CardPriceAmounts: []*decimal.Decimal{&price}, CardPriceCurrencies: []string{"EUR"},
			CardImageURLs: []string{""}, CardMerchants: []string{"Shop"}, CardMerchantURLs: []string{""},
			CardMerchantDomains: []string{""}, CardRatings: []*float64{&rating},
			CardReviewCounts: []*int64{&reviews},
			CardMatchedIDs:   make([]clickhouse.UUID, 1), CardRoles: []string{"other"},
		},
	}
}

// Day is the time of the rows in most tests.
var Day = time.Date(2026, 3, 2, 9, 5, 0, 0, time.UTC)

// Visit returns a view of a page at a time, which its id has too.
func Visit(offset int64, at time.Time) *clickhouse.VisitRow {
	id := event.RunID(event.Identity{BrandID: uuid.UUID(Brand), Sample: offset, Due: at})
	return &clickhouse.VisitRow{
		OrganizationID: Organization, BrandID: Brand, ID: clickhouse.UUID(id), LogTopic: "visits", LogOffset: offset,
		At: at, Event: "view", Platform: "chatgpt", PlatformBy: "referrer", Host: "lumen.example", Path: "/a",
		ReferrerHost: "chatgpt.com",
		Country:      "DE", CountryBy: "header", Language: "de", Screen: "1920x1080", TimeZone: "Europe/Berlin",
		Session: "s", NewSession: true, Visitor: 7, Simulated: true,
	}
}

// Pack packs visits for an insert.
func Pack(visits ...*clickhouse.VisitRow) []clickhouse.PackedVisit {
	var packer clickhouse.VisitPacker
	packed := make([]clickhouse.PackedVisit, len(visits))
	for i, v := range visits {
		packed[i] = packer.Pack(v)
	}
	return packed
}

// Crawl returns a request of an AI crawler at a time.
func Crawl(offset int64, at time.Time) clickhouse.CrawlRow {
	id := event.CrawlID("lumen.example", []byte("GET /a"), int(offset), at)
	return clickhouse.CrawlRow{
		OrganizationID: Organization, BrandID: Brand, Day: at.Truncate(24 * time.Hour), ID: clickhouse.UUID(id),
		LogTopic: "crawls", LogOffset: offset,
		At: at, Crawler: "GPTBot", Operator: "OpenAI", Platform: "chatgpt", Purpose: "training", Host: "lumen.example",
		Path:   "/a",
		Status: 200, Bytes: 1000, Verified: new(true), Simulated: true,
	}
}

// Fed has a query for each table that answers feed; one answer adds 1 to its result.
var Fed = map[string]string{
	"answers":             "SELECT count() FROM answers",
	"answer_daily":        "SELECT toUInt64(sum(answers)) FROM answer_daily",
	"entity_prompt_daily": "SELECT toUInt64(sum(answers)) FROM entity_prompt_daily",
	"brand_prompt_daily":  "SELECT toUInt64(sum(answers)) FROM brand_prompt_daily",
	"of competitors":      "SELECT toUInt64(sum(mention_answers)) FROM entity_prompt_daily WHERE entity_id != brand_id",
	"citations":           "SELECT count() FROM citations",
	"citation_daily":      "SELECT toUInt64(sum(citations)) FROM citation_daily",
	"shopping_cards":      "SELECT uniqExact(id) FROM shopping_cards",
}

// Counts runs every query of Fed.
func Counts(t testing.TB, conn *clickhouse.Conn) map[string]uint64 {
	t.Helper()
	got := map[string]uint64{}
	for table, question := range Fed {
		var n uint64
		if err := conn.QueryRow(t.Context(), question).Scan(&n); err != nil {
			t.Fatal(table, err)
		}
		got[table] = n
	}
	return got
}
