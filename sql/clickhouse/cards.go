package clickhouse

import (
	"time"

	"github.com/shopspring/decimal"
)

// CardFilter is a Filter of at most Limit cards after a cursor.
type CardFilter struct {
	Filter
	CardCursor
	Roles []string `ch:"roles"`
	Limit uint32   `ch:"limit"`
}

// CardCursor is the position of a card in the order of NewestCards; the zero value is before all.
type CardCursor struct {
	AnsweredAt string `ch:"before"`       // 2006-01-02 15:04:05.000, UTC
	AnswerID   string `ch:"after_answer"` // lower-case text, as ID
	Position   uint32 `ch:"after_position"`
	ID         string `ch:"after_card"`
}

// CardCursorAt is the position of a card.
func CardCursorAt(answeredAt time.Time, answer UUID, position uint32, id UUID) CardCursor {
	return CardCursor{answeredAt.UTC().Format("2006-01-02 15:04:05.000"), answer.String(), position, id.String()}
}

// NewestCards gives shopping cards, newest first; those of one instant by answer id, position and id.
var NewestCards = rollup[CardFilter, Card]("newest_cards")

// Card is a product that a platform showed. Texts that it did not return are "".
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
	MerchantURL    string           `ch:"merchant_url"`
	MerchantDomain string           `ch:"merchant_domain"` // registrable
	Rating         *float64         `ch:"rating"`
	ReviewCount    *int64           `ch:"review_count"`
	MatchedID      UUID             `ch:"matched_id"` // brand or competitor, nil: neither
	Role           string           `ch:"role"`       // own, competitor, other
	Platform       string           `ch:"platform"`
	Region         string           `ch:"region"`
}
