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

// maxTokens is 48 MB, twice the texts of 13,000 answers.
const maxTokens = 12 << 20

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

// Texts holds the words of a brand's answers, 4 bytes each.
type Texts struct {
	words   []word
	gaps    []gap
	byText  map[string]token
	byGap   map[[2]string]token // by the gap before a number, and the gap
	byChunk map[string][]piece
	tokens  []token // of the text that was tokenized last

	tracked lexicon // names of the brand, and of competitors
	cues    lexicon // of criticism, and expressions that have a cue and are none
	texts   []text
	size    int // in tokens
	answers int
	naming  int // answers that name the brand

	starts     map[row]start
	candidates map[row]*candidate // by their folded words
	spellings  map[row]int        // how often names are written so

	isFull bool // something did not fit into memory
}

// A text is an answer by its words.
type text struct {
	Answer // without Text

	tokens []token
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
		byText: map[string]token{}, byGap: map[[2]string]token{}, byChunk: map[string][]piece{},
		tracked: lexicon{}, cues: lexicon{},
		starts: map[row]start{}, candidates: map[row]*candidate{}, spellings: map[row]int{},
	}
	t.number("")
	t.gapNumber("", nil)
	for i, e := range append([]extract.Entity{brand}, competitors...) {
		for _, name := range slices.Concat([]string{e.Name}, e.Aliases, e.Domains) {
			t.spell(t.tracked, name, i == 0)
			t.spell(t.tracked, extract.Spelled(name), i == 0)
		}
	}
	for line := range strings.Lines(cueList) {
		words, isNone := strings.CutPrefix(line, "! ")
		t.spell(t.cues, words, !isNone)
	}
	return t
}

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
	tokens := t.tokenize(extract.Prose(a.Text))
	if t.size += len(tokens); t.size > maxTokens {
		t.isFull = true
		return
	}
	a.Text = ""
	t.texts = append(t.texts, text{a, slices.Clone(tokens)})
	for _, token := range t.tokenize(a.Prompt) { // words of prompts are no names and no themes
		folded := t.folded(token)
		folded.asked = folded.asked || !t.word(token).capital
		t.words[t.number(need.Singular(folded.text))].inPrompt = true
	}
}

// Result reads all texts together. It is called once, after the last Add.
func (t *Texts) Result() Result {
	r := Result{Answers: t.answers, Read: len(t.texts)}
	byPlatform := map[string][]text{}
	for _, text := range t.texts {
		byPlatform[text.Platform] = append(byPlatform[text.Platform], text)
	}
	for _, texts := range byPlatform {
		t.markBoilerplate(texts)
	}
	t.countCases()
	t.countStarts()
	r.Prompts = t.countNames()
	r.Names, r.Phrases = t.names(), len(t.candidates)
	r.Themes, r.Critics = t.themes()
	r.Forgotten = t.isFull
	return r
}
