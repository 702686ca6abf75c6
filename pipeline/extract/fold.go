package extract

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Fold brings text and names to the form in which they are compared.
func Fold(s string) string { return presentAlphabet().fold(s) }

// Plain is a text for people and for other readings: without invisible characters and signs of trade, of which
// one between two words is a space, and with the apostrophe and the dash of ASCII.
func Plain(text string) string {
	a := presentAlphabet()
	signed := false
	text = strings.Map(func(r rune) rune {
		switch {
		case r < utf8.RuneSelf && r != '`':
			return r
		case a.isUnseen(r):
			return -1
		case a.isTrademark(r):
			signed = true
			return 0
		case r == '´' || a.plain(r) == '\'':
			return '\''
		case a.plain(r) == '-':
			return '-'
		}
		return r
	}, text)
	if signed {
		text = strings.ReplaceAll(lastSigns.ReplaceAllString(text, "$1"), "\x00", " ")
	}
	return text
}

// lastSigns matches signs of trade that no word follows at once.
var lastSigns = regexp.MustCompile(`\x00+([^\pL\pN\x00]|$)`)

// An alphabet has the folded form of each character.
type alphabet struct {
	ascii     [utf8.RuneSelf]byte
	asciiText string
	table     [tableEnd]folding
	// asSeen drops invisible characters, and knows more signs and apostrophes: version 4 and later.
	asSeen bool
}

// tableEnd bounds the characters that fold by table: the alphabets, common signs, Kana.
const tableEnd = 0x3400

// A folding has the folded form of one character. The character stands alone if normalisation neither joins it to the
// previous one nor counts it as a mark.
type folding struct {
	alone   bool
	settled bool // folds to itself and keeps the marks after it
	unseen  bool // folds to nothing
	notable bool // a capital, or the end of a line
	folded  string
}

var (
	presentAlphabet = sync.OnceValue(func() *alphabet { return makeAlphabet(true) })
	formerAlphabet  = sync.OnceValue(func() *alphabet { return makeAlphabet(false) }) // up to version 3
)

func makeAlphabet(asSeen bool) *alphabet {
	a := &alphabet{asSeen: asSeen}
	for c := range a.ascii {
		a.ascii[c] = byte(a.plain(unicode.ToLower(rune(c))))
	}
	a.asciiText = string(a.ascii[:])
	for r := rune(utf8.RuneSelf); r < tableEnd; r++ {
		unfolded := string(r)
		folded := a.foldSlow(unfolded)
		a.table[r] = folding{
			a.standsAloneSlow(r), folded == unfolded && !losesMarks(r), a.isUnseen(r), false, folded,
		}
	}
	for r := range a.table {
		a.table[r].notable = IsCapital(rune(r)) || isBreak(rune(r))
	}
	return a
}

func (a *alphabet) fold(s string) string {
	f := folder{letters: a}
	f.add(s)
	return string(f.out)
}

// folder folds text that comes in pieces. A piece must not begin with a mark or a character that composes with the
// previous one.
//
// Most of any text needs no normalisation: a character that neither composes with its predecessor nor is followed by
// one that does folds by itself, ASCII by a table of bytes, the scripts below tableEnd by a table of characters. The
// rest goes through foldSlow, cut where no character composes with the previous one.
type folder struct {
	letters *alphabet
	out     []byte
	inSpace bool // out ends in a space

	notes    bool    // capitals and breaks are wanted
	capitals []int32 // bytes of out that were capitals
	breaks   []int32 // bytes of out beside which, or where, a line ended
}

func (f *folder) add(s string) {
	a := f.letters
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			end := i + 1
			for end < len(s) && s[end] < utf8.RuneSelf {
				end++
			}
			if end < len(s) {
				end-- // the next character may compose with the last one
			}
			f.addASCII(s[i:end])
			if i = end; i == len(s) {
				break
			}
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if f.notes && a.isNotable(r) {
			f.note(r)
		}
		folded, end := a.foldFirst(s, i, r, n)
		f.putAll(folded)
		i = end
	}
}

