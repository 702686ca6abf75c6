package capture

import (
	"strings"
	"testing"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform/wire"
)

// card decodes a card.
func card(t *testing.T, text string) wire.Object {
	t.Helper()
	o, err := wire.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestAmountsAndCurrencies(t *testing.T) {
	for price, want := range map[string]string{
		`"$57.00"`: "57.00 USD", `"$1,299.00"`: "1299.00 USD", `"1.299,00 €"`: "1299.00 EUR",
		`"1 299,90 zł"`: "1299.90 PLN", `"CHF 1'299.90"`: "1299.90 CHF",
		`"€1.299"`: "1299 EUR", `"€1,2"`: "1.2 EUR", `"₩12,000"`: "12000 KRW",
		`"1.299.000 ₺"`: "1299000 TRY", `"₹1,29,999"`: "129999 INR", `"£10–£20"`: "10 GBP",
		`"From US$10.50 to US$20"`: "10.50 USD", `"R$ 1.299,90"`: "1299.90 BRL", `"C$5"`: "5 CAD", `"CA$5"`: "5 CAD",
		`"A$5"`: "5 AUD", `"¥5,000"`: "5000", `"5 kr"`: "5",
		`"57.00 USD"`: "57.00 USD", `"NOW 57"`: "57", `57`: "57", `57.5`: "57.5", `1e3`: "1000",
		`19.989999771118164`: "19.990000",
		`"Free"`:             "", `""`: "", `null`: "", `[]`: "", `{}`: "", `true`: "",
		`"9999999999999999"`: "", `-5`: "",
		`{"amount":"9.90","currency":"SEK"}`: "9.90 SEK", `{"value":9.9,"currency":"$","raw":"$9.90"}`: "9.9 USD",
		`{"current":12,"currency":"EUR"}`: "12 EUR", `{"raw":"€7"}`: "7 EUR",
		`"57.00 128 reviews"`: "57.00",
	} {
		p, ok := product(card(t, `{"title":"Tent","price":`+price+`}`), "us")
		if got := strings.TrimSpace(p.PriceAmount + " " + p.PriceCurrency); got != want || !ok {
			t.Errorf("%s: %q, want %q", price, got, want)
		}
	}
}

// A sign of several currencies is that of the region, or none.
func TestCurrencyOfTheRegion(t *testing.T) {
	for _, c := range []struct{ price, region, want string }{
		{"$5", "us", "USD"}, {"$5", "CA", "CAD"}, {"$5", "au", "AUD"}, {"$5", "mx", "MXN"}, {"$5", "de", ""},
		{"$5", "", ""},
		{"¥5", "jp", "JPY"}, {"¥5", "cn", "CNY"}, {"¥5", "us", ""}, {"€5", "us", "EUR"}, {"US$5", "ca", "USD"},
	} {
		if p, _ := product(card(t, `{"title":"Tent","price":"`+c.price+`"}`), c.region); p.PriceCurrency != c.want {
			t.Errorf("%s in %q: %q, want %q", c.price, c.region, p.PriceCurrency, c.want)
		}
	}
}

func TestCards(t *testing.T) {
	for text, want := range map[string]event.Product{
		`{"price":"$5"}`:           {PriceAmount: "5", PriceCurrency: "USD"},
		`{"title":" Tent "}`:       {Title: "Tent"},
		`{"title":7,"name":"Two"}`: {},
		`{"name":"Tent","rating":{"value":4.5,"votes_count":12},"images":["https://i.example/1"],"position":3}`: {
			Title: "Tent", Rating: 4.5, ReviewCount: 12, ImageURL: "https://i.example/1", Position: 3},
		`{"name":"Tent","rating":"high","reviews":"4.5K","image_url":"x","url":"y","position":-3}`: {Title: "Tent",
			ReviewCount: 4500},
		`{"name":"Tent","rating":-1,"reviews":"(1,234)","url":"https://s.example/?utm_a=1&v=2&utm_b#c"}`: {
			Title: "Tent", ReviewCount: 1234, URL: "https://s.example/?v=2#c"},
		`{"name":"Tent","merchants":[{"name":"Shop"}],"brandName":"B"}`: {Title: "Tent", Merchant: "Shop", Brand: "B"},
		`{"name":"Tent","merchants":"Shop + others"}`:                   {Title: "Tent", Merchant: "Shop"},
		`{"name":"Tent","reviews":"99999999999999999999","seller":"` + strings.Repeat("ü", 300) + `"}`: {
			Title: "Tent", Merchant: strings.Repeat("ü", 256)},
		`{"name":"` + strings.Repeat("a", 5000) + `"}`: {Title: strings.Repeat("a", 4096)},
		`{"name":"Tent","reviews":"1.2m","image_urls":[],"offers":[{"price":"€5","merchant":"Shop",` +
			`"url":"https://s.example/"},{"price":"€4"}]}`: {
			Title: "Tent", ReviewCount: 1_200_000, PriceAmount: "5", PriceCurrency: "EUR", Merchant: "Shop",
			URL: "https://s.example/"},
	} {
		if p, ok := product(card(t, text), "us"); p != want || ok != (want.Title != "") {
			t.Errorf("%s: %+v, want %+v", text, p, want)
		}
	}
}

// Positions that begin anew in a list count on; a card without one follows the others.
func TestPositionsCountOverAllLists(t *testing.T) {
	a := answer{lists: map[*any]bool{}}
	for _, list := range []string{
		`{"l":[{"title":"a","position":1},{"title":"b","position":2},{"position":3}]}`,
		`{"l":[{"title":"c","position":1},{"title":"d","position":2}]}`,
		`{"l":[{"title":"e","position":7},{"title":"f"}]}`,
	} {
		a.sell(card(t, list), "l")
	}
	var got []int
	for _, p := range a.products {
		got = append(got, p.Position)
	}
	if want := []int{1, 2, 3, 4, 7, 6}; len(got) != 6 || got[2] != 3 || got[3] != 4 || got[4] != 7 {
		t.Errorf("%d, want %d", got, want)
	}
}
