package simulator

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
)

// draft is an answer being written.
type draft struct {
	chance    *rand.Rand
	phrases   phrases
	prompt    string
	text      strings.Builder
	citations []platform.Citation
	products  []event.Product
}

// strangers are names outside the cast, for answers that name none of it.
var strangers = []string{"Fictiva", "Exempla", "Imagino", "Placeholder & Sons"}

// advise writes an answer of half a kilobyte to four: a label, an introduction,
// a paragraph for each name with its sources, general advice and an end.
func (s *Simulator) advise(d *draft, named []event.Entity) {
	d.paragraph(d.phrases["label"][0])
	d.paragraph(d.say("intro", "", ""))
	if len(named) == 0 {
		d.paragraph(d.say("neutral", pick(d.chance, strangers), pick(d.chance, strangers)))
	}
	for i, e := range named {
		d.item(i, e, named)
	}
	for _, i := range d.chance.Perm(len(d.phrases["filler"]))[:1+d.chance.IntN(4)] {
		d.paragraph(d.fill(d.phrases["filler"][i], "", ""))
		if d.chance.Float64() < 0.35 {
			d.cite(elsewhere(d.chance))
		}
	}
	d.paragraph(d.say("closing", "", ""))
	for range d.chance.IntN(3) {
		consulted := elsewhere(d.chance)
		consulted.Cited = false
		d.citations = append(d.citations, platform.Citation{Citation: consulted})
	}
}

// item writes the paragraph of one entity. The tone is better for the first ones.
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
	d.paragraph(fmt.Sprintf("%d. %s", position+1, d.say(kind, name, other)))
	start := d.text.Len()
	if d.chance.Float64() < 0.5 {
		d.sentence(d.say("neutral", e.Name, other))
	}
	if len(e.Domains) > 0 && d.chance.Float64() < 0.35 {
		d.citeFrom(start, own(d.chance, e))
	}
	if d.chance.Float64() < 0.3 {
		d.citeFrom(start, elsewhere(d.chance))
	}
}

// say fills in a random sentence of a kind.
func (d *draft) say(kind, name, other string) string {
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

func (d *draft) sentence(text string) {
	d.text.WriteString(" " + text)
}

func (d *draft) cite(c event.Citation) { d.citeFrom(d.text.Len(), c) }

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
