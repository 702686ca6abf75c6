package extract

import (
	"cmp"
	"math"
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
	second byte // of text; 0: it has none, or the first joint is there
	length int  // in code points
	number int  // of the name as it is written, which may have several spellings

	// Of versions that find names as readers do:
	joint      int  // end of the first of several words, which may be joined otherwise; 0: it is one word
	hasCapital bool // as it is written
	isOrdinary bool // it is one word of English, with a capital
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
	n.all = make([]name, 0, 4*n.entities)
	n.add(0, brand)
	for i := range competitors {
		n.add(1+i, &competitors[i])
	}
	slices.SortFunc(n.all, func(a, b name) int {
		return cmp.Or(cmp.Compare(a.text[0], b.text[0]), cmp.Compare(a.entity, b.entity),
			cmp.Compare(b.length, a.length), cmp.Compare(a.text, b.text),
			cmp.Compare(a.rank(), b.rank()))
	})
	n.all = slices.CompactFunc(n.all, func(a, b name) bool { return a.entity == b.entity && a.text == b.text })
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
	for number, name := range append([]string{e.Name}, e.Aliases...) {
		n.addName(entity, number, name, n.asRead)
		for _, other := range n.spellings(name) {
			n.addName(entity, number, other, n.asRead)
		}
	}
	for _, domain := range e.Domains {
		n.addName(entity, 0, ownDomain(domain), false)
	}
}

func (n *names) addName(entity, number int, written string, asRead bool) {
	written = n.unescaped(written)
	text := strings.TrimSpace(n.alphabet().fold(written))
	if text == "" {
		return
	}
	one := name{entity: entity, text: text, length: utf8.RuneCountInString(text), number: number}
	if asRead {
		one.joint = max(0, 1+strings.IndexAny(text[1:], joints))
		one.hasCapital = strings.ContainsFunc(written, IsCapital)
		one.isOrdinary = one.hasCapital && one.joint == 0 && IsOrdinary(text)
	}
	if len(text) > 1 && one.joint != 1 {
		one.second = text[1]
	}
	n.all = append(n.all, one)
}

// rank orders names that fold alike: first one without capitals, which is found in lower case everywhere.
func (n *name) rank() int {
	if n.hasCapital {
		return math.MaxInt/2 + n.number
	}
	return n.number
}

var (
	// umlauts replaces umlauts as people do without their keys. Folding makes ss of ß, and drops the dots of umlauts.
	umlauts = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "Ä", "Ae", "Ö", "Oe", "Ü", "Ue")
	// oneLetter and twoLetters replace letters that folding leaves, with their two usual spellings.
	oneLetter = strings.NewReplacer("ø", "o", "Ø", "O", "æ", "ae", "Æ", "Ae", "œ", "oe", "Œ", "Oe", "ł", "l", "Ł", "L",
		"đ", "d", "Đ", "D", "ð", "d", "Ð", "D", "ħ", "h", "Ħ", "H", "ŧ", "t", "Ŧ", "T", "þ", "th", "Þ", "Th", "ı", "i")
	twoLetters = strings.NewReplacer("ø", "oe", "Ø", "Oe")
)

// Spellings returns the other spellings of a name: with every umlaut as two letters, and as keyboards without letters
// such as ø, æ and ł write it.
func Spellings(name string) (others []string) {
	if isASCII(name) {
		return nil
	}
	composed := norm.NFC.String(name)
	twoLetter := umlauts.Replace(composed)
	for _, other := range []string{twoLetter, BaseLetters(composed), BaseLetters(twoLetters.Replace(twoLetter))} {
		if other != composed && !slices.Contains(others, other) {
			others = append(others, other)
		}
	}
	return others
}

// BaseLetters replaces letters that folding leaves by their usual spelling: ø by o, æ by ae, ı by i.
func BaseLetters(text string) string { return oneLetter.Replace(text) }

// umlautSpellings has the spellings of versions 2 and 3.
func umlautSpellings(name string) []string {
	if composed := norm.NFC.String(name); strings.ContainsAny(composed, "äöüÄÖÜ") {
		return []string{umlauts.Replace(composed)}
	}
	return nil
}
