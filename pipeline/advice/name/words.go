// Package name reads the texts of a brand's answers: untracked names that stand where tracked names stand, and
// criticism of the brand. It is pure: the same answers in the same order give the same result. All counts
// belong to one Texts, thus to one brand.
package name

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/answerscope/answerscope/pipeline/advice/need"
	"github.com/answerscope/answerscope/pipeline/extract"
)

// A token is the number of a word below the marks of the gap before it. The last token of a text has no word.
type token uint32

const (
	wordBits       = 19
	blank    token = 1 << (wordBits + iota - 1) // the gap is one space
	// opens: a line, list item, heading, bold span, link or cell begins after the gap.
	opens
	// closes: one of these ends before the gap.
	closes
	// labelled: the gap ends in ": ".
	labelled
	// priced: the gap starts with : or $.
	priced
	// colon: the gap has a colon or ends a line.
	colon
	// sentence: a sentence, line or cell ends.
	sentence
	line
	// paragraph: a blank line or a heading follows.
	paragraph
	heading
	// cut: the word belongs to a run that its platform writes under most answers.
	cut
)

// Limits of one Texts. Words beyond them are read as noWord.
const (
	maxVocabulary = 1<<wordBits - 1
	maxTokens     = 24 << 20 // 96 MB
	maxCharacters = 64       // of a name
)

// The first words of each vocabulary: the end of a text, and a word that is too long or too new.
const (
	endOfText = token(iota)
	noWord
)

func (t token) word() token         { return t & (1<<wordBits - 1) }
func (t token) is(marks token) bool { return t&marks != 0 }

// A word is a spelling.
type word struct {
	text    string
	fold    uint32
	capital bool // has a capital
	digit   bool // starts with a digit
	digits  bool // has digits only
}

// folded counts the spellings that fold alike.
type folded struct {
	text            string
	letters         int
	digit, anyDigit bool   // the first character is a digit, any is
	stop            bool   // in need.Stop or plain.txt
	asked           bool   // a prompt has it in lower case
	inPrompt        bool   // a prompt has it
	lower, amid     uint32 // answers with it in lower case; with a capital inside a sentence or before another capital
	lowerIn, amidIn uint32 // the last of these
}

// isGeneric reports whether a word is no name: answers write it in lower case too often.
func (f *folded) isGeneric() bool {
	return f.asked || f.stop || f.letters < 2 || f.digit && f.letters < 3 || 4*f.lower > f.lower+f.amid
}

// A vocabulary numbers words and their folded forms.
type vocabulary struct {
	words   []word
	folds   []folded
	byText  map[string]token
	byFold  map[string]uint32
	tokens  []token // of the text that was cut last
	places  []int   // where its words start, in bytes of plain
	isFull  bool    // a word was left out
	stopped map[string]bool
}

func newVocabulary() vocabulary {
	v := vocabulary{byText: map[string]token{}, byFold: map[string]uint32{}, stopped: maps.Clone(need.Stop)}
	for plain := range strings.FieldsSeq(plainList) {
		v.stopped[plain] = true
	}
	v.number("")  // endOfText
	v.number(" ") // noWord
	return v
}

func (v *vocabulary) number(text string) token {
	if n, ok := v.byText[text]; ok {
		return n
	}
	if isLong(text) {
		return noWord
	}
	if len(v.words) > maxVocabulary {
		v.isFull = true
		return noWord
	}
	first, _ := utf8.DecodeRuneInString(text)
	n := token(len(v.words))
	text = strings.Clone(text)
	v.byText[text] = n
	v.words = append(v.words, word{
		text: text, fold: v.foldOf(text), capital: strings.ContainsFunc(text, isCapital), digit: unicode.IsDigit(first),
		digits: text != "" && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsDigit(r) }),
	})
	return n
}

func isLong(text string) bool {
	return len(text) > maxCharacters && utf8.RuneCountInString(text) > maxCharacters
}

func isCapital(r rune) bool { return unicode.IsUpper(r) || unicode.Is(unicode.Other_Uppercase, r) }

func (v *vocabulary) foldOf(text string) uint32 {
	text = strings.TrimSpace(extract.Fold(text))
	n, ok := v.byFold[text]
	if !ok {
		n = uint32(len(v.folds))
		v.byFold[text] = n
		first, _ := utf8.DecodeRuneInString(text)
		f := folded{text: text, stop: v.stopped[text], digit: unicode.IsDigit(first)}
		for _, r := range text {
			if unicode.IsLetter(r) {
				f.letters++
			}
			f.anyDigit = f.anyDigit || unicode.IsDigit(r)
		}
		v.folds = append(v.folds, f)
	}
	return n
}

