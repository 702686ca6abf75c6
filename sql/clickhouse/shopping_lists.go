package clickhouse

import (
	"slices"
	"strings"

	"github.com/answerscope/answerscope/sql/clickhouse/formula"
)

// ProductListFilter is a Filter of product lists; Domains are the brand's own.
type ProductListFilter struct {
	Filter
	Domains []string `ch:"domains"`
}

// ShoppingLists returns a row for the brand, one for each live competitor by name, and one for all other products.
var ShoppingLists = EntityFigures[ProductListFilter, listSums, ListedEntity]{
	sumsOf[ProductListFilter, listSums]("shopping_lists"), listedRows,
}

// ListedEntity is whose products are in the product lists of a window; a list is an answer with cards.
type ListedEntity struct {
	ID           UUID     `ch:"entity_id"` // nil: no tracked entity
	Role         string   `ch:"role"`      // own, competitor, other
	Name         string   `ch:"name"`      // of a competitor
	AllLists     int64    `ch:"all_lists"`
	PromptCount  uint64   `ch:"prompt_count"` // of all lists
	Lists        int64    `ch:"lists"`        // with such a product
	SharePct     *float64 `ch:"share_pct"`    // of all lists
	ShareLow     *float64 `ch:"share_low"`    // nil under 5 prompts
	ShareHigh    *float64 `ch:"share_high"`
	AvgPosition  *float64 `ch:"avg_position"`   // of the first such product, over Lists
	Merchants    uint64   `ch:"merchant_count"` // that sell the brand's products, on every row
	OwnMerchants uint64   `ch:"own_merchants"`  // of these, with a domain of the brand
}

// listSums has the sums of an owner of products over lists; only the brand's row counts all lists. Of a prompt's
// lists n, of which y have such a product, YY is the sum of y^2 and YN of y x n.
type listSums struct {
	Owner       UUID     `ch:"owner"`
	PromptCount uint64   `ch:"prompt_count"`
	AllLists    int64    `ch:"all_lists"`
	NN          int64    `ch:"nn"`
	Lists       int64    `ch:"lists"`
	Places      int64    `ch:"places"`
	YY          int64    `ch:"yy"`
	YN          int64    `ch:"yn"`
	Merchants   []string `ch:"merchants"` // of the brand's products
}

// listedRows computes the figures of each owner; one without a row has zeros.
func listedRows(filter ProductListFilter, sums []listSums, entities []entity) (rows []ListedEntity) {
	owners := byEntity(sums, func(s listSums) (string, UUID) { return "", s.Owner })[""]
	brand := owners[filter.BrandID]
	ownMerchants := 0
	for _, merchant := range brand.Merchants {
		if slices.ContainsFunc(filter.Domains, func(domain string) bool {
			return strings.HasSuffix("."+domain, "."+merchant)
		}) {
			ownMerchants++
		}
	}
	for _, owner := range append(entities, entity{}) {
		s := owners[owner.ID]
		share := formula.Mean{
			Prompts: brand.PromptCount, Answers: brand.AllLists, NN: float64(brand.NN), // a list has 100 points
			Points: float64(100 * s.Lists), YY: float64(10000 * s.YY), YN: float64(100 * s.YN),
		}
		row := ListedEntity{
			ID: owner.ID, Role: "competitor", Name: owner.Name,
			AllLists: brand.AllLists, PromptCount: brand.PromptCount, Lists: s.Lists,
			SharePct:    formula.Round(share.Value(), 1),
			AvgPosition: formula.Round(formula.Ratio(float64(s.Places), float64(s.Lists)), 1),
			Merchants:   uint64(len(brand.Merchants)), OwnMerchants: uint64(ownMerchants),
		}
		row.ShareLow, row.ShareHigh = share.Interval()
		switch owner.ID {
		case filter.BrandID:
			row.Role = "own"
		case UUID{}:
			row.Role = "other"
		}
		rows = append(rows, row)
	}
	return rows
}
