package sink

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/shopspring/decimal"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/extract"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// Answers is the sink of topic answers.
type Answers = Sink[clickhouse.AnswerRow]

// Answer is an item of Answers.
type Answer = Item[clickhouse.AnswerRow]

// NewAnswers returns the sink of topic answers.
func NewAnswers(conn *clickhouse.Conn, registerer prometheus.Registerer, log *slog.Logger) *Answers {
	return newSink(topic[clickhouse.AnswerRow]{
		name:    event.TopicAnswers,
		table:   clickhouse.Answers,
		version: extract.Version,
		supports: func(version int) bool {
			_, ok := extract.At(version)
			return ok
		},
		decode:  decodeAnswer,
		landed:  landedAnswers,
		current: clickhouse.CurrentAnswers,
		correct: correct,
		counted: clickhouse.CountedAnswers,
	}, conn, registerer, log)
}

func decodeAnswer(version int, r consume.Record) (row clickhouse.AnswerRow, reread bool, err error) {
	row, reread, err = DecodeAnswer(version, r)
	if reread {
		emptyFirstRowColumns(&row)
	}
	return row, reread, err
}

// DecodeAnswer makes the row of a record with one version of the extractor. The error is an event.ErrNewer for a record
// that only a newer build understands; any other error means a malformed record.
func DecodeAnswer(version int, r consume.Record) (row clickhouse.AnswerRow, reread bool, err error) {
	read, ok := extract.At(version)
	if !ok {
		return row, false, fmt.Errorf("extract version %d: %w", version, event.ErrNewer)
	}
	var a event.Answer
	if err := event.DecodeAnswer(r.Value, &a); err != nil {
		return row, false, err
	}
	if a.Reread != nil && a.Reread.MinExtractVersion > version {
		return row, false, fmt.Errorf("a reread for extract version %d: %w", a.Reread.MinExtractVersion, event.ErrNewer)
	}
	reading := read(&a)
	row, err = answerRow(&r, &a, &reading, version)
	return row, a.Reread != nil, err
}

func landedAnswers(
	ctx context.Context, conn *clickhouse.Conn, keys []clickhouse.Key, below clickhouse.LogLimit,
) (map[clickhouse.Key]bool, error) {
	versions, err := clickhouse.LandedAnswers(ctx, conn, keys, below)
	landed := make(map[clickhouse.Key]bool, len(versions))
	for key := range versions {
		landed[key] = true
	}
	return landed, err
}

// correct makes the two rows of a correction: the current row once more with sign -1, and the new reading with sign +1.
// Every sum over sign × value changes by the difference, atomically with the insert. Long texts and usage stay on the
// id's first row, and both rows leave them empty. Both rows have the reread's offset, so that its replay does not find
// them.
func correct(current, reread *clickhouse.AnswerRow) []clickhouse.AnswerRow {
	if current == nil || !versionOf(current).Older(versionOf(reread)) {
		return nil
	}
	back := *current
	back.Sign = -1
	back.LogTopic, back.LogPartition, back.LogOffset = reread.LogTopic, reread.LogPartition, reread.LogOffset
	emptyFirstRowColumns(&back)
	return []clickhouse.AnswerRow{back, *reread}
}

func versionOf(row *clickhouse.AnswerRow) clickhouse.ReadingVersion {
	return clickhouse.ReadingVersion{Revision: row.Revision, ExtractVersion: row.ExtractVersion}
}

// emptyFirstRowColumns empties the columns that only the first row of an id has.
func emptyFirstRowColumns(row *clickhouse.AnswerRow) {
	row.Text, row.SearchQueries, row.RawProducts = "", nil, ""
	row.RawCitationURLs, row.RawCitationTitles, row.RawCitationCited = nil, nil, nil
	row.InputTokens, row.OutputTokens, row.Searches, row.CostUSD = 0, 0, 0, decimal.Decimal{}
}

// answerRow makes the landing row of a record and its reading.
func answerRow(
	record *consume.Record, a *event.Answer, r *extract.Reading, version int,
) (clickhouse.AnswerRow, error) {
	row := clickhouse.AnswerRow{
		OrganizationID: clickhouse.UUID(a.OrganizationID),
		BrandID:        clickhouse.UUID(a.Brand.ID),
		Day:            a.AnsweredAt.Truncate(24 * time.Hour),
		ID:             clickhouse.UUID(a.ID),
		Sign:           1,
		Revision:       a.Brand.Revision,
		ExtractVersion: uint16(version),
		LogTopic:       record.Topic,
		LogPartition:   record.Partition,
		LogOffset:      record.Offset,

		AnsweredAt:  a.AnsweredAt.Time,
		Platform:    a.Platform,
		Model:       a.Model,
		ServedModel: a.ServedModel,
		Provider:    a.Provider,
		Region:      a.Region,
		Language:    a.Language,
		Surface:     string(a.Surface),
		Sample:      a.Sample,
		PromptID:    clickhouse.UUID(a.Prompt.ID),
		PromptSetID: clickhouse.UUID(a.Prompt.SetID),
		TopicID:     clickhouse.OrNil(a.Prompt.TopicID),
		PromptText:  a.Prompt.Text,
		IsBranded:   a.Prompt.IsBranded,
		Branded:     r.Branded,
		JobID:       clickhouse.OrNil(a.JobID),
		Simulated:   a.Simulated,

		Attempts:      uint32(min(max(a.Attempts, 0), math.MaxUint32)),
		LatencyMS:     a.LatencyMS,
		Finish:        string(a.Finish),
		Text:          a.Text,
		SearchQueries: a.SearchQueries,

		BrandName:       a.Brand.Name,
		MentionCount:    r.Brand.Mentions,
		Position:        r.Brand.Position,
		CitationCount:   r.Brand.Citations,
		VisibilityScore: r.Brand.VisibilityScore,
		Sentiment:       string(r.Brand.Sentiment),
		SentimentMethod: r.SentimentMethod,
	}
	if a.GivenUp != nil {
		row.GivenUp, row.GivenUpClass, row.GivenUpError = true, a.GivenUp.Class, a.GivenUp.Error
	}
	raw(&row, a)
	competitors(&row, a, r)
	citations(&row, r)
	if err := usage(&row, a.Usage); err != nil {
		return row, err
	}
	return row, cards(&row, r)
}