func (v *vocabulary) of(t token) *word { return &v.words[t.word()] }

// cut cuts a text into tokens, the last one being endOfText. The result is valid until the next call.
func (v *vocabulary) cut(text string) []token {
	text = plain(text)
	v.tokens, v.places = v.tokens[:0], v.places[:0]
	end, before, afterDigits := 0, "", false
	for at := nextWord(text, 0); ; {
		gap := text[end:at]
		marks := gapMarks(gap)
		if afterDigits && gap != "" && (gap[0] == ')' || gap[0] == '.') { // "1. Name"
			gap = before + gap
		}
		marks |= openMarks(gap)
		v.places = append(v.places, at)
		if at == len(text) {
			v.tokens = append(v.tokens, endOfText|marks)
			return v.tokens
		}
		next := wordEnd(text, at)
		spelling := strings.TrimSuffix(text[at:next], "'s")
		n := v.number(spelling)
		v.tokens = append(v.tokens, n|marks)
		end, before, afterDigits = at+len(spelling), text[end:at], v.words[n].digits
		at = nextWord(text, next)
	}
}

// folds returns the folded words of a name.
func (v *vocabulary) foldsOf(name string) (folds []uint32) {
	tokens := v.cut(name)
	for _, t := range tokens[:len(tokens)-1] {
		folds = append(folds, v.of(t).fold)
	}
	return folds
}

// plain puts a line break before a text, drops ®, and writes other signs beside names as spaces, quotes and dashes as
// ASCII.
func plain(text string) string { return strings.Map(plainRune, "\n"+text) }

func plainRune(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
	case r == '®':
		return -1
	case r == '™', r == '℠', r == '²', r == '³', r == '¹', 0x2070 <= r && r <= 0x209C, 0x2460 <= r && r <= 0x24FF:
		return ' '
	case r == '‘', r == '’', r == 'ʼ':
		return '\''
	case 0x2010 <= r && r <= 0x2013, r == 0x2212:
		return '-'
	}
	return r
}

func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}

// nextWord returns where the first word from at on starts; len(text) if there is none.
func nextWord(text string, at int) int {
	if i := strings.IndexFunc(text[at:], isWord); i >= 0 {
		return at + i
	}
	return len(text)
}

// wordEnd returns the end of a word. A full stop joins only before a lower-case letter or a digit, since answers are
// run together: "battery.Microsoft".
func wordEnd(text string, at int) int {
	for at < len(text) {
		r, n := utf8.DecodeRuneInString(text[at:])
		next, _ := utf8.DecodeRuneInString(text[at+n:])
		switch {
		case isWord(r), strings.ContainsRune("'&+-", r) && isWord(next):
		case r == '.' && isWord(next) && (next < 'A' || 'Z' < next):
		case r == '+':
			return at + n
		default:
			return at
		}
		at += n
	}
	return at
}

// gapMarks returns the marks that depend on the gap alone.
func gapMarks(gap string) (marks token) {
	if gap == " " {
		return blank | closes
	}
	set := func(mark token, isSet bool) {
		if isSet {
			marks |= mark
		}
	}
	set(closes, isClosing(strings.TrimLeft(gap, " \t")))
	set(priced, gap != "" && (gap[0] == ':' || gap[0] == '$'))
	set(line, strings.Contains(gap, "\n"))
	set(colon, marks&line != 0 || strings.Contains(gap, ":"))
	set(sentence, marks&line != 0 || strings.ContainsAny(gap, ".!?|"))
	set(heading, strings.Contains(gap, "#"))
	set(paragraph, marks&heading != 0 || strings.Count(gap, "\n") > 1)
	return marks
}

func isClosing(gap string) bool {
	if gap == "" || strings.ContainsRune("]|:$(\n", rune(gap[0])) {
		return true
	}
	isClosing := func(mark string) bool { return strings.HasPrefix(gap, mark) }
	return slices.ContainsFunc([]string{"**", "__", "— ", "- "}, isClosing)
}

// openMarks returns the marks that depend on a list number before the gap too.
func openMarks(gap string) (marks token) {
	if strings.HasSuffix(gap, ": ") {
		marks = labelled
	}
	if i := strings.LastIndexByte(gap, '\n'); i >= 0 && !strings.ContainsFunc(gap[i:], inWord) {
		return marks | opens
	}
	i := 1 + strings.LastIndexFunc(gap, func(r rune) bool { return inWord(r) || strings.ContainsRune("\n:.,", r) })
	if strings.Contains(gap[i:], "**") || strings.ContainsAny(gap[i:], "[|#") || strings.HasSuffix(gap[:i], "__") {
		marks |= opens
	}
	return marks
}

func inWord(r rune) bool { return r == '_' || isWord(r) }
