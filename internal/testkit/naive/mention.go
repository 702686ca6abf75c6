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
	written := append([]string{e.Name}, e.Aliases...)
	for _, name := range written {
		written = append(written, withoutUmlauts(name))
	}
	for _, name := range append(written, owned(e.Domains)...) {
		if name = strings.Trim(fold(name), " "); name != "" {
			names = append(names, name)
		}
	}
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

// withoutUmlauts is a name as a keyboard without umlauts writes it.
func withoutUmlauts(name string) string {
	name = norm.NFC.String(name)
	for umlaut, letters := range map[string]string{"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "AE", "Ö": "OE", "Ü": "UE"} {
		name = strings.ReplaceAll(name, umlaut, letters)
	}
	return name
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
