package extract

import (
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/jonreiter/govader"
)

// SentimentMethod names how Sentiment is found: the mean VADER compound (Hutto and Gilbert, 2014) of the sentences
// that name the entity, English only, as github.com/jonreiter/govader of that day computes it; positive from 0.05 on,
// negative from -0.05 down, as VADER's authors advise.
const SentimentMethod = "vader-en/govader-20250429"

// threshold is 0.05 in ten-thousandths, the unit to which VADER rounds a compound. A compound is rounded to it before
// it is added, so that neither the order of additions nor the machine's last bit changes a sentiment.
const threshold = 500

var vader = sync.OnceValue(govader.NewSentimentIntensityAnalyzer)

// compoundOf is the compound of a sentence, in ten-thousandths. govader cuts words at single spaces and knows
// negations only with a straight apostrophe.
func compoundOf(sentence string) int64 {
	words := strings.Fields(strings.ReplaceAll(sentence, "’", "'"))
	if !slices.ContainsFunc(words, hasValence) {
		return 0 // emphasis only changes a sum that is not 0; skipping these sentences takes 0.7 of the time
	}
	return int64(math.Round(vader().PolarityScores(strings.Join(words, " ")).Compound * 10_000))
}

// hasValence reports whether a word may count: it is in the lexicon, with or without the punctuation around it, or has
// an emoji, which VADER replaces by its description.
func hasValence(word string) bool {
	for _, r := range word {
		if r >= utf8.RuneSelf && vader().EmojiDict[string(r)] != "" {
			return true
		}
	}
	word = strings.ToLower(word)
	bare := strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return vader().Lexicon[bare] != 0 || len(bare) != len(word) && vader().Lexicon[word] != 0
}

// A tone sums up the compounds of the sentences that name an entity.
type tone struct{ sum, sentences int64 }

func (t tone) sentiment() Sentiment {
	switch {
	case t.sentences == 0:
		return Unknown
	case t.sum >= threshold*t.sentences:
		return Positive
	case t.sum <= -threshold*t.sentences:
		return Negative
	}
	return Neutral
}

// A sentence is part of a text.
type sentence struct {
	text   string
	folded int // where it begins in the folded text
}

// sentences computes the compounds of an answer's sentences, from left to right.
type sentences struct {
	all      []sentence
	at       int // the current sentence
	computed bool
	compound int64 // of the current sentence, if computed
}

// moveTo makes the sentence that has byte i of the folded prose the current one, and returns its number.
func (s *sentences) moveTo(i int) int {
	for s.at+1 < len(s.all) && s.all[s.at+1].folded <= i {
		s.at++
		s.computed = false
	}
	return s.at
}

// currentCompound is computed once for all entities that the sentence names.
func (s *sentences) currentCompound() int64 {
	if !s.computed {
		s.compound, s.computed = compoundOf(s.all[s.at].text), true
	}
	return s.compound
}