// raw keeps citations and products as the platform returned them, for rereads.
func raw(row *clickhouse.AnswerRow, a *event.Answer) {
	for _, c := range a.Citations {
		row.RawCitationURLs = append(row.RawCitationURLs, c.URL)
		row.RawCitationTitles = append(row.RawCitationTitles, c.Title)
		row.RawCitationCited = append(row.RawCitationCited, c.Cited)
	}
	if len(a.Products) > 0 {
		text, err := json.Marshal(a.Products)
		if err != nil {
			panic(err) // texts and finite numbers that came from JSON
		}
		row.RawProducts = string(text)
	}
}

func usage(row *clickhouse.AnswerRow, u *event.Usage) error {
	if u == nil {
		return nil
	}
	row.InputTokens, row.OutputTokens, row.Searches = u.InputTokens, u.OutputTokens, u.Searches
	cost, err := amount(u.CostUSD, 6)
	if err != nil {
		return fmt.Errorf("read cost_usd: %w", err)
	}
	if cost != nil {
		row.CostUSD = *cost
	}
	return nil
}

func competitors(row *clickhouse.AnswerRow, a *event.Answer, r *extract.Reading) {
	for i, c := range r.Competitors {
		row.CompetitorIDs = append(row.CompetitorIDs, clickhouse.UUID(c.ID))
		row.CompetitorNames = append(row.CompetitorNames, a.Competitors[i].Name)
		row.CompetitorMentionCounts = append(row.CompetitorMentionCounts, c.Mentions)
		row.CompetitorPositions = append(row.CompetitorPositions, c.Position)
		row.CompetitorCitationCounts = append(row.CompetitorCitationCounts, c.Citations)
		row.CompetitorVisibilityScores = append(row.CompetitorVisibilityScores, uint16(c.VisibilityScore))
		row.CompetitorSentiments = append(row.CompetitorSentiments, string(c.Sentiment))
	}
}

func citations(row *clickhouse.AnswerRow, r *extract.Reading) {
	for _, c := range r.Citations {
		row.CitationURLs = append(row.CitationURLs, c.URL)
		row.CitationTitles = append(row.CitationTitles, c.Title)
		row.CitationCited = append(row.CitationCited, c.Cited)
		row.CitationHosts = append(row.CitationHosts, c.Host)
		row.CitationDomains = append(row.CitationDomains, c.Domain)
		row.CitationListedTypes = append(row.CitationListedTypes, string(c.Listed))
		row.CitationOwned = append(row.CitationOwned, c.Owned)
		row.CitationCompetitorIDs = append(row.CitationCompetitorIDs, clickhouse.UUID(c.CompetitorID))
	}
}

func cards(row *clickhouse.AnswerRow, r *extract.Reading) error {
	for i, c := range r.Cards {
		price, err := amount(c.PriceAmount, 4)
		if err != nil {
			return fmt.Errorf("read price of product %d: %w", i+1, err)
		}
		row.CardPositions = append(row.CardPositions, c.Position)
		row.CardTitles = append(row.CardTitles, c.Title)
		row.CardBrands = append(row.CardBrands, c.Brand)
		row.CardPriceAmounts = append(row.CardPriceAmounts, price)
		row.CardPriceCurrencies = append(row.CardPriceCurrencies, c.PriceCurrency)
		row.CardImageURLs = append(row.CardImageURLs, c.ImageURL)
		row.CardMerchants = append(row.CardMerchants, c.Merchant)
		row.CardMerchantURLs = append(row.CardMerchantURLs, c.MerchantURL)
		row.CardMerchantDomains = append(row.CardMerchantDomains, c.MerchantDomain)
		row.CardRatings = append(row.CardRatings, unlessZero(c.Rating))
		row.CardReviewCounts = append(row.CardReviewCounts, unlessZero(c.ReviewCount))
		row.CardMatchedIDs = append(row.CardMatchedIDs, clickhouse.UUID(c.MatchedID))
		row.CardRoles = append(row.CardRoles, string(c.Role))
	}
	return nil
}

// amount parses a decimal number for a column Decimal(18, scale); nil for the empty text.
func amount(text string, scale int32) (*decimal.Decimal, error) {
	const precision = 18
	if text == "" {
		return nil, nil
	}
	d, err := decimal.NewFromString(text)
	if err != nil {
		return nil, fmt.Errorf("amount %.40q: want a decimal number", text)
	}
	d = d.Round(scale)
	if d.Abs().GreaterThanOrEqual(decimal.New(1, precision-scale)) {
		return nil, fmt.Errorf("amount %.40q: want fewer than %d digits before the point", text, precision-scale+1)
	}
	return &d, nil
}

func unlessZero[T int64 | float64](n T) *T {
	if n == 0 {
		return nil
	}
	return &n
}
