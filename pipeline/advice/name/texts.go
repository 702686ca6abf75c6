package name

import (
	_ "embed" // the lists of words
	"slices"
	"strings"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/pipeline/extract"
)

// Limits of one Texts.
const (
	maxTokens = 24 << 20 // 96 MB
	maxWords  = 1 << 20
	maxQuoted = 100_000
)

var (
	//go:embed lists/plain.txt
	plainList string // words that begin sentences and headings
	//go:embed lists/filler.txt
	fillerList string // words that are no theme
	//go:embed lists/labels.txt
	labelList string // labels before criticism
	//go:embed lists/cues.txt
	cueList string // words of criticism; after "!", words that are none
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

// Texts holds the words of a brand's answers, 4 bytes each.
type Texts struct {
	vocabulary

	tracked map[token][]spelling // names of the brand and of competitors by their first word
	cues    map[token][]spelling // of criticism
	texts   []text
	size    int // in tokens
	answers int
	naming  int  // answers that name the brand
	quoted  int  // criticisms
	isCut   bool // an answer or a phrase was left out
	starts  map[row]start
	stats   map[row]*stat
}

// A spelling is a row of folded words.
type spelling struct {
	folds []token
	own   bool // it is of the brand, or a cue of criticism
}

// A text is an answer by its words.
type text struct {
	Answer // without Text

	tokens     []token
	criticisms []criticism
}

// New returns Texts for the answers of a brand with its live competitors.
func New(brand extract.Entity, competitors []extract.Entity) *Texts {
	t := &Texts{
		vocabulary: newVocabulary(), tracked: map[token][]spelling{}, cues: map[token][]spelling{},
		starts: map[row]start{}, stats: map[row]*stat{},
	}
	for i, e := range append([]extract.Entity{brand}, competitors...) {
		for _, name := range append(append([]string{e.Name}, e.Aliases...), e.Domains...) {
			t.spell(t.tracked, name, i == 0)
			t.spell(t.tracked, extract.Spelled(name), i == 0)
		}
	}
	for row := range strings.Lines(cueList) {
		words, isNone := strings.CutPrefix(row, "! ")
		t.spell(t.cues, words, !isNone)
	}
	return t
}

func (t *Texts) spell(to map[token][]spelling, words string, isOwn bool) {
	s := spelling{own: isOwn}
	tokens := t.cut(words)
	for _, token := range tokens[:len(tokens)-1] {
		s.folds = append(s.folds, t.of(token).fold)
	}
	if len(s.folds) > 0 {
		to[s.folds[0]] = append(to[s.folds[0]], s)
	}
}

// begins reports whether tokens begin with a spelling.
func (t *Texts) begins(tokens []token, s spelling) bool {
	n := len(s.folds)
	return len(tokens) >= n && slices.EqualFunc(tokens[:n], s.folds, func(token, fold token) bool {
		return t.of(token).fold == fold
	})
}

// Add reads an answer. Of one in another language than English, only that it was given counts.
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
	tokens := t.cut(prose)
	if t.size += len(tokens); t.size > maxTokens || len(t.words) > maxWords {
		t.isCut = true
		return
	}
	text := text{Answer: a, tokens: slices.Clone(tokens)}
	if text.Text = ""; a.Brand && t.quoted < maxQuoted {
		text.criticisms = t.findCriticism(a.Text, prose, tokens)
		t.quoted += len(text.criticisms)
	}
	t.texts = append(t.texts, text)
	for _, token := range t.cut(a.Prompt) { // words of prompts are no names and no themes
		folded := t.folded(token)
		folded.asked = folded.asked || !t.of(token).capital
		t.words[t.number(singular(folded.text))].inPrompt = true
	}
}

// Result is what the texts of a brand have. Names and Themes are complete, the best first.
type Result struct {
	Names   []Name
	Themes  []Theme
	Answers int // that were added
	Read    int // of these, in English
	Prompts int // of these
	Phrases int // that were judged
	Critics int // criticisms of the brand
	// Forgotten reports whether rare phrases or late texts did not fit into memory.
	Forgotten bool
}

// Result reads all texts together. It is called once, after the last Add.
func (t *Texts) Result() Result {
	t.cutShared()
	t.countCases()
	t.countStarts()
	t.countNames()
	prompts := map[uuid.UUID]bool{}
	for _, text := range t.texts {
		prompts[text.PromptID] = true
	}
	themes, critics := t.themes()
	return Result{t.names(), themes, t.answers, len(t.texts), len(prompts), len(t.stats), critics, t.isCut}
}
