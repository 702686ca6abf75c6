package topics

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"

	"github.com/answerscope/answerscope/pipeline/extract"
)

// A word stands at text[start:end]. A phrase is a run of words that nothing else interrupts: "standing desk" and "tall
// people" in "Which standing desk is best for tall people?".
type word struct {
	stem               string
	phrase, start, end int
}

// maxText bounds the part of a prompt that is compared, in bytes.
const maxText = 500

var (
	// token is a word, or a sign that ends a phrase. Hiragana are signs: they mostly inflect and join words.
	token = regexp.MustCompile(`(?:[^\PL\p{Hiragana}]|[\pM\pN])+|[^\s\-‐'’]`)
	// idle is a token that ends a phrase, beside stop words: a sign, a number, a letter, a sentence without spaces.
	idle = regexp.MustCompile(`^(?:\PL*|.|\p{Han}.{12,}|.{30,})$`)
	// joiner stands within a phrase and is none of its words: machine à café, women's shoes.
	joiner = regexp.MustCompile(`^(?:à|d|de|des|du|l|of|s)$`)
	//go:embed words.txt
	wordList  string
	stopWords = strings.Fields(wordList)
)

func init() { slices.Sort(stopWords) }

// wordsOf returns the words of a text that distinguish it, each once.
func wordsOf(text string) (words []word) {
	phrase := 0
	for _, at := range token.FindAllStringIndex(text[:min(len(text), maxText)], -1) {
		lower := strings.ToLower(text[at[0]:at[1]])
		_, stops := slices.BinarySearch(stopWords, lower)
		switch stem := stemOf(lower); {
		case joiner.MatchString(lower), stops && strings.HasSuffix(text[:at[0]], "-"): // carry-on
		case stops, idle.MatchString(lower):
			phrase++
		case !slices.ContainsFunc(words, func(w word) bool { return w.stem == stem }):
			words = append(words, word{stem, phrase, at[0], at[1]})
		}
	}
	return words
}

// withoutNames deletes the words of names, which are given by their stems.
func withoutNames(words []word, names map[string]bool) []word {
	for i := 0; i < len(words); i++ {
		for n := min(maxWords, len(words)-i); n > 0; n-- {
			if names[stemsOf(words[i:i+n])] {
				words = slices.Delete(words, i, i+n)
				i--
				break
			}
		}
	}
	return words
}

// stemsOf returns the stems of words, a space before each.
func stemsOf(words []word) (stems string) {
	for _, w := range words {
		stems += " " + w.stem
	}
	return stems
}

// endings are cut from words that are longer, in this order: plurals and cases of English, French and German.
var endings = []struct {
	text   string
	longer int
}{{"s", 3}, {"x", 5}, {"en", 5}, {"er", 8}, {"ie", 4}, {"e", 3}, {"y", 4}}

// stemOf returns what a word has in common with its plural.
func stemOf(word string) string {
	stem := extract.Fold(word)
	for _, ending := range endings {
		if len(stem) > ending.longer && !strings.HasSuffix(stem, "ss") {
			stem = strings.TrimSuffix(stem, ending.text)
		}
	}
	return stem
}
