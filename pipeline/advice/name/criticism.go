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
// cue, and what follows a label: the rest of its sentence, or the lines below it up to a blank one. The text named the
// brand last, alone in its sentence, before the part ends or before its label.
func (t *Texts) criticisms(tokens []token) (parts [][]token) {
	heads := map[int]bool{} // where names start that nobody tracks
	for _, p := range t.phrases(tokens) {
		c := t.candidates[t.folds(p.tokens, t.nameLength(p.tokens))]
		heads[p.at] = p.heads && c != nil && !c.isLabel() && !t.hasTracked(p.tokens)
	}
	var isBrand, hasOther, isLabelled, isList, wasBrand bool
	for i, last := 0, len(tokens)-1; i < last && len(parts) < maxPerText; {
		from, isLabel := i, t.isLabel(tokens, i)
		if isLabel {
			isLabelled, isList, wasBrand = true, t.has(tokens[i+1], "\n"), isBrand
		}
		for i == from || i < last && !isLabel && !t.has(tokens[i], ends) && !t.isLabel(tokens, i) {
			hasOther = hasOther && !t.has(tokens[i], ends)
			isBrand = isBrand && !t.has(tokens[i], "#")
			switch brand, rival := t.match(t.tracked, tokens[i:]); {
			case brand > 0:
				isBrand = !hasOther
			case rival > 0 || heads[i]:
				isBrand, hasOther = false, true
			}
			i++
		}
		isCriticism := isBrand
		switch {
		case isLabel:
			continue
		case isLabelled:
			isLabelled, isCriticism = isList && !paragraph.MatchString(t.gap(tokens[i]).text), wasBrand
		case isBrand:
			isCriticism = t.hasCue(tokens[from:i])
			if isCriticism {
				_, isCriticism = t.quote(tokens[from : i+1])
			}
		}
		if isCriticism {
			parts = append(parts, tokens[from:min(i, from+maxQuote)+1])
		}
	}
	return parts
}

func (t *Texts) isLabel(tokens []token, i int) bool {
	return t.has(tokens[i+1], ":\n") && labels[t.folded(tokens[i]).text]
}

// hasCue reports whether a sentence has a cue of criticism.
func (t *Texts) hasCue(tokens []token) bool {
	for i := 0; i < len(tokens); i++ {
		cue, none := t.match(t.cues, tokens[i:])
		if cue > none {
			return true
		}
		i += max(none-1, 0)
	}
	return false
}

// quote returns as much of a part as fits, with the signs that close it, and whether that is the whole.
func (t *Texts) quote(part []token) (quote string, isWhole bool) {
	var text []byte
	last := len(part) - 1
	for i, token := range part[:last] {
		end := len(text)
		if i > 0 {
			text = append(text, t.gap(token).text...)
		}
		if text = append(text, t.word(token).text...); utf8.RuneCount(text) > maxQuote {
			return string(text[:end]), false
		}
	}
	if quote = string(text) + ending.FindString(t.gap(part[last]).text); utf8.RuneCountInString(quote) > maxQuote {
		quote = string(text)
	}
	return quote, true
}

// themes returns what criticisms of the brand share, and how many there are.
func (t *Texts) themes() (themes []Theme, judged int) {
	type shared struct {
		texts []int
		parts [][]token
	}
	byWord := map[string]shared{}
	for n, text := range t.texts {
		if !text.Brand {
			continue
		}
		for _, part := range t.criticisms(text.tokens) {
			judged++
			for _, word := range t.themeWords(part[:len(part)-1]) {
				s := byWord[word]
				if len(s.texts) > 0 && s.texts[len(s.texts)-1] == n {
					continue
				}
				if s.texts = append(s.texts, n); len(s.texts) <= maxQuotes {
					s.parts = append(s.parts, part)
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
		if i, ok := same[answers]; ok {
			if strings.Count(themes[i].Words, " ") < maxThemeWords-1 {
				themes[i].Words += " " + word
			}
			continue
		}
		same[answers] = len(themes)
		theme := Theme{word, word, len(s.texts), len(prompts), t.naming, nil}
		for i, part := range s.parts {
			quote, _ := t.quote(part)
			theme.Quotes = append(theme.Quotes, Quote{t.texts[s.texts[i]].ID, quote})
		}
		themes = append(themes, theme)
	}
	return themes, judged
}

// themeWords returns the words of a criticism that name its subject, each once.
func (t *Texts) themeWords(tokens []token) (words []string) {
	for i, token := range tokens {
		folded := t.folded(token)
		word := need.Singular(folded.text)
		isProper := t.word(token).capital && (i > 0 || folded.lower.answers == 0)
		w := &t.words[t.number(word)]
		isEmpty := w.letters < 3 || need.Stop[word] || plainWords[word] || fillers[word]
		if !isProper && !isEmpty && !w.inPrompt && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return words
}