func (f *folder) addASCII(s string) {
	out, inSpace, ascii := f.out, f.inSpace, &f.letters.ascii
	for i := range len(s) {
		c := s[i]
		folded := ascii[c&(utf8.RuneSelf-1)]
		switch {
		case folded != ' ':
			if folded != c && f.notes && c <= 'Z' {
				f.capitals = append(f.capitals, int32(len(out)))
			}
			inSpace = false
		case c != ' ' && f.notes && isBreak(rune(c)):
			f.breaks = append(f.breaks, int32(len(out)))
			fallthrough
		default:
			if inSpace {
				continue
			}
			inSpace = true
		}
		out = append(out, folded)
	}
	f.out, f.inSpace = out, inSpace
}

// note keeps what folding drops of the notable character that comes next.
func (f *folder) note(r rune) {
	if isBreak(r) {
		f.breaks = append(f.breaks, int32(len(f.out)))
	} else {
		f.capitals = append(f.capitals, int32(len(f.out)))
	}
}

// isBreak reports whether a line ends at a character.
func isBreak(r rune) bool {
	return '\n' <= r && r <= '\r' || r == 0x85 || r == 0x2028 || r == 0x2029
}

// foldFirst folds the first characters of s[i:], which begin with r of n bytes, as few as fold by themselves, and
// returns their end.
func (a *alphabet) foldFirst(s string, i int, r rune, n int) (folded string, end int) {
	alone, folded := a.foldAlone(r)
	end = i + n
	for end < len(s) {
		next, m := utf8.DecodeRuneInString(s[end:])
		nextAlone, unseen := a.classOf(next)
		if !unseen {
			alone = alone && nextAlone
			break
		}
		end += m
	}
	if !alone {
		end = a.aloneFrom(s, i+n)
		if folded = s[i:end]; !a.isSettled(folded) {
			folded = a.foldSlow(folded)
		}
	} else if folded == "" {
		folded = s[i : i+n]
	}
	return folded, end
}

// put appends one byte; a space after a space is left out.
func (f *folder) put(c byte) {
	if c == ' ' && f.inSpace {
		return
	}
	f.inSpace = c == ' '
	f.out = append(f.out, c)
}

func (f *folder) putAll(s string) {
	for i := range len(s) {
		f.put(s[i])
	}
}

// aloneFrom is the first position from i on whose character stands alone.
func (a *alphabet) aloneFrom(s string, i int) int {
	for i < len(s) {
		r, n := utf8.DecodeRuneInString(s[i:])
		if alone, _ := a.classOf(r); alone {
			break
		}
		i += n
	}
	return i
}

// isSettled reports whether characters fold to themselves, as most letters with marks of Thai and of the scripts of
// India do.
func (a *alphabet) isSettled(s string) bool {
	for _, r := range s {
		if r < utf8.RuneSelf || r >= tableEnd || !a.table[r].settled {
			return false
		}
	}
	return norm.NFKC.IsNormalString(s)
}

// foldSlow folds by the definition, except that it does not join spaces.
func (a *alphabet) foldSlow(s string) string {
	out := make([]rune, 0, len(s))
	for _, r := range s {
		switch {
		case a.isUnseen(r):
			continue
		case a.isTrademark(r):
			r = ' '
		case a.asSeen && r == '´': // a space with an accent by its compatibility form
			r = '\''
		}
		out = append(out, r)
	}
	s = norm.NFKC.String(caseFold.String(norm.NFKC.String(string(out))))
	out = out[:0]
	accented := false
	for _, r := range norm.NFD.String(s) {
		if unicode.Is(unicode.Mn, r) {
			if accented {
				continue
			}
		} else {
			accented = losesMarks(r)
		}
		out = append(out, r)
	}
	out = []rune(norm.NFC.String(string(out)))
	for i, r := range out {
		out[i] = a.plain(r)
	}
	return string(out)
}

