package name

import (
	"cmp"
	"maps"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/gofrs/uuid/v5"
)

const (
	maxQuote       = 240     // characters
	maxCriticisms  = 100_000 // of a brand
	maxPerText     = 50      // criticisms
	leastCriticism = 3       // answers of a theme
	leastThemed    = 2       // prompts of a theme
	maxQuotes      = 3       // of a theme
)

// A criticism is a part of an answer that may be against the brand.
type criticism struct {
	text           int
	head, from, to int // tokens: its label or itself, its start, its end
	quote          string
}

// A cue is a row of words.
type cue struct {
	folds  []uint32
	isNone bool // no criticism
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

func (t *Texts) readLists() {
	t.labels, t.filler, t.cues = map[uint32]bool{}, map[uint32]bool{}, map[uint32][]cue{}
	for label := range strings.FieldsSeq(labelList) {
		t.labels[t.foldOf(label)] = true
	}
	for filler := range strings.FieldsSeq(fillerList) {
		t.filler[t.foldOf(filler)] = true
	}
	for row := range strings.Lines(cueList) {
		words, isNone := strings.CutPrefix(row, "! ")
		folds := t.foldsOf(words)
		t.cues[folds[0]] = append(t.cues[folds[0]], cue{folds, isNone})
	}
}

// findCriticism finds the criticisms of an answer: what follows a label, and sentences with a cue.
func (t *Texts) findCriticism(original, prose string, tokens []token) {
	t.perText = 0
	for i := 0; i < len(tokens)-1; {
		end := i + 1
		for end < len(tokens)-1 && !tokens[end].is(sentence) && !t.isLabel(tokens, end) {
			end++
		}
		switch {
		case t.isLabel(tokens, i):
			end = t.addLabelled(original, prose, tokens, i)
		case t.hasCue(tokens[i:end]):
			t.addCriticism(original, prose, criticism{head: i, from: i, to: end})
		}
		i = end
	}
}

func (t *Texts) isLabel(tokens []token, i int) bool {
	return t.labels[t.of(tokens[i]).fold] && tokens[i+1].is(colon)
}

// addLabelled adds what follows a label: the rest of its sentence, or the lines below it up to a blank one.
func (t *Texts) addLabelled(original, prose string, tokens []token, label int) (end int) {
	last, from := len(tokens)-1, label+1
	isList := tokens[from].is(line)
	for end = from; end < last; from = end {
		for end++; end < last && !tokens[end].is(sentence) && !t.isLabel(tokens, end); end++ {
		}
		t.addCriticism(original, prose, criticism{head: label, from: from, to: end})
		if !isList || tokens[end].is(paragraph) || t.isLabel(tokens, end) {
			break
		}
	}
	return end
}

// hasCue reports whether a sentence has a cue of criticism.
func (t *Texts) hasCue(tokens []token) bool {
	for i := 0; i < len(tokens); i++ {
		for _, cue := range t.cues[t.of(tokens[i]).fold] {
			if !t.begins(tokens[i:], cue.folds) {
				continue
			}
			if !cue.isNone {
				return true
			}
			i += len(cue.folds) - 1
			break
		}
	}
	return false
}

// begins reports whether a text begins with words.
func (t *Texts) begins(tokens []token, folds []uint32) bool {
	if len(tokens) < len(folds) {
		return false
	}
	for i, fold := range folds {
		if t.of(tokens[i]).fold != fold {
			return false
		}
	}
	return true
}

// addCriticism adds a criticism with its quote: as long a part of the answer as prose left whole.
func (t *Texts) addCriticism(original, prose string, c criticism) {
	if t.perText == maxPerText || len(t.criticisms) == maxCriticisms {
		return
	}
	if t.perText == 0 {
		t.placeInProse(prose)
	}
	quoteTo := func(to int) string {
		last := t.places[to-1]
		end := last + wordEnd(prose[last:], 0)
		return prose[t.places[c.from] : len(prose)-len(strings.TrimLeft(prose[end:], ")”\"%"))]
	}
	if c.head == c.from && utf8.RuneCountInString(quoteTo(c.to)) > maxQuote {
		return
	}
	fits := sort.Search(c.to-c.from, func(i int) bool {
		quote := quoteTo(c.from + i + 1)
		return utf8.RuneCountInString(quote) > maxQuote || !strings.Contains(original, quote)
	})
	if fits > 0 {
		t.perText++
		c.text, c.quote = len(t.texts)-1, strings.Clone(quoteTo(c.from+fits))
		t.criticisms = append(t.criticisms, c)
	}
}

// placeInProse maps the places of the words from the plain text to prose.
func (t *Texts) placeInProse(prose string) {
	at, word := 1, 0 // after the line break
	for i, r := range prose {
		for ; word < len(t.places) && t.places[word] <= at; word++ {
			t.places[word] = i
		}
		if r = plainRune(r); r >= 0 {
			at += utf8.RuneLen(r)
		}
	}
	for ; word < len(t.places); word++ {
		t.places[word] = len(prose)
	}
}

// themes returns what criticisms of the brand share, the most frequent first.
func (t *Texts) themes(beginnings *tree, stats map[uint32]*stat) (themes []Theme, judged int) {
	byWord := map[uint32][]criticism{}
	for len(t.criticisms) > 0 {
		n := 1
		for n < len(t.criticisms) && t.criticisms[n].text == t.criticisms[0].text {
			n++
		}
		for _, c := range t.ofBrand(t.criticisms[:n], beginnings, stats) {
			judged++
			for _, word := range t.themeWords(c) {
				byWord[word] = append(byWord[word], c)
			}
		}
		t.criticisms = t.criticisms[n:]
	}
	same := map[string]*Theme{}
	inOrder := func(a, b uint32) int { return strings.Compare(t.folds[a].text, t.folds[b].text) }
	for _, word := range slices.SortedFunc(maps.Keys(byWord), inOrder) {
		theme, answers := t.themeOf(word, byWord[word])
		if theme.Answers < leastCriticism || theme.Prompts < leastThemed {
			continue
		}
		if first := same[answers]; first != nil {
			first.Words += " " + theme.Words
		} else {
			same[answers] = &theme
		}
	}
	for _, theme := range same {
		themes = append(themes, *theme)
	}
	slices.SortFunc(themes, func(a, b Theme) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Key, b.Key))
	})
	return themes, judged
}

