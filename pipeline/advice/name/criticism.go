package name

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/pipeline/advice/need"
)

const (
	maxQuote       = 240 // characters
	maxPerText     = 50  // criticisms
	leastCriticism = 3   // answers of a theme
	leastThemed    = 2   // prompts of a theme
	maxQuotes      = 3   // of a theme
	maxThemeWords  = 3

	ends = ".!?|\n" // of sentences, cells and lines
)

var paragraph = regexp.MustCompile(`#|\n[^\n]*\n`) // a heading follows, or a blank line

// ending are the signs after a quote that belong to it.
var ending = regexp.MustCompile(`^(?:'s)?[)”"%]*`)

// Theme is a word that criticisms of the brand share.
type Theme struct {
	Key     string  `json:"-"`
	Words   string  `json:"theme"` // the first words of the same answers
	Answers int     `json:"answers"`
	Prompts int     `json:"prompts"`
	Naming  int     `json:"naming_answers"` // answers that name the brand
	Quotes  []Quote `json:"quotes"`
}

// Quote is a part of an answer's prose: it has no link targets, and its quotes and dashes are ASCII.
type Quote struct {
	AnswerID uuid.UUID `json:"answer_id"`
	Text     string    `json:"text"`
}

// criticisms returns the parts of a text that are against the brand, each with the token after it: sentences with a
// cue, and the text after a label: the rest of its sentence, or the lines below it up to a blank one. The text named
// the brand last, alone in its sentence, before the part ends or before its label.
func (t *Texts) criticisms(tokens []*token) (parts [][]*token) {
	others := map[int]bool{} // where names start that nobody tracks
	for _, p := range phrases(tokens) {
		c := t.candidates[foldedRow(p.tokens, t.nameLength(p.tokens))]
		others[p.at] = p.heads && c != nil && !c.isLabel() && !hasTracked(p.tokens)
	}
	var isBrand, hasOther, isLabelled, isList, wasBrand bool
	for from, to := 0, 0; to < len(tokens)-1 && len(parts) < maxPerText; from = to {
		to = partEnd(tokens, from)
		isLabel := isLabel(tokens, from)
		if isLabel {
			isLabelled, isList, wasBrand = true, tokens[from+1].has("\n"), isBrand
		}
		for i, token := range tokens[from:to] {
			hasOther = hasOther && !token.has(ends)
			isBrand = isBrand && !token.has("#")
			switch n := match(tokens[from+i:]); {
			case n[ofBrand] > 0:
				isBrand = !hasOther
			case n[ofRival] > 0 || others[from+i]:
				isBrand, hasOther = false, true
			}
		}
		if isLabel {
			continue
		}
		if isLabelled && wasBrand || !isLabelled && isBrand && isCriticism(tokens[from:to+1]) {
			parts = append(parts, tokens[from:min(to, from+maxQuote)+1])
		}
		isLabelled = isLabelled && isList && !paragraph.MatchString(tokens[to].gap)
	}
	return parts
}

// partEnd returns the end of the label or sentence that starts at a token.
func partEnd(tokens []*token, from int) int {
	if isLabel(tokens, from) {
		return from + 1
	}
	to := from + 1
	for to < len(tokens)-1 && !tokens[to].has(ends) && !isLabel(tokens, to) {
		to++
	}
	return to
}

func isLabel(tokens []*token, i int) bool {
	return labels[tokens[i].fold.text] && tokens[i+1].has(":\n")
}

// isCriticism reports whether a sentence, before the last token, has a cue of criticism and can be quoted as a whole.
func isCriticism(tokens []*token) bool {
	for i := 0; i < len(tokens)-1; i++ {
		n := match(tokens[i : len(tokens)-1])
		if n[cue] > n[none] {
			_, isWhole := quote(tokens)
			return isWhole
		}
		i += max(n[none]-1, 0)
	}
	return false
}

// quote returns as much of a part as fits, with the signs that close it, and whether that is the whole. The last token
// stands after the part.
func quote(tokens []*token) (quote string, isWhole bool) {
	var text []byte
	last := len(tokens) - 1
	for i, token := range tokens[:last] {
		end := len(text)
		if i > 0 {
			text = append(text, token.gap...)
		}
		if text = append(text, token.text...); utf8.RuneCount(text) > maxQuote {
			return string(text[:end]), false
		}
	}
	if quote = string(text) + ending.FindString(tokens[last].gap); utf8.RuneCountInString(quote) > maxQuote {
		quote = string(text)
	}
	return quote, true
}

// themes returns what criticisms of the brand share, and how many there are.
func (t *Texts) themes() (themes []Theme, judged int) {
	type shared struct {
		texts  []int
		quotes []Quote
	}
	byWord := map[string]shared{}
	for n, text := range t.texts {
		if !text.Brand {
			continue
		}
		for _, part := range t.criticisms(t.read(text.numbers)) {
			judged++
			for _, word := range t.themeWords(part[:len(part)-1]) {
				s := byWord[word]
				if len(s.texts) > 0 && s.texts[len(s.texts)-1] == n {
					continue
				}
				if s.texts = append(s.texts, n); len(s.texts) <= maxQuotes {
					quote, _ := quote(part)
					s.quotes = append(s.quotes, Quote{text.ID, quote})
				}
				byWord[word] = s
			}
		}
	}
	same := map[[sha256.Size]byte]int{} // themes by their answers
	for _, word := range slices.Sorted(maps.Keys(byWord)) {
		s, prompts := byWord[word], map[uuid.UUID]bool{}
		for _, n := range s.texts {
			prompts[t.texts[n].PromptID] = true
		}
		if len(s.texts) < leastCriticism || len(prompts) < leastThemed {
			continue
		}
		answers := sha256.Sum256(fmt.Append(nil, s.texts))
		if i, ok := same[answers]; !ok {
			same[answers] = len(themes)
			themes = append(themes, Theme{word, word, len(s.texts), len(prompts), t.naming, s.quotes})
		} else if strings.Count(themes[i].Words, " ") < maxThemeWords-1 {
			themes[i].Words += " " + word
		}
	}
	return themes, judged
}

// themeWords returns the words of a criticism that name its subject, each once.
func (t *Texts) themeWords(tokens []*token) (words []string) {
	for i, token := range tokens {
		w := t.word(need.Singular(token.fold.text))
		isProper := token.isCapital && (i > 0 || token.fold.lower.answers == 0)
		isEmpty := w.letters < 3 || need.Stop[w.text] || plainWords[w.text] || fillers[w.text]
		if !isProper && !isEmpty && !w.inPrompt && !slices.Contains(words, w.text) {
			words = append(words, w.text)
		}
	}
	return words
}
