package near

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/pipeline/extract"
)

// names has the names of a brand and its competitors, ready for search.
type names struct {
	answer  event.Answer // with only the brand and its competitors
	all     []*name
	byFirst [256][]*name // of five letters or more, by the first byte of joined
}

// A name is a name or alias, in one spelling of its umlauts.
type name struct {
	entity, written string
	text            string   // folded
	words           []string // of text
	joined          string   // words without separators
	capital         bool     // it begins with one
}

// use prepares the names of an answer's brand, unless the previous answer had the same.
func (n *names) use(a *event.Answer) {
	if n.answer.Brand.ID == a.Brand.ID && n.answer.Brand.Revision == a.Brand.Revision && len(n.all) > 0 {
		return
	}
	*n = names{answer: event.Answer{Brand: a.Brand, Competitors: a.Competitors}}
	for _, entity := range append([]event.Entity{a.Brand.Entity}, a.Competitors...) {
		for _, written := range append([]string{entity.Name}, entity.Aliases...) {
			n.add(entity.Name, written, written)
			if spelled := extract.Spelled(written); spelled != written {
				n.add(entity.Name, written, spelled)
			}
		}
	}
}

func (n *names) add(entity, written, spelled string) {
	text := strings.TrimSpace(extract.Fold(spelled))
	notInWord := func(r rune) bool { return !inWord(r) }
	one := &name{entity: entity, written: written, text: text, words: strings.FieldsFunc(text, notInWord)}
	one.joined = strings.Join(one.words, "")
	first, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(spelled, notInWord))
	one.capital = isCapital(first)
	n.all = append(n.all, one)
	if utf8.RuneCountInString(one.joined) >= shortestName {
		n.byFirst[one.joined[0]] = append(n.byFirst[one.joined[0]], one)
	}
}

// has reports whether a text names the brand or a competitor, or is part of a name of theirs.
func (n *names) has(text, folded string) bool {
	a := n.answer
	a.Text = text
	reading := extract.Read(&a)
	named := func(e extract.EntityReading) bool { return e.Mentions > 0 }
	if named(reading.Brand) || slices.ContainsFunc(reading.Competitors, named) {
		return true
	}
	return slices.ContainsFunc(n.all, func(one *name) bool {
		return strings.Contains(" "+one.text+" ", " "+folded+" ")
	})
}
