package naive

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
)

// CardFilter is what the parameters of /api/v1/shopping-cards say; nil lets everything through.
type CardFilter struct {
	Filter
	Role *string
}

// Cards are the rows of /api/v1/shopping-cards that pass, newest first. id gives the id of the card in that place, from
// 1, of an answer: it is made by a hash.
func Cards(readings []Reading, f CardFilter, id func(answer uuid.UUID, place int) string) []Body {
	cards := []Body{}
	for _, r := range readings {
		if !f.passes(r) {
			continue
		}
		for i, p := range r.Answer.Products {
			c := card(r.Answer, p)
			c["id"], c["position"] = id(r.Answer.ID, i+1), i+1
			if p.Position > 0 && p.Position <= math.MaxUint32 {
				c["position"] = p.Position
			}
			if f.Role == nil || *f.Role == c["matched_brand_role"] {
				cards = append(cards, c)
			}
		}
	}
	slices.SortFunc(cards, func(a, b Body) int {
		text := func(c Body, name string) string { return c[name].(string) }
		return cmp.Or(
			cmp.Compare(text(b, "created_at"), text(a, "created_at")),
			cmp.Compare(text(a, "prompt_result_id"), text(b, "prompt_result_id")),
			cmp.Compare(a["position"].(int), b["position"].(int)), cmp.Compare(text(a, "id"), text(b, "id")))
	})
	return cards
}

func card(a event.Answer, p event.Product) Body {
	c := Body{
		"prompt_result_id": a.ID.String(), "brand_id": a.Brand.ID.String(), "product_title": p.Title, "product_brand": p.Brand,
		"price_amount": nil, "price_currency": p.PriceCurrency, "image_url": p.ImageURL, "merchant_url": p.URL, "merchant_domain": "",
		"rating": nil, "review_count": nil, "matched_brand_id": nil, "matched_brand_role": "other",
		"platform": a.Platform, "region": a.Region, "created_at": a.AnsweredAt.UTC().Format("2006-01-02T15:04:05.000Z"),
	}
	if p.PriceAmount != "" {
		c["price_amount"] = json.Number(p.PriceAmount)
	}
	if p.Rating != 0 {
		c["rating"] = p.Rating
	}
	if p.ReviewCount != 0 {
		c["review_count"] = p.ReviewCount
	}
	if _, host := normalise(p.URL); host != "" {
		c["merchant_domain"] = registrable(host)
	}
	for _, text := range []string{p.Brand, p.Title} {
		for i, e := range append([]event.Entity{a.Brand.Entity}, a.Competitors...) {
			if n, _ := mentions(fold(text), e); n > 0 && c["matched_brand_id"] == nil {
				c["matched_brand_id"], c["matched_brand_role"] = e.ID, "competitor"
				if i == 0 {
					c["matched_brand_role"] = "own"
				}
			}
		}
	}
	return c
}
