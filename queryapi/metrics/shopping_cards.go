package metrics

import (
	"context"
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
	about := digest(filter)
	filter.CardCursor = q.cursor(about)
	if _, err := a.brand(ctx, caller, asked.brandID, q); err != nil {
		return nil, err
	}
	filter.Limit = limit + 1 // one more shows whether there is a next page
	cards, err := clickhouse.NewestCards.All(ctx, a.warehouse, filter)
	if err != nil {
		return nil, err
	}
	body := cardsBody{Cards: make([]cardBody, min(len(cards), int(limit)))}
	for i := range body.Cards {
		body.Cards[i] = cardOf(asked.brandID.String(), cards[i])
	}
	if len(cards) > int(limit) {
		next := cursorAfter(cards[limit-1], about)
		body.NextCursor = &next
	}
	return body, nil
}

func cardOf(brand string, c clickhouse.Card) cardBody {
	body := cardBody{
		ID: c.ID.String(), ResultID: c.AnswerID.String(), BrandID: brand, Position: c.Position, ProductTitle: c.Title,
		ProductBrand: c.Brand, PriceCurrency: c.PriceCurrency, ImageURL: c.ImageURL, MerchantURL: c.MerchantURL,
		MerchantDomain: c.MerchantDomain, Rating: c.Rating, ReviewCount: c.ReviewCount, MatchedBrandRole: c.Role,
		Platform: c.Platform, Region: c.Region, CreatedAt: instant(c.AnsweredAt),
	}
	if c.PriceAmount != nil {
		price := json.Number(c.PriceAmount.String()) // exact, never a float
		body.PriceAmount = &price
	}
	if c.MatchedID != (clickhouse.UUID{}) {
		matched := c.MatchedID.String()
		body.MatchedBrandID = &matched
	}
	return body
}
