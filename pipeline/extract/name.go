package extract

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/answerscope/answerscope/ingest/event"
)

// A name is one way to name an entity, folded: its name, an alias, a domain.
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
// two that fold alike are one.
func namesOf(brand *event.Entity, competitors []event.Entity) *names {
	n := &names{entities: 1 + len(competitors)}
	n.add(0, brand)
	for i := range competitors {
		n.add(1+i, &competitors[i])
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

func (n *names) add(entity int, e *event.Entity) {
	n.addName(entity, e.Name)
	for _, alias := range e.Aliases {
		n.addName(entity, alias)
	}
	for _, domain := range e.Domains {
		n.addName(entity, ownDomain(domain))
	}
}

func (n *names) addName(entity int, text string) {
	text = strings.TrimSpace(fold(text))
	if text != "" {
		n.all = append(n.all, name{entity, text, utf8.RuneCountInString(text)})
	}
}
