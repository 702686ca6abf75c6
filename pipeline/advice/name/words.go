package name

import (
	_ "embed" // the lists of words
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/answerscope/answerscope/pipeline/advice/need"
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

	plainWords, fillers, labels = need.Set(plainList), need.Set(fillerList), need.Set(labelList)
)

// A token is the number of a word below a mark and the number of the gap before the word. The last token of a text has
// word 0, which is empty, as have words that do not fit into memory.
type token uint32

const (
	wordBits    = 18 // real texts of 13,000 answers have some 100,000 words and some 3,000 gaps
	gapBits     = 13
	boilerplate = token(1 << wordBits) // the word belongs to a run that its platform writes under most answers
)

func (t token) word() token { return t & (boilerplate - 1) }

// A word is a spelling or a folded form.
type word struct {
	text    string
	fold    token // its folded form
	capital bool  // has a capital
	digit   bool  // starts with a digit
	digits  bool  // has digits only

	// Folded forms have these.
	letters       int
	asked         bool  // a prompt has it in lower case
	inPrompt      bool  // a prompt has it
	lower, inside tally // answers with it in lower case; with a capital inside a sentence or before another capital
}

// isGeneric reports whether a folded word is no name: answers write it in lower case too often.
func (w *word) isGeneric() bool {
	return w.asked || need.Stop[w.text] || plainWords[w.text] || w.letters < 2 || w.digit && w.letters < 3 ||
		4*w.lower.answers > w.lower.answers+w.inside.answers
}

// IsGeneric reports whether no word of a text could be a name, by the word lists alone.
func IsGeneric(text string) bool {
	t := New(extract.Entity{}, nil)
	return !slices.ContainsFunc(t.tokenize(text), func(token token) bool { return !t.folded(token).isGeneric() })
}

// A tally counts answers, each once.
type tally struct{ answers, last int32 }

func (t *tally) add(answer int) {
	if t.last != int32(answer) {
		t.answers, t.last = t.answers+1, int32(answer)
	}
}

// A gap is the signs before a word.
type gap struct {
	text   string
	opens  bool // a line, list item, heading, bold span, link or cell begins after it
	closes bool // one of these ends before it
}

// These are the rules of the independent computation, and the signs that belong to the words before them.
var (
	signs = regexp.MustCompile(`[\x{2122}\x{2120}\x{B2}\x{B3}\x{B9}\x{2070}-\x{209C}\x{2460}-\x{24FF}]`)
	alike = strings.NewReplacer("®", "", "‘", "'", "’", "'", "ʼ", "'",
		"\u2010", "-", "\u2011", "-", "\u2012", "-", "–", "-", "\u2212", "-")
	spoken = regexp.MustCompile(`[\pL\pN]+(?:['&+-][\pL\pN]+|\.(?:[a-z\pN]|[^\x00-\x7F\PL])[\pL\pN]*)*\+?`)
	opens  = regexp.MustCompile(`\n[^_\n]*$|(?:\*\*|__|\[|\||#)[^_\n:.,]*$`)
	closes = regexp.MustCompile(`^[ \t]*(?:\*\*|__|\]|\||:|\$|\(|\n|[—-] |$)`)
	ending = regexp.MustCompile(`^(?:'s)?[)”"%]*`)
)

// A piece is a word with the signs before it. The last one of a chunk has no word.
type piece struct {
	gap  string
	word token
}

const (
	maxChunk  = 2 << 10 // bytes of a text that are read at once
	maxShort  = 64      // bytes of one that is remembered
	maxChunks = 1 << 16
	maxGap    = 1 << 10 // bytes of a gap; it keeps both ends of a longer one
)

func (t *Texts) word(k token) *word   { return &t.words[k.word()] }
func (t *Texts) folded(k token) *word { return &t.words[t.word(k).fold] }
func (t *Texts) gap(k token) *gap     { return &t.gaps[k>>(wordBits+1)] }

// has reports whether the gap before a word has one of the signs.
func (t *Texts) has(k token, signs string) bool { return strings.ContainsAny(t.gap(k).text, signs) }

