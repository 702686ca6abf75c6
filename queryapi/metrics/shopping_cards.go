package metrics

import (
	"context"
	"encoding/binary"
	"encoding/json"

	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// cardsBody answers GET /api/v1/shopping-cards.
type cardsBody struct {
	Cards      []cardBody `json:"cards"`
	NextCursor *string    `json:"next_cursor"` // null at the end
}

// cardBody is a product that a platform showed. Texts are "" and numbers null where unknown.
type cardBody struct {
	ID               string       `json:"id"`
	ResultID         string       `json:"prompt_result_id"`
	BrandID          string       `json:"brand_id"`
	Position         uint32       `json:"position"`
	ProductTitle     string       `json:"product_title"`
	ProductBrand     string       `json:"product_brand"`
	PriceAmount      *json.Number `json:"price_amount"`
	PriceCurrency    string       `json:"price_currency"`
	ImageURL         string       `json:"image_url"`
	MerchantURL      string       `json:"merchant_url"`
	MerchantDomain   string       `json:"merchant_domain"`
	Rating           *float64     `json:"rating"`
	ReviewCount      *int64       `json:"review_count"`
	MatchedBrandID   *string      `json:"matched_brand_id"` // the brand or a competitor, null: neither
	MatchedBrandRole string       `json:"matched_brand_role"`
	Platform         string       `json:"platform"`
	Region           string       `json:"region"`
	CreatedAt        instant      `json:"created_at"` // when the platform answered
}

func (a *API) shoppingCards(ctx context.Context, caller identity.Identity, q *query) (any, error) {
	asked := q.common(a.now())
	if len(q.given["date_from"])+len(q.given["date_to"]) == 0 {
		asked.window = allTime
	}
	filter := clickhouse.CardFilter{Filter: asked.filter(caller.OrganizationID)}
	if role, ok := q.word("role", "own", "competitor", "other"); ok {
		filter.Roles = []string{role}
	}
	limit := q.limit(50, 200)
	filters := digest("cards", filter.Filter, filter.Roles)
	q.cursor(filters, cardPosition, func(b []byte) (ok bool) { filter.CardCursor, ok = cardAfter(b); return ok })
	if _, err := a.brand(ctx, caller, asked.brandID, q); err != nil {
		return nil, err
	}
	filter.Limit = limit + 1 // one more shows whether there is a next page
	cards, err := clickhouse.NewestCards.All(ctx, a.warehouse, filter)
	if err != nil {
		return nil, err
	}
	body := cardsBody{Cards: []cardBody{}}
	cards, body.NextCursor = firstPage(cards, limit, filters, positionOfCard)
	for _, c := range cards {
		body.Cards = append(body.Cards, cardOf(asked.brandID.String(), c))
	}
	return body, nil
}

// cardPosition is how many bytes the position of a card has.
const cardPosition = 8 + 16 + 4 + 16

func positionOfCard(c clickhouse.Card) []byte {
	b := append(appendInstant(nil, c.AnsweredAt), c.AnswerID[:]...)
	return append(binary.BigEndian.AppendUint32(b, c.Position), c.ID[:]...)
}

func cardAfter(b []byte) (clickhouse.CardCursor, bool) {
	at, ok := instantAt(b)
	if !ok {
		return clickhouse.CardCursor{}, false
	}
	return clickhouse.CardCursorAt(at, clickhouse.UUID(b[8:24]), binary.BigEndian.Uint32(b[24:28]), clickhouse.UUID(b[28:44])), true
}

func cardOf(brand string, c clickhouse.Card) cardBody {
	body := cardBody{
		ID: c.ID.String(), ResultID: c.AnswerID.String(), BrandID: brand, Position: c.Position, ProductTitle: c.Title,
		ProductBrand: c.Brand, PriceCurrency: c.PriceCurrency, ImageURL: c.ImageURL, MerchantURL: c.MerchantURL,
		MerchantDomain: c.MerchantDomain, Rating: c.Rating, ReviewCount: c.ReviewCount, MatchedBrandRole: c.Role,
		MatchedBrandID: idUnlessNil(c.MatchedID),
		Platform:       c.Platform, Region: c.Region, CreatedAt: instant(c.AnsweredAt),
	}
	if c.PriceAmount != nil {
		body.PriceAmount = exact(c.PriceAmount.String())
	}
	return body
}
