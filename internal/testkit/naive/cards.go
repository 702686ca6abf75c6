package naive

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"

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
		for i, c := range r.cards() {
			c["id"] = id(r.Answer.ID, i+1)
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
		"price_amount": nil, "price_currency": p.PriceCurrency, "image_url": p.ImageURL, "merchant": p.Merchant, "merchant_url": p.URL, "merchant_domain": "",
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
	if address, host := normalise(p.URL); host != "" && !(strings.HasPrefix(host, "google.") && strings.Contains(address, "/search")) {
		c["merchant_domain"] = registrable(host)
	}
	for _, text := range []string{p.Brand, p.Title} {
		entities := append([]event.Entity{a.Brand.Entity}, a.Competitors...)
		for i, e := range entities {
			if n, _ := mentions(passageOf(seen(text)), e, without(entities, i)); n > 0 && c["matched_brand_id"] == nil {
				c["matched_brand_id"], c["matched_brand_role"] = e.ID, "competitor"
				if i == 0 {
					c["matched_brand_role"] = "own"
				}
			}
		}
	}
	return c
}

// Shopping computes /api/v1/shopping-summary: whose products are in the lists that answers show. domains are the
// brand's.
func Shopping(readings []Reading, f Filter, who Live, competitors []Live, domains []string) Body {
	lists := slices.DeleteFunc(slices.Clone(readings), func(r Reading) bool {
		return !f.passes(r) || len(r.Answer.Products) == 0
	})
	prompts, merchants, sold := map[uuid.UUID]bool{}, map[string]bool{}, 0
	for _, r := range lists {
		prompts[r.Answer.Prompt.ID] = true
		for _, c := range r.cards() {
			merchant := c["merchant_domain"].(string)
			if c["matched_brand_id"] != who.ID || merchant == "" || merchants[merchant] {
				continue
			}
			merchants[merchant] = true
			if slices.ContainsFunc(domains, func(d string) bool { return registrable(d) == merchant }) {
				sold++
			}
		}
	}
	sorted := slices.SortedFunc(slices.Values(competitors), func(a, b Live) int { return cmp.Compare(a.Name, b.Name) })
	rows := []Body{shown(lists, func(id any) bool { return id == who.ID })}
	rows[0]["id"], rows[0]["name"], rows[0]["role"] = who.ID, who.Name, "own"
	for _, c := range sorted {
		row := shown(lists, func(id any) bool { return id == c.ID })
		row["id"], row["name"], row["role"] = c.ID, c.Name, "competitor"
		rows = append(rows, row)
	}
	others := shown(lists, func(id any) bool {
		return id != who.ID && !slices.ContainsFunc(competitors, func(c Live) bool { return id == c.ID })
	})
	others["id"], others["name"], others["role"] = nil, nil, "other"
	return Body{
		"totals": Body{"lists": len(lists), "prompts": len(prompts), "merchants": len(merchants), "own_merchants": sold},
		"brands": append(rows, others),
	}
}

// cards are the products of an answer with their positions.
func (r Reading) cards() []Body {
	var cards []Body
	for i, p := range r.Answer.Products {
		c := card(r.Answer, p)
		if c["position"] = i + 1; p.Position > 0 && p.Position <= math.MaxUint32 {
			c["position"] = p.Position
		}
		cards = append(cards, c)
	}
	return cards
}

// shown is how often, where and at which prices lists show the products of an entity.
func shown(lists []Reading, owned func(id any) bool) Body {
	first := map[uuid.UUID]int{} // position in the list of an answer
	prices := map[string][]*big.Rat{}
	for _, r := range lists {
		for _, c := range r.cards() {
			if !owned(c["matched_brand_id"]) {
				continue
			}
			if position := c["position"].(int); first[r.Answer.ID] == 0 || position < first[r.Answer.ID] {
				first[r.Answer.ID] = position
			}
			if price, there := c["price_amount"].(json.Number); there && c["price_currency"] != "" {
				amount, _ := new(big.Rat).SetString(price.String())
				prices[c["price_currency"].(string)] = append(prices[c["price_currency"].(string)], amount)
			}
		}
	}
	share := count(lists, func(r Reading) Named {
		place := first[r.Answer.ID]
		return Named{Mentions: min(place, 1), Position: place}
	})
	row := Body{
		"lists": share.mentionAnswers, "share_pct": share.mentionRate(), "share_interval": share.mentionRateInterval(),
		"avg_position": rounded(rat(share.places), share.mentionAnswers, 1), "prices": []Body{},
	}
	for _, currency := range slices.SortedFunc(maps.Keys(prices), func(a, b string) int {
		return cmp.Or(len(prices[b])-len(prices[a]), cmp.Compare(a, b))
	}) {
		amounts := slices.SortedFunc(slices.Values(prices[currency]), (*big.Rat).Cmp)
		row["prices"] = append(row["prices"].([]Body), Body{
			"currency": currency, "cards": len(amounts), "min": decimalOf(amounts[0]),
			"median": decimalOf(amounts[(len(amounts)-1)/2]), "max": decimalOf(amounts[len(amounts)-1]),
		})
	}
	return row
}

// decimalOf writes a price with the digits that it has.
func decimalOf(price *big.Rat) json.Number {
	text := price.FloatString(4)
	return json.Number(strings.TrimSuffix(strings.TrimRight(text, "0"), "."))
}
