package name

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/gofrs/uuid/v5"
)

const (
	maxQuote       = 240 // characters
	maxPerText     = 50  // criticisms
	leastCriticism = 3   // answers of a theme
	leastThemed    = 2   // prompts of a theme
	maxQuotes      = 3   // of a theme
)

// A criticism is a part of an answer that may be against the brand.
type criticism struct {
	from, to int // tokens
	subject  int // the token before which the brand must be named
	quote    string
}

// Theme is a word that criticisms of the brand share.
type Theme struct {
	Key     string  `json:"-"`
	Words   string  `json:"theme"` // all words of the same answers
	Answers int     `json:"answers"`
	Prompts int     `json:"prompts"`
	Naming  int     `json:"naming_answers"` // answers that name the brand
	Quotes  []Quote `json:"quotes"`
	Score   float64 `json:"-"` // answers, in % of those that name the brand
}

// Quote is a part of an answer.
type Quote struct {
	AnswerID uuid.UUID `json:"answer_id"`
	Text     string    `json:"text"`
}

var labels, fillers = strings.Fields(labelList), strings.Fields(fillerList)

// findCriticism finds the criticisms of an answer that was cut: sentences with a cue, and what follows a label: the
// rest of its sentence, or the lines below it up to a blank one.
func (t *Texts) findCriticism(original, prose string, tokens []token) (criticisms []criticism) {
	var to int
	label, last := -1, len(tokens)-1
	for from := 0; from < last && len(criticisms) < maxPerText; from = to {
		to = from + 1
		if t.isLabel(tokens, from) {
			label = from
			continue
		}
		for to < last && !tokens[to].is(sentence) && !t.isLabel(tokens, to) {
			to++
		}
		c := criticism{from: from, to: to, subject: to}
		switch {
		case label >= 0:
			c.subject = label
			if !tokens[label+1].is(line) || tokens[to].is(paragraph) {
				label = -1
			}
		case !t.hasCue(tokens[from:to]) || utf8.RuneCountInString(t.quote(prose, from, to)) > maxQuote:
			continue
		}
		fits := sort.Search(to-from, func(i int) bool {
			quote := t.quote(prose, from, from+i+1)
			return utf8.RuneCountInString(quote) > maxQuote || !strings.Contains(original, quote)
		})
		if fits > 0 {
			c.quote = strings.Clone(t.quote(prose, from, from+fits))
			criticisms = append(criticisms, c)
		}
	}
	return criticisms
}

func (t *Texts) isLabel(tokens []token, i int) bool {
	return tokens[i+1].is(colon) && slices.Contains(labels, t.folded(tokens[i]).text)
}

// hasCue reports whether a sentence has a cue of criticism.
func (t *Texts) hasCue(tokens []token) bool {
	for i := 0; i < len(tokens); i++ {
		for _, cue := range t.cues[t.of(tokens[i]).fold] {
			if !t.begins(tokens[i:], cue) {
				continue
			}
			if cue.own {
				return true
			}
			i += len(cue.folds) - 1
			break
		}
	}
	return false
}

// quote returns the words of the text that was cut last with the signs that close them.
func (t *Texts) quote(prose string, from, to int) string {
	rest := strings.TrimLeft(prose[t.ends[to-1]:], ")”\"%")
	return prose[t.places[from] : len(prose)-len(rest)]
}

// themes returns what criticisms of the brand share, the most frequent first.
func (t *Texts) themes() (themes []Theme, judged int) {
	type shared struct {
		Theme

		texts   []int
		prompts map[uuid.UUID]bool
	}
	byWord := map[string]*shared{}
	for n := range t.texts {
		text := &t.texts[n]
		for _, c := range t.ofBrand(text) {
			judged++
			for _, word := range t.themeWords(text.tokens[c.from:c.to]) {
				s := byWord[word]
				if s == nil {
					s = &shared{Theme{Key: word, Words: word, Naming: t.naming}, nil, map[uuid.UUID]bool{}}
					byWord[word] = s
				}
				if slices.Contains(s.texts[max(0, len(s.texts)-1):], n) {
					continue
				}
				s.texts = append(s.texts, n)
				s.prompts[text.PromptID] = true
				if len(s.Quotes) < maxQuotes {
					s.Quotes = append(s.Quotes, Quote{text.ID, c.quote})
				}
			}
		}
	}
	same := map[string]int{} // themes by their answers
	for _, word := range slices.Sorted(maps.Keys(byWord)) {
		s := byWord[word]
		if len(s.texts) < leastCriticism || len(s.prompts) < leastThemed {
			continue
		}
		answers := fmt.Sprint(s.texts)
		if i, ok := same[answers]; ok {
			themes[i].Words += " " + word
			continue
		}
		same[answers] = len(themes)
		s.Answers, s.Prompts, s.Score = len(s.texts), len(s.prompts), percent(len(s.texts), t.naming)
		themes = append(themes, s.Theme)
	}
	slices.SortStableFunc(themes, func(a, b Theme) int { return cmp.Compare(b.Score, a.Score) })
	return themes, judged
}

// ofBrand returns the criticisms of a text that are about the brand: the text named it last, alone in its sentence.
func (t *Texts) ofBrand(text *text) (about []criticism) {
	if len(text.criticisms) == 0 {
		return nil
	}
	heads := map[int]bool{} // where names start that nobody tracks
	for _, p := range t.phrases(text.tokens) {
		s := t.stats[t.first(p.tokens, t.nameLength(p.tokens))]
		heads[p.at] = p.leads && s != nil && !s.isLabel() && !t.hasTracked(p.tokens)
	}
	rest, isBrand, hasOther := text.criticisms, false, false
	for i, token := range text.tokens {
		for len(rest) > 0 && rest[0].subject == i {
			if isBrand {
				about = append(about, rest[0])
			}
			rest = rest[1:]
		}
		hasOther = hasOther && !token.is(sentence)
		isBrand = isBrand && !token.is(heading)
		switch brand, rival := t.trackedAt(text.tokens[i:]); {
		case rival && !brand || !brand && heads[i]:
			isBrand, hasOther = false, true
		case brand:
			isBrand = !hasOther
		}
	}
	return about
}

// trackedAt reports whether a name of the brand begins a text, or one of a competitor.
func (t *Texts) trackedAt(tokens []token) (brand, rival bool) {
	for _, name := range t.tracked[t.of(tokens[0]).fold] {
		if t.begins(tokens, name) {
			brand, rival = brand || name.own, rival || !name.own
		}
	}
	return brand, rival
}

// themeWords returns the words of a criticism that name its subject, each once.
func (t *Texts) themeWords(tokens []token) (words []string) {
	for i, token := range tokens {
		folded := t.folded(token)
		word := singular(folded.text)
		isProper := t.of(token).capital && (i > 0 || folded.lower.answers == 0)
		w := &t.words[t.number(word)]
		isSubject := !isProper && w.letters > 2 && !w.inPrompt && !w.stop && !slices.Contains(fillers, word)
		if isSubject && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return words
}

// singular returns a word without its plural s.
func singular(word string) string {
	if len(word) > 3 && strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") {
		return word[:len(word)-1]
	}
	return word
}
