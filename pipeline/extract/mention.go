package extract

import (
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// mentions calls f for every occurrence of an entity's name in folded text that counts as a mention, from left to
// right, with the bytes where it starts and ends. Of one entity's names that fit at a place the longest is taken, and
// no character is taken twice; entities do not shadow each other.
func (n *names) mentions(text []byte, f func(entity, at, end int)) {
	taken := make([]int, n.entities) // end of the text that is taken, by entity
	for at := range text {
		c := text[at]
		first, last := n.starts[c], n.starts[int(c)+1]
		if first == last || at > 0 && asciiWord[text[at-1]] && asciiWord[c] {
			continue
		}
		var begins, checked bool
		for _, each := range n.all[first:last] {
			end := at + len(each.text)
			if at < taken[each.entity] || end > len(text) || string(text[at:end]) != each.text {
				continue
			}
			if !checked {
				begins, checked = isWordEdge(text, at), true
			}
			if !begins {
				break
			}
			if isWordEdge(text, end) || isHangulSyllableAt(text, end) {
				taken[each.entity] = end
				f(each.entity, at, end)
			}
		}
	}
}

// first returns the first entity in the record's order that text names; -1: none.
func (n *names) first(text string) int {
	entity := -1
	if text == "" {
		return entity
	}
	n.mentions([]byte(n.fold(text)), func(e, _, _ int) {
		if entity < 0 || e < entity {
			entity = e
		}
	})
	return entity
}

// named reports whether text names an entity.
func (n *names) named(text string, entity int) bool {
	named := false
	n.mentions([]byte(n.fold(text)), func(e, _, _ int) { named = named || e == entity })
	return named
}

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
