package clickhouse

import (
	"context"

	"github.com/ClickHouse/clickhouse-go/v2"
)

type advisedParams struct {
	ExportFilter
	Competitors []UUID `ch:"competitors"`
}

// AdvisedText is an answer's text with its question.
type AdvisedText struct {
	ID           UUID   `ch:"id"`
	PromptID     UUID   `ch:"prompt_id"`
	PromptText   string `ch:"prompt_text"`
	Platform     string `ch:"platform"`
	Language     string `ch:"language"`
	Text         string `ch:"text"`
	NamesBrand   bool   `ch:"names_brand"`
	NamesTracked bool   `ch:"names_tracked"` // the brand or a live competitor
}

var advisedTexts = query[advisedParams, AdvisedText]("advised_texts")

// AdvisedTexts passes the texts of a brand's answers to take, by day and id; neither side has more than some of them in
// memory.
func AdvisedTexts(
	ctx context.Context, conn *Conn, filter ExportFilter, competitors []UUID, take func(*AdvisedText) error,
) error {
	settings := clickhouse.Settings{}
	for _, name := range []string{
		"max_threads", "max_block_size", "aggregation_in_order_max_block_bytes", "max_bytes_before_external_sort",
	} {
		settings[name] = exportSettings[name]
	}
	return advisedTexts.each(ctx, conn, advisedParams{filter, competitors}, settings, take)
}

// CardBrand is an untracked brand of products.
type CardBrand struct {
	Name  string `ch:"product_brand"`
	Lists uint64 `ch:"lists"` // product lists that show one
}

// AdvisedCards returns the untracked brands of products, the most frequent first.
var AdvisedCards = query[ExportFilter, CardBrand]("advised_cards")