// losesMarks reports whether non-spacing marks are dropped after a letter.
func losesMarks(r rune) bool {
	return unicode.IsLetter(r) && unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic)
}

// apostrophes are further signs that are typed for one; NFKC leaves them.
const apostrophes = "`′‛ʹʻʽˈ׳"

// caseFold is stateless, so all may share it.
var caseFold = cases.Fold()

// isTrademark reports whether a sign is written beside a name and is no part of it: ™ ℠ ® ©, superscripts, subscripts
// and enclosed numbers and letters.
func (a *alphabet) isTrademark(r rune) bool {
	switch r {
	case '™', '℠', '¹', '²', '³':
		return true
	case '®', '©', '🅪', '🅫', '🅬':
		return a.asSeen
	}
	return 0x2070 <= r && r <= 0x209C || 0x2460 <= r && r <= 0x24FF
}

// isUnseen reports whether a character is invisible: soft hyphens, joiners, spaces without width, marks of direction,
// selectors of variants.
func (a *alphabet) isUnseen(r rune) bool {
	return a.asSeen && r >= 0xAD && (r == 0x34F || unicode.Is(unicode.Variation_Selector, r) ||
		unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r))
}

// plain maps the quotes, dashes and spaces that writers use without difference.
func (a *alphabet) plain(r rune) rune {
	switch {
	case r == '’' || r == '‘' || r == 'ʼ', a.asSeen && strings.ContainsRune(apostrophes, r):
		return '\''
	case 0x2010 <= r && r <= 0x2013 || r == 0x2212:
		return '-'
	case unicode.IsSpace(r):
		return ' '
	case 0xAB70 <= r && r <= 0xABBF: // Cherokee folds to its older, large letters; x/text swaps the two
		return r - 0xAB70 + 0x13A0
	case 0x13F8 <= r && r <= 0x13FD:
		return r - 0x13F8 + 0x13F0
	}
	return r
}

// foldAlone folds a character that stands alone; folded is empty if the character folds to itself.
func (a *alphabet) foldAlone(r rune) (alone bool, folded string) {
	switch {
	case r < utf8.RuneSelf:
		return true, a.asciiText[r : r+1]
	case r < tableEnd:
		entry := &a.table[r]
		return entry.alone, entry.folded
	case isPlainIdeograph(r):
		return true, ""
	case !a.standsAloneSlow(r):
		return false, ""
	}
	return true, a.foldSlow(string(r))
}

// classOf reports whether a character stands alone, and whether it is invisible. An invisible one does not.
func (a *alphabet) classOf(r rune) (alone, unseen bool) {
	switch {
	case r < utf8.RuneSelf, isPlainIdeograph(r):
		return true, false
	case r < tableEnd:
		return a.table[r].alone, a.table[r].unseen
	}
	return a.standsAloneSlow(r), a.isUnseen(r)
}

// standsAloneSlow decomposes r: Thai AM then begins with a mark, which is dropped after a Latin
// letter, and a vowel of the Korean keyboard becomes one that joins a previous consonant.
func (a *alphabet) standsAloneSlow(r rune) bool {
	s := norm.NFKD.String(string(r))
	first, _ := utf8.DecodeRuneInString(s)
	return !a.isUnseen(r) && !unicode.IsMark(first) && norm.NFKC.PropertiesString(s).BoundaryBefore()
}

func (a *alphabet) isNotable(r rune) bool {
	if r < tableEnd {
		return a.table[r].notable
	}
	return !isPlainIdeograph(r) && IsCapital(r)
}

// IsCapital reports whether a character is a capital, or begins a word as one does.
func IsCapital(r rune) bool { return unicode.IsUpper(r) || unicode.IsTitle(r) }

// isPlainIdeograph reports whether r is a unified ideograph or a Hangul syllable: neither folds.
func isPlainIdeograph(r rune) bool {
	return 0x4E00 <= r && r <= 0x9FFF || 0xAC00 <= r && r <= 0xD7A3 || 0x3400 <= r && r <= 0x4DBF
}