// tokenize cuts a text into tokens, which are valid until the next call.
func (t *Texts) tokenize(text string) []token {
	gap, before, tokens := []byte{'\n'}, "", t.tokens[:0]
	for len(text) > 0 {
		end := min(len(text), maxChunk)
		if blank := strings.IndexAny(text[:end], " \t\n"); blank >= 0 {
			end = blank + 1
		}
		pieces := t.pieces(text[:end])
		for i, p := range pieces {
			if gap = append(gap, p.gap...); len(gap) > maxGap {
				gap = append(gap[:maxGap/2], gap[len(gap)-maxGap/2:]...)
			}
			if i == len(pieces)-1 {
				break
			}
			if len(gap) == 0 || gap[0] != ')' && gap[0] != '.' {
				before = ""
			}
			number := t.gapNumber(before, gap)
			if before = ""; t.words[p.word].digits { // "1. Name"
				before = string(gap)
			}
			tokens, gap = append(tokens, p.word|number<<(wordBits+1)), gap[:0]
		}
		text = text[end:]
	}
	t.tokens = append(tokens, t.gapNumber("", gap)<<(wordBits+1))
	return t.tokens
}

// pieces cuts a part of a text into words. It remembers the short ones.
func (t *Texts) pieces(chunk string) (pieces []piece) {
	if pieces, ok := t.byChunk[chunk]; ok {
		return pieces
	}
	chunk, end := strings.Clone(chunk), 0
	plain := alike.Replace(signs.ReplaceAllString(chunk, " "))
	for _, at := range spoken.FindAllStringIndex(plain, -1) {
		word := strings.TrimSuffix(plain[at[0]:at[1]], "'s")
		pieces = append(pieces, piece{plain[end:at[0]], t.number(word)})
		end = at[0] + len(word)
	}
	pieces = append(pieces, piece{gap: plain[end:]})
	if len(t.byChunk) == maxChunks {
		clear(t.byChunk)
	}
	if len(chunk) <= maxShort {
		t.byChunk[chunk] = pieces
	}
	return pieces
}

// number returns the token of a word.
func (t *Texts) number(text string) token {
	if n, ok := t.byText[text]; ok {
		return n
	}
	if len(t.words) >= 1<<wordBits-1 { // leaves room for a folded form
		t.isFull = true
		return 0
	}
	n, text := token(len(t.words)), strings.Clone(text)
	w := word{text: text, fold: n, digits: text != ""}
	for i, r := range text {
		isDigit := unicode.IsDigit(r)
		w.capital = w.capital || unicode.IsUpper(r) || unicode.Is(unicode.Other_Uppercase, r)
		w.digit, w.digits = w.digit || i == 0 && isDigit, w.digits && isDigit
		if unicode.IsLetter(r) {
			w.letters++
		}
	}
	t.byText[text], t.words = n, append(t.words, w)
	if fold := strings.TrimSpace(extract.Fold(text)); fold != text {
		t.words[n].fold = t.number(fold)
	}
	return n
}

// gapNumber returns the number of a gap; before is the gap before the number in front of it.
func (t *Texts) gapNumber(before string, signs []byte) token {
	if n, ok := t.byGap[[2]string{before, string(signs)}]; ok {
		return n
	}
	if len(t.gaps) == 1<<gapBits {
		t.isFull = true
		return 0
	}
	n, text := token(len(t.gaps)), string(signs)
	t.byGap[[2]string{before, text}] = n
	t.gaps = append(t.gaps, gap{text, opens.MatchString(before + text), closes.MatchString(text)})
	return n
}

// A lexicon has spellings by their first word.
type lexicon map[token][]spelling

// A spelling is a row of folded words.
type spelling struct {
	folds []token
	isOwn bool // it is of the brand, or a cue of criticism
}

func (t *Texts) spell(to lexicon, words string, isOwn bool) {
	s := spelling{isOwn: isOwn}
	tokens := t.tokenize(words)
	for _, token := range tokens[:len(tokens)-1] {
		s.folds = append(s.folds, t.word(token).fold)
	}
	if len(s.folds) > 0 {
		to[s.folds[0]] = append(to[s.folds[0]], s)
	}
}

// match returns how many words the longest spelling has with which tokens begin, of own ones and of others.
func (t *Texts) match(all lexicon, tokens []token) (ours, others int) {
	for _, s := range all[t.word(tokens[0]).fold] {
		n := len(s.folds)
		isHere := len(tokens) >= n && slices.EqualFunc(tokens[:n], s.folds, func(token, fold token) bool {
			return t.word(token).fold == fold
		})
		switch {
		case isHere && s.isOwn:
			ours = max(ours, n)
		case isHere:
			others = max(others, n)
		}
	}
	return ours, others
}
