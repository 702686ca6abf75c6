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
	*rules
	entities int
	all      []name      // by first byte, entity, length descending
	starts   [257]uint32 // names that begin with byte c: all[starts[c]:starts[c+1]]
}

// namesOf folds the names of the brand (entity 0) and its competitors (1…). A name that folds to nothing is dropped;
// names that fold alike are one.
func (r *rules) namesOf(brand *event.Entity, competitors []event.Entity) *names {
	n := &names{rules: r, entities: 1 + len(competitors)}
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

// add adds names and aliases in all spellings; a domain with other letters is another domain.
func (n *names) add(entity int, e *event.Entity) {
	for _, name := range append([]string{e.Name}, e.Aliases...) {
		for _, spelling := range n.spellings(name) {
			n.addName(entity, spelling)
		}
	}
	for _, domain := range e.Domains {
		n.addName(entity, ownDomain(domain))
	}
}

func (n *names) addName(entity int, text string) {
	text = strings.TrimSpace(n.fold(text))
	if text != "" {
		n.all = append(n.all, name{entity, text, utf8.RuneCountInString(text)})
	}
}

var (
	// umlauts replaces umlauts as people do without their keys. Folding makes ss of ß, and drops the dots of umlauts.
	umlauts = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "Ä", "Ae", "Ö", "Oe", "Ü", "Ue")
	// oneLetter and twoLetters replace letters that folding leaves, with their two usual spellings.
	oneLetter = strings.NewReplacer("ø", "o", "Ø", "O", "æ", "ae", "Æ", "Ae", "œ", "oe", "Œ", "Oe", "ł", "l", "Ł", "L",
		"đ", "d", "Đ", "D", "ð", "d", "Ð", "D", "ħ", "h", "Ħ", "H", "ŧ", "t", "Ŧ", "T", "þ", "th", "Þ", "Th", "ı", "i")
	twoLetters = strings.NewReplacer("ø", "oe", "Ø", "Oe")
)

// Spellings returns a name, and its other spellings: with every umlaut as two letters, and with letters such as ø, æ
// and ł as keyboards without them write them.
func Spellings(name string) []string {
	composed := norm.NFC.String(name)
	spellings := []string{name}
	for _, other := range []string{
		umlauts.Replace(composed), BaseLetters(composed), BaseLetters(twoLetters.Replace(umlauts.Replace(composed))),
	} {
		if other != composed && !slices.Contains(spellings, other) {
			spellings = append(spellings, other)
		}
	}
	return spellings
}

// BaseLetters replaces letters that folding leaves by their usual spelling: ø by o, æ by ae, ı by i.
func BaseLetters(text string) string { return oneLetter.Replace(text) }

// umlautSpellings has the spellings of versions 2 and 3.
func umlautSpellings(name string) []string {
	if composed := norm.NFC.String(name); strings.ContainsAny(composed, "äöüÄÖÜ") {
		return []string{name, umlauts.Replace(composed)}
	}
	return []string{name}
}
