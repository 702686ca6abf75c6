package metrics

import (
	"context"
	"encoding/json"

	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// shoppingSummaryBody answers GET /api/v1/shopping-summary: whose products AI platforms list, where and at which price.
type shoppingSummaryBody struct {
	Totals shoppingTotals  `json:"totals"`
	Brands []shoppingBrand `json:"brands"` // the brand, its live competitors by name, all others
}

type shoppingTotals struct {
	Lists        int64  `json:"lists"` // answers with a product
	Prompts      uint64 `json:"prompts"`
	Merchants    uint64 `json:"merchants"`     // that sell the brand's products
	OwnMerchants uint64 `json:"own_merchants"` // with a domain of the brand
}

type shoppingBrand struct {
	ID          *string         `json:"id"`   // null: others
	Name        *string         `json:"name"` // null: others
	Role        string          `json:"role"`
	Lists       int64           `json:"lists"` // with such a product
	SharePct    *float64        `json:"share_pct"`
	Share       *interval       `json:"share_interval"`
	AvgPosition *float64        `json:"avg_position"` // of the first such product of a list
	Prices      []shoppingPrice `json:"prices"`       // by cards descending, then by currency
}

type shoppingPrice struct {
	Currency string      `json:"currency"`
	Cards    int64       `json:"cards"`
	Min      json.Number `json:"min"`
	Median   json.Number `json:"median"`
	Max      json.Number `json:"max"`
}

func (a *API) shoppingSummary(ctx context.Context, caller identity.Identity, q *query) (any, error) {
	p := q.common(a.now())
	if err := q.check(); err != nil {
		return nil, err
	}
	names, err := a.findNames(ctx, caller, p.brandID)
	if err != nil {
		return nil, err
	}
	var entities []clickhouse.ListedEntity
	var prices []clickhouse.PriceRange
	filter := p.filter(caller.OrganizationID)
	err = a.runAll(ctx,
		fetch(&entities, clickhouse.ShoppingLists,
			clickhouse.ProductListFilter{Filter: filter, Domains: names.Domains}),
		fetch(&prices, clickhouse.ShoppingPrices, filter))
	if err != nil {
		return nil, err
	}
	first := entities[0]
	body := shoppingSummaryBody{
		Totals: shoppingTotals{first.AllLists, first.PromptCount, first.Merchants, first.OwnMerchants},
	}
	for _, e := range entities {
		if e.Role == "own" {
			e.Name = names.Name
		}
		row := shoppingBrand{
			ID: nullIfNil(e.ID), Name: nullIfEmpty(e.Name), Role: e.Role, Lists: e.Lists, SharePct: e.SharePct,
			Share: intervalOver(e.AllLists, e.ShareLow, e.ShareHigh), AvgPosition: e.AvgPosition,
			Prices: []shoppingPrice{},
		}
		for _, r := range prices {
			if r.ID == e.ID {
				row.Prices = append(row.Prices, shoppingPrice{r.Currency, r.Cards,
					*exact(r.Lowest.String()), *exact(r.Median.String()), *exact(r.Highest.String())})
			}
		}
		body.Brands = append(body.Brands, row)
	}
	return body, nil
}
