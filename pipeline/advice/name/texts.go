// Package name reads the texts of a brand's answers: untracked names that stand where tracked names stand, and
// criticism of the brand. It is pure: the same answers in the same order give the same result. All counts
// belong to one Texts, thus to one brand.
package name

import (
	"slices"
	"strings"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/pipeline/advice/need"
	"github.com/answerscope/answerscope/pipeline/extract"
)

// These bound the memory of a Texts.
const (
	maxBytes  = 80 << 20 // of texts: twice those of 13,000 answers
	maxTokens = 200_000  // different ones
	maxStarts = 200_000  // of phrases
	maxRuns   = 500_000  // that may be boilerplate
)

// Answer is an answer of a brand.
type Answer struct {
	ID       uuid.UUID
	PromptID uuid.UUID
	Prompt   string // text of the prompt
	Platform string
	Language string // as requested; an answer without one is read as English
	Text     string
	Brand    bool // it names the brand
	Tracked  bool // it names the brand or a live competitor
}

// Texts holds the texts of a brand's answers, 4 bytes a word.
type Texts struct {
	words   map[string]*word
	tokens  []*token // the first one is the empty word
	numbers map[tokenKey]uint32
	texts   []text
	buffer  []*token // of the text that is read

	bytes   int // of texts
	answers int
	naming  int // answers that name the brand

	starts     map[row]start
	candidates map[row]*candidate // by their folded words
	spellings  map[row]int        // how often names are written so

	isFull bool // something did not fit into memory
}

// A text is an answer by the numbers of its tokens.
type text struct {
	Answer // without Text

	numbers []uint32
}

// Result is what the texts of a brand have.
type Result struct {
	Names   []Name  // by answers beside tracked names, then by key
	Themes  []Theme // by key
	Answers int     // that were added
	Read    int     // of these, in English
	Prompts int     // of these
	Phrases int     // that were judged
	Critics int     // criticisms of the brand
	// Forgotten reports whether rare words, rare phrases or late texts did not fit into memory.
	Forgotten bool
}

// New returns Texts for the answers of a brand with its live competitors.
func New(brand extract.Entity, competitors []extract.Entity) *Texts {
	t := &Texts{
		words: map[string]*word{}, numbers: map[tokenKey]uint32{},
		starts: map[row]start{}, candidates: map[row]*candidate{}, spellings: map[row]int{},
	}
	t.number(tokenKey{})
	kind := ofBrand
	for _, e := range append([]extract.Entity{brand}, competitors...) {
		for _, name := range slices.Concat([]string{e.Name}, e.Aliases, e.Domains) {
			for _, spelling := range append(extract.Spellings(name), name) {
				t.spell(spelling, kind)
				t.spell(apart.Replace(extract.Plain(spelling)), kind)
			}
		}
		kind = ofRival
	}
	for line := range strings.Lines(cueList) {
		if text, isNone := strings.CutPrefix(line, "! "); isNone {
			t.spell(text, none)
		} else {
			t.spell(text, cue)
		}
	}
	return t
}

// apart writes the words of a name apart: De Longhi, J Crew.
var apart = strings.NewReplacer("'s", "'s", "'", " ", "-", " ", ".", " ")

// Add reads an answer. One in another language than English counts only towards the totals.
func (t *Texts) Add(a Answer) {
	t.answers++
	if a.Brand {
		t.naming++
	}
	primary, _, _ := strings.Cut(strings.ReplaceAll(a.Language, "_", "-"), "-")
	if a.Language != "" && !strings.EqualFold(primary, "en") {
		return
	}
	prose := extract.Prose(a.Text)
	if t.bytes += len(prose); t.bytes > maxBytes {
		t.isFull = true
		return
	}
	a.Text = ""
	t.texts = append(t.texts, text{a, slices.Clone(t.numbersOf(prose))})
	for _, token := range t.read(t.numbersOf(a.Prompt)) { // words of prompts are no names and no themes
		token.fold.isAsked = token.fold.isAsked || !token.isCapital
		t.word(need.Singular(token.fold.text)).inPrompt = true
	}
}

// Result reads all texts together. It is called once, after the last Add.
func (t *Texts) Result() Result {
	r := Result{Answers: t.answers, Read: len(t.texts)}
	t.markBoilerplate()
	t.countCases()
	t.countStarts()
	r.Prompts = t.countNames()
	r.Names, r.Phrases = t.names(), len(t.candidates)
	r.Themes, r.Critics = t.themes()
	r.Forgotten = t.isFull
	return r
}
