package naive

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/rivo/uniseg"
	"golang.org/x/text/unicode/norm"
)

// mentions counts where the entity's names, aliases and domains occur in a folded text, and where the first of them
// starts.
func mentions(text string, e event.Entity) (count, first int) {
	var names []string
	for _, name := range append([]string{e.Name}, e.Aliases...) {
		names = append(names, spellings(name)...)
	}
	names = append(names, owned(e.Domains)...)
	for i := range names {
		names[i] = strings.Trim(fold(seen(names[i])), " ")
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" })
	slices.SortStableFunc(names, func(a, b string) int {
		return utf8.RuneCountInString(b) - utf8.RuneCountInString(a)
	})
	boundary := boundaries(text)
	used := make([]bool, len(text))
	first = len(text)
	for _, name := range names {
		for start := 0; start+len(name) <= len(text); start++ {
			end := start + len(name)
			if text[start:end] != name || slices.Contains(used[start:end], true) {
				continue
			}
			if !isEdge(text, start, boundary) || !isEdge(text, end, boundary) && !hangulAt(text, end) {
				continue
			}
			for i := start; i < end; i++ {
				used[i] = true
			}
			count++
			first = min(first, start)
		}
	}
	return count, first
}

// spellings are a name in all its spellings: as written, and as keyboards without umlauts or without further letters of
// the Latin alphabet write it.
func spellings(name string) []string {
	replaced := func(name string, letters ...string) string {
		for i := 0; i < len(letters); i += 2 {
			name = strings.ReplaceAll(name, letters[i], letters[i+1])
			name = strings.ReplaceAll(name, strings.ToUpper(letters[i]), strings.ToUpper(letters[i+1]))
		}
		return name
	}
	plain := func(name string) string {
		name = strings.ReplaceAll(name, "ı", "i") // whose capital is I
		return replaced(name, "ø", "o", "æ", "ae", "œ", "oe", "ł", "l", "đ", "d", "ð", "d", "ħ", "h", "ŧ", "t",
			"þ", "th")
	}
	composed := norm.NFC.String(name)
	umlauts := replaced(composed, "ä", "ae", "ö", "oe", "ü", "ue")
	return []string{name, umlauts, plain(composed), plain(replaced(umlauts, "ø", "oe"))}
}

// isEdge says whether a name may end or begin at byte at.
func isEdge(text string, at int, boundary map[int]bool) bool {
	if boundary[at] {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[at:])
	return !inWord(before) || !inWord(after)
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) }

func hangulAt(text string, at int) bool {
	r, _ := utf8.DecodeRuneInString(text[at:])
	return r >= 0xac00 && r <= 0xd7a3
}

// boundaries are the word boundaries of UAX 29, as bytes.
func boundaries(text string) map[int]bool {
	at, state := 0, -1
	found := map[int]bool{0: true}
	for rest := text; rest != ""; {
		var word string
		word, rest, state = uniseg.FirstWordInString(rest, state)
		at += len(word)
		found[at] = true
	}
	return found
}
