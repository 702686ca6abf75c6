package extract

import "math"

// SentimentMethod names how Sentiment is found: the mean VADER compound of the
// sentences that name the entity, English only, by the words and rules of the
// module github.com/jonreiter/govader of that day; positive from 0.05 on,
// negative from -0.05 down, as VADER's authors advise.
const SentimentMethod = "vader-en/govader-20250429"

// threshold is 0.05 in the unit of a compound: a ten-thousandth, to which VADER
// rounds. Sums of whole numbers do not depend on their order.
const threshold = 500

// A tone is the sum of the compounds of the sentences that name an entity.
type tone struct {
	sum       int64
	sentences int64
}

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

// A sentence is part of an answer's prose, and where it begins folded.
type sentence struct {
	text   string
	folded int
}

// listener gives the tone of the sentences of an answer, asked for from left to
// right.
type listener struct {
	sentences []sentence
	at        int   // the sentence at hand
	heard     bool  // its compound is known
	compound  int64 // in ten-thousandths
	room      phrase
}

// sentenceOf moves to the sentence that holds byte i of the folded text, and
// gives its number.
func (l *listener) sentenceOf(i int) int {
	for l.at+1 < len(l.sentences) && l.sentences[l.at+1].folded <= i {
		l.at++
		l.heard = false
	}
	return l.at
}

// tone is the compound of the sentence at hand.
func (l *listener) tone() int64 {
	if !l.heard {
		l.compound = int64(math.Round(english().compound(&l.room, l.sentences[l.at].text) * 10_000))
		l.heard = true
	}
	return l.compound
}
