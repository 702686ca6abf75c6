package simulator

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
)

// draft is an answer that is being written.
type draft struct {
	chance    *rand.Rand
	phrases   phrases
	prompt    string
	text      strings.Builder
	citations []platform.Citation
	products  []event.Product
}

// strangers are names outside the cast.
var strangers = []string{"Fictiva", "Exempla", "Imagino", "Placeholder & Sons"}

// advise writes an answer of half a kilobyte to four: a label, an introduction,
// a paragraph for each name with its sources, perhaps one for a stranger, general advice and an end.
func (s *Simulator) advise(d *draft, named []event.Entity) {
	d.paragraph(d.phrases["label"][0])
	d.paragraph(d.sentence("intro", "", ""))
	if len(named) == 0 {
		d.paragraph(d.sentence("neutral", pick(d.chance, strangers), pick(d.chance, strangers)))
	}
	for i, e := range named {
		d.item(i, e, named)
	}
	if len(named) > 0 && d.chance.Float64() < 0.4 { // one that nobody tracks
		name := "**" + pick(d.chance, strangers[:3]) + "**"
		d.paragraph(fmt.Sprintf("%d. %s", len(named)+1, d.sentence("neutral", name, named[0].Name)))
	}
	for _, i := range d.chance.Perm(len(d.phrases["filler"]))[:1+d.chance.IntN(4)] {
		d.paragraph(d.fill(d.phrases["filler"][i], "", ""))
		if d.chance.Float64() < 0.35 {
			d.citeFrom(d.text.Len(), foreignPage(d.chance))
		}
	}
	d.paragraph(d.sentence("closing", "", ""))
	for range d.chance.IntN(3) {
		consulted := foreignPage(d.chance)
		consulted.Cited = false
		d.citations = append(d.citations, platform.Citation{Citation: consulted})
	}
}

// item writes the paragraph of one entity. The first ones get a better tone.
func (d *draft) item(position int, e event.Entity, named []event.Entity) {
	name := e.Name
	if len(e.Aliases) > 0 && d.chance.Float64() < 0.2 {
		name = pick(d.chance, e.Aliases)
	}
	other := pick(d.chance, strangers)
	if len(named) > 1 {
		other = named[(position+1)%len(named)].Name
	}
	kind, tone := "neutral", d.chance.Float64()-0.1*float64(position)
	if tone > 0.45 {
		kind = "positive"
	} else if tone < 0.05 {
		kind = "negative"
	}
	d.paragraph(fmt.Sprintf("%d. %s", position+1, d.sentence(kind, name, other)))
	start := d.text.Len()
	if d.chance.Float64() < 0.5 {
		d.text.WriteString(" " + d.sentence("neutral", e.Name, other))
	}
	if len(e.Domains) > 0 && d.chance.Float64() < 0.35 {
		d.citeFrom(start, ownPage(d.chance, e))
	}
	if d.chance.Float64() < 0.3 {
		d.citeFrom(start, foreignPage(d.chance))
	}
}

// sentence returns a random sentence of a kind, filled in.
func (d *draft) sentence(kind, name, other string) string {
	return d.fill(pick(d.chance, d.phrases[kind]), name, other)
}

func (d *draft) fill(sentence, name, other string) string {
	return strings.NewReplacer("{name}", name, "{other}", other, "{prompt}", d.prompt).Replace(sentence)
}

func (d *draft) paragraph(text string) {
	if d.text.Len() > 0 {
		d.text.WriteString("\n\n")
	}
	d.text.WriteString(text)
}

// citeFrom links a source in the text, and lists it as supporting the text from start to here.
func (d *draft) citeFrom(start int, c event.Citation) {
	fmt.Fprintf(&d.text, " ([%s %d](%s))", d.phrases["sources"][0], len(d.citations)+1, c.URL)
	d.citations = append(d.citations, platform.Citation{Citation: c, Start: start, End: d.text.Len()})
}

// queries returns invented search queries.
func (d *draft) queries() []string {
	queries := make([]string, 0, 2)
	for _, i := range d.chance.Perm(len(d.phrases["query"]))[:1+d.chance.IntN(2)] {
		queries = append(queries, d.fill(d.phrases["query"][i], "", ""))
	}
	return queries
}

// currencies maps regions; the others have USD.
var currencies = map[string]string{
	"gb": "GBP", "de": "EUR", "fr": "EUR", "es": "EUR", "at": "EUR", "jp": "JPY", "kr": "KRW", "cn": "CNY", "sa": "SAR",
	"eg": "EGP",
}

// shop writes a short answer with the cards of three to eight products, those by named entities first.
func (s *Simulator) shop(d *draft, q platform.Question, named []event.Entity) {
	d.paragraph(d.phrases["label"][0])
	d.paragraph(d.sentence("intro", "", ""))
	makers := named
	for range max(0, 3-len(named)) + d.chance.IntN(3) {
		makers = append(makers, event.Entity{Name: pick(d.chance, strangers)})
	}
	for i, maker := range makers[:min(len(makers), 8)] {
		d.products = append(d.products, d.product(i+1, maker, q.Region))
		d.paragraph(fmt.Sprintf("%d. %s", i+1, d.sentence("neutral", maker.Name, pick(d.chance, strangers))))
	}
	d.paragraph(d.sentence("closing", "", ""))
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

// foreignPages lists pages of other sites. Hosts with a source type are real, and the path shows that the page is not;
// the others have reserved domains.
var foreignPages = []struct{ host, path, title string }{
	{"www.reddit.com", "/r/simulated/comments/%d/", "Simulated thread %d"},
	{"www.reddit.com", "/r/simulated/comments/%d/?utm_source=simulator", "Simulated thread %d"},
	{"www.quora.com", "/simulated-question-%d", "Simulated question %d"},
	{"www.youtube.com", "/watch?v=simulated%d", "Simulated video %d"},
	{"www.trustpilot.com", "/review/simulated-%d.example", "Simulated reviews %d"},
	{"www.nist.gov", "/simulated/report-%d", "Simulated report %d"},
	{"tests.simulated.example", "/ranking-%d.html", "Simulated ranking %d"},
	{"magazine.simulated.example", "/2026/guide-%d/#top", "Simulated guide %d"},
	{"daily-news.example", "/life/simulated-article-%d", "Simulated article %d"},
	{"blog.weekend-notes.example", "/simulated-post-%d?ref=home", "Simulated post %d"},
}

// foreignPage returns a page of neither the brand nor a competitor.
func foreignPage(c *rand.Rand) event.Citation {
	p := pick(c, foreignPages)
	n := 1 + c.IntN(9)
	return event.Citation{URL: fmt.Sprintf("https://"+p.host+p.path, n), Title: fmt.Sprintf(p.title, n), Cited: true}
}

// Pages lists the paths of an entity's site that answers cite and visitors land on.
var Pages = []string{
	"/", "/products", "/products/new?utm_source=simulator", "/support/warranty", "/stories/how-it-is-made/",
}

// ownPage returns a page under one of the entity's domains.
func ownPage(c *rand.Rand, e event.Entity) event.Citation {
	path := pick(c, Pages)
	host := pick(c, []string{"www.", "", "", "shop."}) + pick(c, e.Domains)
	return event.Citation{URL: "https://" + host + path, Title: e.Name + " (simulated page)", Cited: true}
}
