package extract

import (
	"math"
	"regexp"
	"strings"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
)

// cardsOf reads the products of an answer.
func cardsOf(a *event.Answer, tracked *names, sourceOf func(*event.Citation) source) []Card {
	if len(a.Products) == 0 {
		return nil
	}
	cards := make([]Card, len(a.Products))
	for i := range a.Products {
		p := &a.Products[i]
		card := Card{
			Position:      uint32(i + 1),
			Title:         p.Title,
			Brand:         p.Brand,
			PriceAmount:   decimal(p.PriceAmount),
			PriceCurrency: p.PriceCurrency,
			ImageURL:      p.ImageURL,
			Merchant:      p.Merchant,
			MerchantURL:   p.URL,
			Rating:        p.Rating,
			ReviewCount:   p.ReviewCount,
		}
		if 0 < p.Position && p.Position <= math.MaxUint32 {
			card.Position = uint32(p.Position)
		}
		shop := sourceOf(&event.Citation{URL: p.URL})
		if shop.host != "" && !googleSearch.MatchString(shop.url) {
			card.MerchantDomain = registrable(shop.host)
		}
		card.MatchedID, card.Role = ownerOf(a, tracked, p)
		cards[i] = card
	}
	return cards
}

// googleSearch matches a search at Google, which shows a product and sells none.
var googleSearch = regexp.MustCompile(`^https?://(?:www\.)?google\.[a-z.]+/search\b`)

// ownerOf returns the owner of product p: the first entity, the brand before its competitors, that the product's brand
// names, else that the title names.
func ownerOf(a *event.Answer, tracked *names, p *event.Product) (uuid.UUID, Role) {
	entity := tracked.first(p.Brand)
	if entity < 0 {
		entity = tracked.first(p.Title)
	}
	switch {
	case entity < 0:
		return uuid.Nil, Other
	case entity == 0:
		return a.Brand.ID, Own
	}
	return a.Competitors[entity-1].ID, Competitor
}

// decimal returns amount if it is a plain decimal number such as -12.50, else "": a price that cannot be read is no
// price.
func decimal(amount string) string {
	integer, fraction, hasPoint := strings.Cut(strings.TrimPrefix(amount, "-"), ".")
	if !isDigits(integer) || hasPoint && !isDigits(fraction) {
		return ""
	}
	return amount
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || '9' < s[i] {
			return false
		}
	}
	return s != ""
}
