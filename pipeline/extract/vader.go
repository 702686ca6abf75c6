package extract

import (
	"math"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/jonreiter/govader"
)

// vader holds the words and rules by which VADER (Hutto and Gilbert, 2014)
// scores English sentences: govader's, to whose figures compound keeps. govader
// itself takes eight times as long, which would be most of a reading.
type vader struct {
	terms  map[string]term
	idioms map[string]float64 // of several words: the tone of all
	boosts map[string]float64 // of several words
	emoji  map[rune]string
}

// A term is what VADER knows of a word in lower case.
type term struct {
	tone    float64 // where toned
	boost   float64 // where boosts: what the word adds to the tone of one after it
	toned   bool
	boosts  bool
	negates bool
}

var english = sync.OnceValue(func() *vader {
	source := govader.NewSentimentIntensityAnalyzer()
	v := &vader{
		terms:  make(map[string]term, len(source.Lexicon)),
		idioms: source.Constants.SpecialCaseIdioms,
		boosts: map[string]float64{},
		emoji:  make(map[rune]string, len(source.EmojiDict)),
	}
	for word, tone := range source.Lexicon {
		v.terms[word] = term{tone: tone, toned: true}
	}
	for _, word := range source.Constants.NegateList {
		known := v.terms[word]
		known.negates = true
		v.terms[word] = known
	}
	for word, boost := range source.Constants.BoosterDict {
		if strings.Contains(word, " ") {
			v.boosts[word] = boost
			continue
		}
		known := v.terms[word]
		known.boost, known.boosts = boost, true
		v.terms[word] = known
	}
	for emoji, description := range source.EmojiDict {
		if r, n := utf8.DecodeRuneInString(emoji); n == len(emoji) {
			v.emoji[r] = description
		}
	}
	return v
})

// VADER's constants, found empirically by its authors.
const (
	capitals     = 0.733 // a word in capitals among words that are not
	negation     = -0.74
	never        = 1.25
	secondBefore = 0.95 // a booster two words before
	thirdBefore  = 0.9
	exclamation  = 0.292
	question     = 0.18
	questions    = 0.96 // four and more
	beforeBut    = 0.5
	afterBut     = 1.5
	alpha        = 15
)

// A phrase is a sentence cut into words at white space.
type phrase struct {
	words    []spoken
	capitals bool // some words are in capitals and some are not
}

// A spoken word has lost the punctuation around it, unless fewer than three
// bytes were left.
type spoken struct {
	text    string
	lower   string
	shouted bool // has capitals of ASCII and no small letters
	term
}

// compound is the sentence's tone, -1..1. It cuts the sentence up in p, whose
// room the next sentence may use again. Products are rounded before they are
// added, so that every machine gives the same figure.
func (v *vader) compound(p *phrase, sentence string) float64 {
	sentence = v.spellOut(sentence)
	v.cut(p, sentence)
	sum, but := 0.0, false
	for i := range p.words {
		tone, word := 0.0, &p.words[i]
		if word.toned && !word.boosts && !(word.lower == "kind" && p.is(i+1, "of")) {
			tone = v.tone(p, i)
		}
		switch {
		case word.lower == "but" && !but:
			but = true
			sum = float64(sum*beforeBut) + tone
		case but:
			sum += float64(tone * afterBut)
		default:
			sum += tone
		}
	}
	switch emphasis := emphasisOf(sentence); {
	case sum > 0:
		sum += emphasis
	case sum < 0:
		sum -= emphasis
	}
	return sum / math.Sqrt(float64(sum*sum)+alpha)
}

// spellOut writes emoji as their descriptions and ’ as ', which negations are
// written with.
func (v *vader) spellOut(s string) string {
	if isASCII(s) {
		return s
	}
	var out strings.Builder
	afterSpace := true
	for _, r := range s {
		if description, ok := v.emoji[r]; ok {
			if !afterSpace {
				out.WriteByte(' ')
			}
			out.WriteString(description)
			afterSpace = false
			continue
		}
		if r == '’' {
			r = '\''
		}
		out.WriteRune(r)
		afterSpace = r == ' '
	}
	return out.String()
}

func (v *vader) cut(p *phrase, sentence string) {
	lowered := strings.ToLower(sentence)
	aligned := isASCII(sentence) // else lower case may have other lengths
	p.words = p.words[:0]
	shouts := 0
	for i := 0; i < len(sentence); {
		if n := spaceAt(sentence, i); n > 0 {
			i += n
			continue
		}
		end := wordEnd(sentence, i)
		from, to := unpunctuated(sentence, i, end)
		word := spoken{text: sentence[from:to], shouted: isShouted(sentence[from:to])}
		if aligned {
			word.lower = lowered[from:to]
		} else {
			word.lower = strings.ToLower(word.text)
		}
		word.term = v.terms[word.lower]
		if word.shouted {
			shouts++
		}
		p.words = append(p.words, word)
		i = end
	}
	p.capitals = 0 < shouts && shouts < len(p.words)
}

func wordEnd(s string, i int) int {
	for i < len(s) {
		if spaceAt(s, i) > 0 {
			break
		}
		i++
	}
	return i
}

