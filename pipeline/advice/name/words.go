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

const wordBits = 21

const (
	blank     token = 1 << (wordBits + iota) // the gap is one space
	opens                                    // a line, list item, heading, bold span, link or cell begins after the gap
	closes                                   // one of these ends before the gap
	labelled                                 // the gap ends in ": "
	priced                                   // the gap starts with : or $
	colon                                    // the gap has a colon or ends a line
	sentence                                 // a sentence, line or cell ends
	line                                     // a line ends
	paragraph                                // a blank line or a heading follows
	heading                                  // a heading follows
	cut                                      // the word belongs to a run that its platform writes under most answers
)

func (t token) word() token         { return t & (1<<wordBits - 1) }
func (t token) is(marks token) bool { return t&marks != 0 }

// A word is a spelling or a folded form.
type word struct {
	text    string
	fold    token // its folded form
	capital bool  // has a capital
	digit   bool  // starts with a digit
	digits  bool  // has digits only

	// Folded forms have these.
	letters     int
	stop        bool  // in need.Stop or plain.txt
	asked       bool  // a prompt has it in lower case
	inPrompt    bool  // a prompt has it
	lower, amid tally // answers with it in lower case; with a capital inside a sentence or before another capital
}

// A tally counts answers, each once.
type tally struct{ answers, last int }

func (t *tally) add(answer int) {
	if t.last != answer {
		t.answers, t.last = t.answers+1, answer
	}
}

// isGeneric reports whether a folded word is no name: answers write it in lower case too often.
func (w *word) isGeneric() bool {
	lower, amid := w.lower.answers, w.amid.answers
	return w.asked || w.stop || w.letters < 2 || w.digit && w.letters < 3 || 4*lower > lower+amid
}

// IsGeneric reports whether no word of a text could be a name, by the word lists alone.
func IsGeneric(text string) bool {
	v := newVocabulary()
	return !slices.ContainsFunc(v.cut(text), func(t token) bool { return !v.folded(t).isGeneric() })
}

// A vocabulary numbers words. The first one is empty, as are those that are too many.
type vocabulary struct {
	words   []word
	byText  map[string]token
	stopped map[string]bool
	tokens  []token // of the text that was cut last
	place   []int   // where each of its bytes is in the original
	places  []int   // where each of its words starts and ends in the original
	ends    []int
}

func newVocabulary() vocabulary {
	v := vocabulary{byText: map[string]token{}, stopped: maps.Clone(need.Stop)}
	for plain := range strings.FieldsSeq(plainList) {
		v.stopped[plain] = true
	}
	v.number("")
	return v
}

func (v *vocabulary) number(text string) token {
	if n, ok := v.byText[text]; ok {
		return n
	}
	if len(v.words) == 1<<wordBits {
		return 0
	}
	n, text := token(len(v.words)), strings.Clone(text)
	w := word{text: text, fold: n, digits: text != "", stop: v.stopped[text]}
	for i, r := range text {
		isDigit := unicode.IsDigit(r)
		w.capital = w.capital || unicode.IsUpper(r) || unicode.Is(unicode.Other_Uppercase, r)
		w.digit, w.digits = w.digit || i == 0 && isDigit, w.digits && isDigit
		if unicode.IsLetter(r) {
			w.letters++
		}
	}
	v.byText[text], v.words = n, append(v.words, w)
	if fold := strings.TrimSpace(extract.Fold(text)); fold != text {
		v.words[n].fold = v.number(fold)
	}
	return n
}

func (v *vocabulary) of(t token) *word     { return &v.words[t.word()] }
func (v *vocabulary) folded(t token) *word { return &v.words[v.of(t).fold] }

// cut cuts a text into tokens. The result is valid until the next call.
func (v *vocabulary) cut(original string) []token {
	text := v.plain(original)
	v.tokens, v.places, v.ends = v.tokens[:0], v.places[:0], v.ends[:0]
	for end, at, before, isNumber := 0, 0, "", false; ; {
		for at < len(text) {
			r, n := utf8.DecodeRuneInString(text[at:])
			if isWord(r) {
				break
			}
			at += n
		}
		gap := text[end:at]
		marks := marksOf(gap)
		if isNumber && gap != "" && (gap[0] == ')' || gap[0] == '.') { // "1. Name"
			marks |= marksOf(before+gap) & opens
		}
		next := wordEnd(text, at)
		spelling := strings.TrimSuffix(text[at:next], "'s")
		end = at + len(spelling)
		n := v.number(spelling)
		v.tokens = append(v.tokens, n|marks)
		v.places, v.ends = append(v.places, v.place[at]), append(v.ends, v.place[end])
		if at == len(text) {
			return v.tokens
		}
		at, before, isNumber = next, gap, v.words[n].digits
	}
}

func marksOf(gap string) (marks token) {
	if gap == " " {
		return blank | closes
	}
	set := func(mark token, isSet bool) {
		if isSet {
			marks |= mark
		}
	}
	rest := strings.TrimLeft(gap, " \t")
	isFirst := func(sign string) bool { return strings.HasPrefix(rest, sign) }
	signs := []string{"]", "|", ":", "$", "(", "\n", "**", "__", "— ", "- "}
	set(closes, rest == "" || slices.ContainsFunc(signs, isFirst))
	set(labelled, strings.HasSuffix(gap, ": "))
	set(priced, gap != "" && (gap[0] == ':' || gap[0] == '$'))
	set(line, strings.Contains(gap, "\n"))
	set(colon, strings.ContainsAny(gap, ":\n"))
	set(sentence, strings.ContainsAny(gap, ".!?|\n"))
	set(heading, strings.Contains(gap, "#"))
	set(paragraph, marks&heading != 0 || strings.Count(gap, "\n") > 1)
	last := strings.LastIndexByte(gap, '\n')
	set(opens, last >= 0 && !strings.Contains(gap[last:], "_"))
	last = 1 + strings.LastIndexAny(gap, "_\n:.,")
	set(opens, strings.HasSuffix(gap[:last], "__"))
	set(opens, strings.Contains(gap[last:], "**") || strings.ContainsAny(gap[last:], "[|#"))
	return marks
}

// plain puts a line break before a text, drops ®, and writes other signs beside names as spaces, quotes and dashes as
// ASCII.
func (v *vocabulary) plain(text string) string {
	out := append(make([]byte, 0, len(text)+1), '\n')
	v.place = append(v.place[:0], 0)
	for i, r := range text {
		switch {
		case r < utf8.RuneSelf:
		case r == '®':
			continue
		case r == '™', r == '℠', r == '²', r == '³', r == '¹', 0x2070 <= r && r <= 0x209C, 0x2460 <= r && r <= 0x24FF:
			r = ' '
		case r == '‘', r == '’', r == 'ʼ':
			r = '\''
		case 0x2010 <= r && r <= 0x2013, r == 0x2212:
			r = '-'
		}
		for out = utf8.AppendRune(out, r); len(v.place) < len(out); {
			v.place = append(v.place, i)
		}
	}
	v.place = append(v.place, len(text))
	return string(out)
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

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
