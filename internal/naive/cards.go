package naive

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
)

// Card is a row of /api/v1/shopping-cards.
type Card struct {
	ID               string       `json:"id"`
	ResultID         string       `json:"prompt_result_id"`
	BrandID          string       `json:"brand_id"`
	Position         int          `json:"position"`
	ProductTitle     string       `json:"product_title"`
	ProductBrand     string       `json:"product_brand"`
	PriceAmount      *json.Number `json:"price_amount"`
	PriceCurrency    string       `json:"price_currency"`
	ImageURL         string       `json:"image_url"`
	MerchantURL      string       `json:"merchant_url"`
	MerchantDomain   string       `json:"merchant_domain"`
	Rating           figure       `json:"rating"`
	ReviewCount      *int64       `json:"review_count"`
	MatchedBrandID   *uuid.UUID   `json:"matched_brand_id"`
	MatchedBrandRole string       `json:"matched_brand_role"`
	Platform         string       `json:"platform"`
	Region           string       `json:"region"`
	CreatedAt        string       `json:"created_at"`
}

// CardFilter is what the parameters of /api/v1/shopping-cards say; nil lets everything through.
type CardFilter struct {
	Filter
	Platform *string
	Role     *string
}

// Cards are all cards that pass, newest first. id gives the id of the card in that place, from 1, of an answer: it is
// made by a hash.
func Cards(readings []Reading, f CardFilter, id func(answer uuid.UUID, place int) string) []Card {
	cards := []Card{}
	for _, r := range readings {
		if !f.passes(r) || f.Platform != nil && r.Answer.Platform != *f.Platform {
			continue
		}
		for i, p := range r.Answer.Products {
			c := card(r.Answer, p)
			c.ID, c.Position = id(r.Answer.ID, i+1), i+1
			if p.Position > 0 && p.Position <= math.MaxUint32 {
				c.Position = p.Position
			}
			if f.Role == nil || *f.Role == c.MatchedBrandRole {
				cards = append(cards, c)
			}
		}
	}
	slices.SortFunc(cards, func(a, b Card) int {
		return cmp.Or(
			cmp.Compare(b.CreatedAt, a.CreatedAt), cmp.Compare(a.ResultID, b.ResultID),
			cmp.Compare(a.Position, b.Position), cmp.Compare(a.ID, b.ID))
	})
	return cards
}

func card(a event.Answer, p event.Product) Card {
	c := Card{
		ResultID: a.ID.String(), BrandID: a.Brand.ID.String(), ProductTitle: p.Title, ProductBrand: p.Brand,
		PriceCurrency: p.PriceCurrency, ImageURL: p.ImageURL, MerchantURL: p.URL, MatchedBrandRole: "other",
		Platform: a.Platform, Region: a.Region, CreatedAt: a.AnsweredAt.UTC().Format("2006-01-02T15:04:05.000Z"),
	}
	if p.PriceAmount != "" {
		c.PriceAmount = new(json.Number(p.PriceAmount))
	}
	if p.Rating != 0 {
		c.Rating = &p.Rating
	}
	if p.ReviewCount != 0 {
		c.ReviewCount = &p.ReviewCount
	}
	if _, host := normalise(p.URL); host != "" {
		c.MerchantDomain = registrable(host)
	}
	for _, text := range []string{p.Brand, p.Title} {
		for i, e := range append([]event.Entity{a.Brand.Entity}, a.Competitors...) {
			if n, _ := mentions(fold(text), e); n > 0 && c.MatchedBrandID == nil {
				c.MatchedBrandID, c.MatchedBrandRole = &e.ID, "competitor"
				if i == 0 {
					c.MatchedBrandRole = "own"
				}
			}
		}
	}
	return c
}
