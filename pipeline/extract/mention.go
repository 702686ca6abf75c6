package extract

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/answerscope/answerscope/ingest/event"
)

// A kind is what a place that reads like a name counts as.
type kind int

const (
	counts    kind = iota // a mention
	continues             // part of the entity's last mention: Samsung Galaxy
	leftOut               // an ordinary word: a ninja
)

// mentions calls f for every place in a passage that reads like an entity's name, from left to right, with the bytes
// where it starts and ends. Of one entity's names that fit at a place the longest is taken, and no character is taken
// twice; entities do not shadow each other.
func (n *names) mentions(p *passage, f func(entity, at, end int, is kind)) {
	last := make([]struct { // mention, by entity
		first, name int // numbers of its first and its last name
		end         int // of the text that is taken
	}, n.entities)
	text := p.folded
	for at := range text {
		c := text[at]
		first, next := n.starts[c], n.starts[int(c)+1]
		if first == next || at > 0 && asciiWord[text[at-1]] && asciiWord[c] {
			continue
		}
		var begins, checked, joined bool
		for i := first; i < next; i++ {
			each := &n.all[i]
			if each.second != 0 && (at+1 == len(text) || text[at+1] != each.second) {
				continue
			}
			end, exact := each.endAt(text, at)
			mine := &last[each.entity]
			if end < 0 || at < mine.end {
				continue
			}
			if !checked {
				begins, joined, checked = isWordEdge(text, at), n.asRead && followsWaw(text, at), true
			}
			if !begins && !(joined && each.length >= shortestAfterWaw) {
				continue
			}
			if !isWordEdge(text, end) && !isHangulSyllableAt(text, end) ||
				!exact && n.isAnothers(each.entity, text[at:end]) {
				continue
			}
			switch {
			case (each.isOrdinary || !exact && each.hasCapital) && p.isLower(at, end):
				f(each.entity, at, end, leftOut)
				continue
			case n.asRead && mine.end > 0 && each.number != mine.name && each.number != mine.first &&
				p.isOneLine(mine.end, at):
				f(each.entity, at, end, continues)
			default:
				f(each.entity, at, end, counts)
				mine.first = each.number
			}
			mine.name, mine.end = each.number, end
		}
	}
}

// isAnothers reports whether a spelling of an entity's name is the name of another one.
func (n *names) isAnothers(entity int, text []byte) bool {
	return slices.ContainsFunc(n.all, func(other name) bool {
		return other.entity != entity && other.text == string(text)
	})
}

// LeftOut returns the words of an answer that read like a name of the brand or a competitor and are not counted, since
// they are ordinary words there: folded, by entity, the brand first.
func LeftOut(a *event.Answer) [][]string {
	tracked := current.namesOf(&a.Brand.Entity, a.Competitors)
	p := current.passageOf(Prose(a.Text), false)
	words := make([][]string, tracked.entities)
	tracked.mentions(&p, func(entity, at, end int, is kind) {
		if word := string(p.folded[at:end]); is == leftOut && !slices.Contains(words[entity], word) {
			words[entity] = append(words[entity], word)
		}
	})
	return words
}

// first returns the first entity in the record's order that text names; -1: none.
func (n *names) first(text string) int {
	entity := -1
	if text == "" {
		return entity
	}
	n.mentionsIn(text, func(e int) {
		if entity < 0 || e < entity {
			entity = e
		}
	})
	return entity
}

// named reports whether text names an entity.
func (n *names) named(text string, entity int) bool {
	named := false
	n.mentionsIn(text, func(e int) { named = named || e == entity })
	return named
}

// mentionsIn calls f for every mention in a text that is no Markdown.
func (n *names) mentionsIn(text string, f func(entity int)) {
	p := n.passageOf(n.unescaped(text), false)
	n.mentions(&p, func(entity, _, _ int, is kind) {
		if is == counts {
			f(entity)
		}
	})
}

// followsWaw reports whether an Arabic "and" stands before byte at, which is written on to the next word.
func followsWaw(text []byte, at int) bool {
	const waw = "و"
	return at >= len(waw) && string(text[at-len(waw):at]) == waw && isWordEdge(text, at-len(waw))
}

// shortestAfterWaw is the length of a name that is found after an "and"; with shorter ones it is often another word.
const shortestAfterWaw = 3

// isWordEdge reports whether a name may begin or end at byte i: at a UAX 29 word boundary or beside a character that is
// no letter, mark or digit.
func isWordEdge(text []byte, i int) bool {
	if i == 0 || i == len(text) {
		return true
	}
	if a, b := text[i-1], text[i]; a < utf8.RuneSelf && b < utf8.RuneSelf {
		return !asciiWord[a] || !asciiWord[b]
	}
	before, n := utf8.DecodeLastRune(text[:i])
	after, m := utf8.DecodeRune(text[i:])
	if !inWord(before) || !inWord(after) {
		return true
	}
	if unicode.IsMark(after) {
		return false // WB4: a mark never starts a word
	}
	from := i - n
	for from > 0 && !unicode.IsLetter(before) && !unicode.IsDigit(before) {
		before, n = utf8.DecodeLastRune(text[:from])
		from -= n
	}
	return isBoundary(text[from:i+m], i-from)
}

// isBoundary reports whether a word ends at byte i by UAX 29. Text before a letter or digit has no influence beyond it,
// so text may begin at the last one before i and end with the character at i.
func isBoundary(text []byte, i int) bool {
	state := -1
	for at := 0; at < i; {
		var word []byte
		word, _, state = uniseg.FirstWord(text[at:], state)
		at += len(word)
		if at == i {
			return true
		}
	}
	return false
}

func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r)
}

// isHangulSyllableAt reports whether a particle may follow a name, which Korean writes without a space: `Apple은`.
func isHangulSyllableAt(text []byte, i int) bool {
	r, _ := utf8.DecodeRune(text[i:])
	return 0xAC00 <= r && r <= 0xD7A3
}

var asciiWord = func() (set [256]bool) {
	for c := range utf8.RuneSelf {
		set[c] = inWord(rune(c))
	}
	return set
}()
