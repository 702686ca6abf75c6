package extract

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/answerscope/answerscope/ingest/event"
)

// A name is a folded name, alias or domain of an entity.
type name struct {
	entity int // index in the record's order, the brand first
	text   string
	length int // in code points
}

// names holds the names of all tracked entities of a record, ready for search.
type names struct {
	entities int
	all      []name      // by first byte, entity, length descending
	starts   [257]uint32 // names that begin with byte c: all[starts[c]:starts[c+1]]
}

// namesOf folds the names of the brand (entity 0) and its competitors (1…). A name that folds to nothing is dropped;
// names that fold alike are one. spell returns another spelling of a name, or the name.
func namesOf(brand *event.Entity, competitors []event.Entity, spell func(name string) string) *names {
	n := &names{entities: 1 + len(competitors)}
	n.add(0, brand, spell)
	for i := range competitors {
		n.add(1+i, &competitors[i], spell)
	}
	slices.SortFunc(n.all, func(a, b name) int {
		return cmp.Or(cmp.Compare(a.text[0], b.text[0]), cmp.Compare(a.entity, b.entity),
			cmp.Compare(b.length, a.length), cmp.Compare(a.text, b.text))
	})
	n.all = slices.Compact(n.all)
	for _, each := range n.all {
		n.starts[int(each.text[0])+1]++
	}
	for c := range 256 {
		n.starts[c+1] += n.starts[c]
	}
	return n
}

// add adds names and aliases in both spellings; a domain with other letters is another domain.
func (n *names) add(entity int, e *event.Entity, spell func(name string) string) {
	for _, name := range append([]string{e.Name}, e.Aliases...) {
		n.addName(entity, name)
		if other := spell(name); other != name {
			n.addName(entity, other)
		}
	}
	for _, domain := range e.Domains {
		n.addName(entity, ownDomain(domain))
	}
}

func (n *names) addName(entity int, text string) {
	text = strings.TrimSpace(Fold(text))
	if text != "" {
		n.all = append(n.all, name{entity, text, utf8.RuneCountInString(text)})
	}
}

// umlauts replaces umlauts as people do without their keys. Folding makes ss of ß, and drops the dots of umlauts.
var umlauts = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "Ä", "Ae", "Ö", "Oe", "Ü", "Ue")

// Spelled is a name with every umlaut as two letters.
func Spelled(name string) string {
	if composed := norm.NFC.String(name); strings.ContainsAny(composed, "äöüÄÖÜ") {
		return umlauts.Replace(composed)
	}
	return name
}
