package simulator

import (
	"fmt"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
)

// currencies by region; elsewhere it is USD.
var currencies = map[string]string{
	"gb": "GBP", "de": "EUR", "fr": "EUR", "es": "EUR", "at": "EUR", "jp": "JPY", "kr": "KRW", "cn": "CNY", "sa": "SAR", "eg": "EGP",
}

// shop writes a short answer with the cards of three to eight products, those by named entities first.
func (s *Simulator) shop(d *draft, q platform.Question, named []event.Entity) {
	d.paragraph(d.phrases["label"][0])
	d.paragraph(d.say("intro", "", ""))
	makers := named
	for range max(0, 3-len(named)) + d.chance.IntN(3) {
		makers = append(makers, event.Entity{Name: pick(d.chance, strangers)})
	}
	for i, maker := range makers[:min(len(makers), 8)] {
		d.products = append(d.products, d.product(i+1, maker, q.Region))
		d.paragraph(fmt.Sprintf("%d. %s", i+1, d.say("neutral", maker.Name, pick(d.chance, strangers))))
	}
	d.paragraph(d.say("closing", "", ""))
}

func (d *draft) product(position int, maker event.Entity, region string) event.Product {
	n := 1 + d.chance.IntN(40)
	p := event.Product{
		Position:      position,
		Title:         fmt.Sprintf("%s Model %d (simulated)", maker.Name, n),
		Brand:         maker.Name,
		PriceAmount:   fmt.Sprintf("%d.%02d", 20+d.chance.IntN(400), d.chance.IntN(100)),
		PriceCurrency: "USD",
		URL:           fmt.Sprintf("https://shop-%d.example/simulated/%d", 1+d.chance.IntN(4), n),
		ImageURL:      fmt.Sprintf("https://images.simulated.example/%d.jpg", n),
		Rating:        float64(30+d.chance.IntN(21)) / 10,
		ReviewCount:   int64(d.chance.IntN(2500)),
	}
	if currency, ok := currencies[region]; ok {
		p.PriceCurrency = currency
	}
	if len(maker.Domains) > 0 && d.chance.Float64() < 0.4 {
		p.URL = fmt.Sprintf("https://%s/products/simulated-%d", maker.Domains[0], n)
	}
	return p
}