func unpunctuated(s string, i, end int) (from, to int) {
	from, to = i, end
	for from < to && punctuation[s[from]] {
		from++
	}
	for from < to && punctuation[s[to-1]] {
		to--
	}
	if to-from < 3 {
		return i, end // an emoticon perhaps
	}
	return from, to
}

var punctuation = func() (set [256]bool) {
	for _, c := range "!\"#$%&\\'()*+,-./:;<=>?@[]^_`{|}~" {
		set[c] = true
	}
	return set
}()

func isShouted(word string) bool {
	large := false
	for i := range len(word) {
		if c := word[i]; 'a' <= c && c <= 'z' {
			return false
		} else if 'A' <= c && c <= 'Z' {
			large = true
		}
	}
	return large
}

func (p *phrase) is(i int, word string) bool {
	return 0 <= i && i < len(p.words) && p.words[i].lower == word
}

// tone is what word i, which has one, adds to that of the phrase, with the words
// around it.
func (v *vader) tone(p *phrase, i int) float64 {
	word := &p.words[i]
	tone := word.tone
	if word.lower == "no" && i+1 < len(p.words) && p.words[i+1].toned {
		tone = 0
	}
	if p.is(i-1, "no") || p.is(i-2, "no") || p.is(i-3, "no") && (p.is(i-1, "or") || p.is(i-1, "nor")) {
		tone = float64(word.tone * negation)
	}
	if p.capitals && word.shouted {
		tone = away(tone, capitals)
	}
	for back := 1; back <= 3 && i >= back; back++ {
		if v.terms[p.words[i-back].text].toned {
			continue
		}
		tone += p.boost(i-back, back, tone)
		tone = p.negated(i, back, tone)
		if back == 3 {
			tone = v.idiom(p, i, tone)
		}
	}
	return p.least(i, tone)
}

// away moves tone away from zero; zero moves down, as with govader.
func away(tone, by float64) float64 {
	if tone > 0 {
		return tone + by
	}
	return tone - by
}

// boost is what word j, so many words back, adds to tone.
func (p *phrase) boost(j, back int, tone float64) float64 {
	word := &p.words[j]
	if !word.boosts {
		return 0
	}
	boost := word.term.boost
	if tone < 0 {
		boost = -boost
	}
	if p.capitals && word.shouted {
		if tone > 0 {
			boost += capitals
		} else {
			boost -= capitals
		}
	}
	switch back {
	case 2:
		boost *= secondBefore
	case 3:
		boost *= thirdBefore
	}
	return boost
}

// negated turns or strengthens tone by a negation so many words back.
func (p *phrase) negated(i, back int, tone float64) float64 {
	word := &p.words[i-back]
	between := func(a, b string) bool { // one of them stands between the negation and word i
		for near := 1; near < back; near++ {
			if p.is(i-near, a) || p.is(i-near, b) {
				return true
			}
		}
		return false
	}
	switch {
	case word.lower == "never" && between("so", "this"):
		return float64(tone * never)
	case word.lower == "without" && between("doubt", "doubt"):
		return tone
	case word.negates || strings.Contains(word.lower, "n't"):
		return float64(tone * negation)
	}
	return tone
}

// idiom replaces tone by that of an idiom around word i, which has three words
// before it.
func (v *vader) idiom(p *phrase, i int, tone float64) float64 {
	for _, span := range [...][2]int{{-1, 0}, {-2, 0}, {-2, -1}, {-3, -1}, {-3, -2}} {
		if value, ok := p.lookup(v.idioms, i+span[0], i+span[1]); ok {
			tone = value
			break
		}
	}
	for ahead := 1; ahead <= 2; ahead++ {
		if value, ok := p.lookup(v.idioms, i, i+ahead); ok {
			tone = value
		}
	}
	for _, span := range [...][2]int{{-3, -1}, {-3, -2}, {-2, -1}} {
		boost, _ := p.lookup(v.boosts, i+span[0], i+span[1])
		tone += boost
	}
	return tone
}

// lookup looks words from..to, joined by spaces, up in a table of phrases of at
// most maxIdiom bytes.
func (p *phrase) lookup(table map[string]float64, from, to int) (float64, bool) {
	if to >= len(p.words) {
		return 0, false
	}
	var room [maxIdiom]byte
	joined := room[:0]
	for i := from; i <= to; i++ {
		if len(joined)+1+len(p.words[i].lower) > maxIdiom {
			return 0, false
		}
		if i > from {
			joined = append(joined, ' ')
		}
		joined = append(joined, p.words[i].lower...)
	}
	value, ok := table[string(joined)]
	return value, ok
}

// maxIdiom is more than the longest idiom, "kiss of death", has bytes.
const maxIdiom = 16

// least turns tone after "least", but not after "at least" and "very least".
func (p *phrase) least(i int, tone float64) float64 {
	if i == 0 || p.words[i-1].text != "least" || p.words[i-1].toned {
		return tone
	}
	if i > 1 && (p.words[i-2].text == "at" || p.words[i-2].text == "very") {
		return tone
	}
	return float64(tone * negation)
}

func emphasisOf(sentence string) float64 {
	emphasis := float64(float64(min(strings.Count(sentence, "!"), 4)) * exclamation)
	switch asked := strings.Count(sentence, "?"); {
	case asked > 3:
		emphasis += questions
	case asked > 1:
		emphasis += float64(float64(asked) * question)
	}
	return emphasis
}
