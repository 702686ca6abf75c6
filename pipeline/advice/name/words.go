package name

import (
	_ "embed" // the lists of words
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/answerscope/answerscope/pipeline/advice/need"
	"github.com/answerscope/answerscope/pipeline/extract"
)

var (
	//go:embed lists/plain.txt
	plainList string // words that begin sentences and headings
	// FillerList has words that are no theme and no fact.
	//
	//go:embed lists/filler.txt
	FillerList string
	//go:embed lists/labels.txt
	labelList string // labels before criticism
	//go:embed lists/cues.txt
	cueList string // words of criticism; after "!", words that are none

	plainWords, fillers, labels = need.Set(plainList), need.Set(FillerList), need.Set(labelList)
)

// A word is a spelling or a folded form.
type word struct {
	text      string
	fold      *word // its folded form
	isCapital bool  // has a capital
	isNumeric bool  // starts with a digit

	// Folded forms have these.
	letters       int32
	isAsked       bool       // a prompt has it in lower case
	inPrompt      bool       // a prompt has it
	lower, inside tally      // answers with it in lower case; with a capital that no sentence asks for
	ofPlatform    tally      // answers of the platform whose boilerplate is searched for
	spellings     []spelling // that begin with it
}

// isGeneric reports whether a folded word is no name: answers write it in lower case too often.
func (w *word) isGeneric() bool {
	return w.isAsked || need.Stop[w.text] || plainWords[w.text] || w.letters < 2 || w.isNumeric && w.letters < 3 ||
		4*w.lower.answers > w.lower.answers+w.inside.answers
}

// IsGeneric reports whether no word of a text could be a name, by the word lists alone.
func IsGeneric(text string) bool {
	t := New(extract.Entity{}, nil)
	return !slices.ContainsFunc(t.read(t.numbersOf(text)), func(k *token) bool { return !k.fold.isGeneric() })
}

// A tally counts answers, each once.
type tally struct{ answers, last int32 }

func (t *tally) add(answer int) {
	if t.last != int32(answer) {
		t.answers, t.last = t.answers+1, int32(answer)
	}
}

// A token is a word with the signs before it. The last one of a text has the empty word, as have words that do not fit
// into memory.
type token struct {
	*word

	gap           string // the signs
	isBoilerplate bool   // it belongs to a run of words that its platform writes under most answers
	opens         bool   // a line, list item, heading, bold span, link or cell begins with it
	closes        bool   // one of these ends before it
}

// A tokenKey identifies a token.
type tokenKey struct {
	gap, text     string
	isBoilerplate bool
}

var (
	opens  = regexp.MustCompile(`\n[^_\n]*$|(?:\*\*|__|\[|\||#)[^_\n:.,]*$`)
	closes = regexp.MustCompile(`^[ \t]*(?:\*\*|__|\]|\||:|\$|\(|\n|[—-] |$)`)
)

func (t *token) has(signs string) bool { return strings.ContainsAny(t.gap, signs) }

// continues reports whether a token goes on a phrase.
func (t *token) continues() bool { return t.gap == " " && (t.isCapital || t.isNumeric) }

// numbersOf returns the numbers of a text's tokens: its words, each with the signs before it, and the empty word.
func (t *Texts) numbersOf(text string) (numbers []uint32) {
	text = "\n" + extract.Plain(text)
	for at, gapAt := 0, 0; ; {
		start := strings.IndexFunc(text[at:], isSpoken)
		if start < 0 {
			return append(numbers, t.number(tokenKey{text[gapAt:], "", false}))
		}
		start += at
		at = start + wordLength(text[start:])
		word := strings.TrimSuffix(text[start:at], "'s")
		numbers = append(numbers, t.number(tokenKey{text[gapAt:start], word, false}))
		gapAt = start + len(word)
	}
}

// read returns tokens by their numbers. They are valid until the next call.
func (t *Texts) read(numbers []uint32) []*token {
	t.buffer = t.buffer[:0]
	for _, n := range numbers {
		t.buffer = append(t.buffer, t.tokens[n])
	}
	return t.buffer
}

func isSpoken(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// wordLength returns the length of the word that a text begins with: letters and numbers, also on both sides of
// ' & + -, a point before anything but a capital, and a plus at the end.
func wordLength(text string) int {
	for i, r := range text {
		if isSpoken(r) {
			continue
		}
		next, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
		switch {
		case strings.ContainsRune("'&+-", r) && isSpoken(next):
		case r == '.' && isSpoken(next) && (next < 'A' || next > 'Z'):
		case r == '+':
			return i + 1
		default:
			return i
		}
	}
	return len(text)
}

// number returns the number of a token. When there are too many, the word is empty.
func (t *Texts) number(key tokenKey) uint32 {
	if n, ok := t.numbers[key]; ok {
		return n
	}
	if len(t.tokens) == maxTokens {
		t.isFull = true
		return 0
	}
	n, gap, word := uint32(len(t.tokens)), strings.Clone(key.gap), t.word(key.text)
	t.numbers[tokenKey{gap, word.text, key.isBoilerplate}] = n
	t.tokens = append(t.tokens, &token{word, gap, key.isBoilerplate, opens.MatchString(gap), closes.MatchString(gap)})
	return n
}

// word returns the word of a text.
func (t *Texts) word(text string) *word {
	if w := t.words[text]; w != nil {
		return w
	}
	w := &word{text: strings.Clone(text), isNumeric: strings.IndexFunc(text, unicode.IsDigit) == 0}
	for _, r := range text {
		w.isCapital = w.isCapital || unicode.IsUpper(r) || unicode.Is(unicode.Other_Uppercase, r)
		if unicode.IsLetter(r) {
			w.letters++
		}
	}
	t.words[w.text], w.fold = w, w
	if fold := strings.TrimSpace(extract.Fold(text)); fold != text {
		w.fold = t.word(fold)
	}
	return w
}

// A spelling is a run of folded words, of one of these kinds.
type spelling struct {
	folds []*word
	kind  int
}

const (
	ofBrand = iota
	ofRival
	cue  // an expression of criticism
	none // one that has a cue and is no criticism
	spellingKinds
)

// spell adds a text to the spellings.
func (t *Texts) spell(text string, kind int) {
	s := spelling{kind: kind}
	for _, token := range t.read(t.numbersOf(text)) {
		s.folds = append(s.folds, token.fold)
	}
	s.folds = s.folds[:len(s.folds)-1] // without the empty word
	if len(s.folds) > 0 {
		s.folds[0].spellings = append(s.folds[0].spellings, s)
	}
}

// match returns how many words the longest spelling of each kind has with which tokens begin.
func match(tokens []*token) (longest [spellingKinds]int) {
	for _, s := range tokens[0].fold.spellings {
		n := len(s.folds)
		isSame := func(token *token, fold *word) bool { return token.fold == fold }
		if len(tokens) >= n && slices.EqualFunc(tokens[:n], s.folds, isSame) {
			longest[s.kind] = max(longest[s.kind], n)
		}
	}
	return longest
}
