package extract

import (
	_ "embed" // the list of words
	"strings"
	"sync"
)

// wordList has words of English in their base form, in lower case.
//
//go:embed lists/words.txt
var wordList string

// A word of the list has at most 12 letters. Without pointers, garbage collection does not look at 30,000 of them.
type word [12]byte

var words = sync.OnceValue(func() map[word]struct{} {
	words := map[word]struct{}{}
	for line := range strings.Lines(wordList) {
		if !strings.HasPrefix(line, "#") {
			words[wordOf(strings.TrimSuffix(line, "\n"))] = struct{}{}
		}
	}
	return words
})

func wordOf(text string) (w word) {
	copy(w[:], text)
	return w
}

// IsOrdinary reports whether folded text is one word of English: of the list, or with a usual ending.
func IsOrdinary(text string) bool {
	if isListed(text) {
		return true
	}
	for _, ending := range [...]string{"s", "es", "d", "ed", "r", "er", "rs", "ers", "ing", "ly"} {
		base, ok := strings.CutSuffix(text, ending)
		if ok && (isListed(base) || ending == "ing" && isListed(base+"e")) {
			return true
		}
	}
	return false
}

func isListed(text string) bool {
	if len(text) > len(word{}) {
		return false
	}
	_, ok := words()[wordOf(text)]
	return ok
}