// ofBrand returns the criticisms of a text that are about the brand: the text named it last, alone in its sentence.
func (t *Texts) ofBrand(criticisms []criticism, beginnings *tree, stats map[uint32]*stat) (about []criticism) {
	tokens := t.texts[criticisms[0].text].tokens
	heads := map[int]bool{} // where names start that nobody tracks
	for p := range t.phrases(tokens) {
		if p.leads && !t.trackedIn(p.folds) {
			s := stats[beginnings.find(p.folds[:t.nameLength(beginnings, p.folds)])]
			heads[p.at] = s != nil && !s.isLabel()
		}
	}
	var isBrand, hasOther bool
	for i := range tokens {
		for len(criticisms) > 0 && criticisms[0].judgedAt() == i {
			if isBrand {
				about = append(about, criticisms[0])
			}
			criticisms = criticisms[1:]
		}
		hasOther = hasOther && !tokens[i].is(sentence)
		isBrand = isBrand && !tokens[i].is(heading)
		switch brand, rival := t.trackedAt(tokens[i:]); {
		case rival || heads[i]:
			isBrand, hasOther = false, true
		case brand:
			isBrand = !hasOther
		}
	}
	return about
}

// judgedAt returns the token before which its subject must be the brand.
func (c criticism) judgedAt() int {
	if c.head == c.from {
		return c.to
	}
	return c.head
}

// trackedAt reports whether a name of the brand begins a text, or one of a competitor.
func (t *Texts) trackedAt(tokens []token) (brand, rival bool) {
	for _, n := range t.byFirst[t.of(tokens[0]).fold] {
		if t.begins(tokens, t.tracked[n]) {
			brand, rival = brand || n < t.ownNames, rival || n >= t.ownNames
		}
	}
	return brand, rival && !brand
}

// themeWords returns the words of a criticism that name its subject, each once.
func (t *Texts) themeWords(c criticism) (words []uint32) {
	for i, token := range t.texts[c.text].tokens[c.from:c.to] {
		word := t.of(token)
		fold := t.singular(word.fold)
		f := &t.folds[fold]
		isProper := word.capital && (i > 0 || t.folds[word.fold].lower == 0)
		if !isProper && f.letters > 2 && !f.inPrompt && !f.stop && !t.filler[fold] && !slices.Contains(words, fold) {
			words = append(words, fold)
		}
	}
	return words
}

// singular returns a word without its plural s.
func (t *Texts) singular(fold uint32) uint32 {
	text := t.folds[fold].text
	if len(text) <= 3 || !strings.HasSuffix(text, "s") || strings.HasSuffix(text, "ss") {
		return fold
	}
	return t.foldOf(text[:len(text)-1])
}

// themeOf returns a theme, and its answers as a key.
func (t *Texts) themeOf(word uint32, criticisms []criticism) (theme Theme, answers string) {
	theme = Theme{Key: t.folds[word].text, Words: t.folds[word].text, Naming: t.naming}
	prompts, last := map[uint32]bool{}, -1
	var ids strings.Builder
	for _, c := range criticisms {
		if c.text == last {
			continue
		}
		last = c.text
		text := &t.texts[c.text]
		theme.Answers++
		prompts[text.prompt] = true
		ids.Write(text.id.Bytes())
		if len(theme.Quotes) < maxQuotes {
			theme.Quotes = append(theme.Quotes, Quote{text.id, c.quote})
		}
	}
	theme.Prompts = len(prompts)
	theme.Score = percent(theme.Answers, t.naming)
	return theme, ids.String()
}
