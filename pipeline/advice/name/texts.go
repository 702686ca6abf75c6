package name

import (
	_ "embed" // the lists of words
	"slices"
	"strings"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/pipeline/extract"
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

	tracked   [][]uint32 // folded words of names, the brand's first
	ownNames  int        // of these are the brand's
	byFirst   map[uint32][]int
	texts     []text
	size      int // in tokens
	prompts   map[uuid.UUID]uint32
	platforms map[string]uint32
	asked     map[string]bool // texts of prompts
	naming    int             // answers that name the brand
	answers   int
	isCut     bool // an answer was left out for the size

	labels     map[uint32]bool
	cues       map[uint32][]cue
	filler     map[uint32]bool
	criticisms []criticism
	perText    int // criticisms of the last text
}

// A text holds the words of an answer.
type text struct {
	id               uuid.UUID
	tokens           []token
	prompt, platform uint32
	tracked          bool
}

// New returns Texts for the answers of a brand with its live competitors.
func New(brand extract.Entity, competitors []extract.Entity) *Texts {
	t := &Texts{
		vocabulary: newVocabulary(), byFirst: map[uint32][]int{}, prompts: map[uuid.UUID]uint32{},
		platforms: map[string]uint32{}, asked: map[string]bool{},
	}
	t.track(brand)
	t.ownNames = len(t.tracked)
	for _, c := range competitors {
		t.track(c)
	}
	t.readLists()
	return t
}

func (t *Texts) track(e extract.Entity) {
	for _, name := range append(append([]string{e.Name}, e.Aliases...), e.Domains...) {
		for _, spelling := range []string{name, extract.Spelled(name)} {
			if folds := t.foldsOf(spelling); len(folds) > 0 {
				t.byFirst[folds[0]] = append(t.byFirst[folds[0]], len(t.tracked))
				t.tracked = append(t.tracked, folds)
			}
		}
	}
}

// Add reads an answer. Of one in another language than English, only that it was given counts.
func (t *Texts) Add(a Answer) {
	t.answers++
	if a.Brand {
		t.naming++
	}
	if !isEnglish(a.Language) {
		return
	}
	prose := extract.Prose(a.Text)
	tokens := t.cut(prose)
	if t.size += len(tokens); t.size > maxTokens {
		t.isCut = true
		return
	}
	t.texts = append(t.texts, text{
		id: a.ID, tokens: slices.Clone(tokens), tracked: a.Tracked,
		prompt: numberOf(t.prompts, a.PromptID), platform: numberOf(t.platforms, a.Platform),
	})
	if a.Brand {
		t.findCriticism(a.Text, prose, tokens)
	}
	if !t.asked[a.Prompt] {
		t.asked[a.Prompt] = true
		t.ask(a.Prompt)
	}
}

// ask marks the words of a prompt, which are no names and no themes.
func (t *Texts) ask(prompt string) {
	for _, token := range t.cut(prompt) {
		word := t.of(token)
		singular := t.singular(word.fold)
		t.folds[word.fold].asked = t.folds[word.fold].asked || !word.capital
		t.folds[singular].inPrompt = true
	}
}

func isEnglish(language string) bool {
	primary, _, _ := strings.Cut(strings.ReplaceAll(language, "_", "-"), "-")
	return language == "" || strings.EqualFold(primary, "en")
}

func numberOf[K comparable](numbers map[K]uint32, key K) uint32 {
	n, ok := numbers[key]
	if !ok {
		n = uint32(len(numbers))
		numbers[key] = n
	}
	return n
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
	beginnings, stats := t.countNames()
	r := Result{
		Answers: t.answers, Read: len(t.texts), Prompts: len(t.prompts), Phrases: len(stats),
		Names:     t.names(beginnings, stats),
		Forgotten: beginnings.forgotten || t.isFull || t.isCut,
	}
	r.Themes, r.Critics = t.themes(beginnings, stats)
	return r
}
