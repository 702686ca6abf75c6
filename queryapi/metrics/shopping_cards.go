package metrics

import (
	"context"
	"encoding/json"
	"time"

	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// cardsBody answers GET /api/v1/shopping-cards.
type cardsBody struct {
	Cards      []cardBody `json:"cards"`
	NextCursor *string    `json:"next_cursor"` // null at the end
}

// cardBody is a shopping card with its answer.
type cardBody struct {
	ID       string `json:"id"`
	ResultID string `json:"prompt_result_id"`
	BrandID  string `json:"brand_id"`
	productBody
	Platform  string  `json:"platform"`
	Region    string  `json:"region"`
	CreatedAt instant `json:"created_at"` // when the platform answered
}

// productBody is a product that a platform showed. Texts are "" and numbers null where unknown.
type productBody struct {
	Position         uint32       `json:"position"`
	ProductTitle     string       `json:"product_title"`
	ProductBrand     string       `json:"product_brand"`
	PriceAmount      *json.Number `json:"price_amount"`
	PriceCurrency    string       `json:"price_currency"`
	ImageURL         string       `json:"image_url"`
	Merchant         string       `json:"merchant"` // its name
	MerchantURL      string       `json:"merchant_url"`
	MerchantDomain   string       `json:"merchant_domain"`
	Rating           *float64     `json:"rating"`
	ReviewCount      *int64       `json:"review_count"`
	MatchedBrandID   *string      `json:"matched_brand_id"` // the brand or a competitor, null: neither
	MatchedBrandRole string       `json:"matched_brand_role"`
}

func (a *API) shoppingCards(ctx context.Context, caller identity.Identity, q *query) (any, error) {
	p := q.commonOrAllTime(a.now())
	filter := clickhouse.CardFilter{
		Filter: p.filter(caller.OrganizationID),
		Roles:  q.words("role", "own", "competitor", "other"),
	}
	limit := q.number("limit", 50, 1, 200)
	filters := digest("cards", filter.Filter, filter.Roles)
	if after := readCursor[cardPosition](q, filters); after != nil {
		filter.CardCursor = after.cursor()
	}
	if err := q.check(); err != nil {
		return nil, err
	}
	if _, err := a.findBrand(ctx, caller, p.brandID); err != nil {
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
		body.Cards = append(body.Cards, cardBody{
			ID: c.ID.String(), ResultID: c.AnswerID.String(), BrandID: p.brandID.String(),
			productBody: newProductBody(c), Platform: c.Platform, Region: c.Region, CreatedAt: instant(c.AnsweredAt),
		})
	}
	return body, nil
}

// A cardPosition is the position of a card in the list.
type cardPosition struct {
	AnsweredAt instant         `json:"answered_at"`
	AnswerID   clickhouse.UUID `json:"answer_id"`
	Position   uint32          `json:"position"`
	ID         clickhouse.UUID `json:"id"`
}

func positionOfCard(c clickhouse.Card) cardPosition {
	return cardPosition{instant(c.AnsweredAt), c.AnswerID, c.Position, c.ID}
}

func (p cardPosition) cursor() clickhouse.CardCursor {
	return clickhouse.CardCursorAt(time.Time(p.AnsweredAt), p.AnswerID, p.Position, p.ID)
}

func newProductBody(c clickhouse.Card) productBody {
	product := productBody{
		Position: c.Position, ProductTitle: c.Title, ProductBrand: c.Brand, PriceCurrency: c.PriceCurrency,
		ImageURL: c.ImageURL, Merchant: c.Merchant, MerchantURL: c.MerchantURL, MerchantDomain: c.MerchantDomain,
		Rating: c.Rating, ReviewCount: c.ReviewCount, MatchedBrandID: nullIfNil(c.MatchedID), MatchedBrandRole: c.Role,
	}
	if c.PriceAmount != nil {
		product.PriceAmount = exact(c.PriceAmount.String())
	}
	return product
}
