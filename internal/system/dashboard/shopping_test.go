package dashboard

import (
	"fmt"
	"strings"
	"testing"
)

// Each picture of the screen has the API's figures, as has its first sentence.
func (d *dashboard) showsShopping(t *testing.T) {
	var body struct {
		Totals struct{ Lists float64 }
		Brands []struct {
			ID       *string
			Name     *string
			Lists    float64
			Share    *float64                      `json:"share_pct"`
			Interval *struct{ Low, High *float64 } `json:"share_interval"`
			Place    *float64                      `json:"avg_position"`
			Prices   []struct {
				Currency         string
				Cards            float64
				Min, Median, Max float64
			}
		}
	}
	d.ask(t, "shopping-summary?"+d.window(t)+"&brand_id="+d.brand, &body)
	var shares, places, prices []mark
	currency := ""
	for _, b := range body.Brands {
		m := mark{Key: "other", Row: "All others"}
		if b.ID != nil {
			m.Key, m.Row = *b.ID, *b.Name
		}
		share, place := m, m
		share.X, share.Value, share.N = "share of lists", *b.Share, &body.Totals.Lists
		share.Low, share.High = b.Interval.Low, b.Interval.High
		shares = append(shares, share)
		if b.Place != nil {
			place.X, place.Value, place.N = "mean place", *b.Place, &b.Lists
			places = append(places, place)
		}
		for _, p := range b.Prices {
			if currency == "" {
				currency = p.Currency
			}
			if price := m; p.Currency == currency {
				price.X, price.Value, price.Low, price.High, price.N = "middle price", p.Median, &p.Min, &p.Max,
					&p.Cards
				prices = append(prices, price)
			}
		}
	}
	d.at(t, "/brands/fernwood/shopping", "Shopping")
	d.showsMarks(t, "Product lists", "%", shares)
	finding := d.text(t, `document.querySelector("main section.card h2").textContent`)
	want := fmt.Sprintf("is in %s of %s product list", number(body.Brands[0].Lists), number(body.Totals.Lists))
	if !strings.Contains(finding, want) {
		t.Errorf("the finding is %q, want %q in it", finding, want)
	}
	d.showsMarks(t, "Prices", "", prices)
	d.click(t, "Mean place")
	d.page.Await(t, `document.querySelector('[data-x="mean place"]')`)
	d.showsMarks(t, "Product lists", "", places)
}
