package extract

import (
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Fold brings text and names to the form in which they are compared.
func Fold(s string) string {
	var f folder
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
	out     []byte
	inSpace bool // out ends in a space
}

func (f *folder) add(s string) {
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf && (i+1 == len(s) || s[i+1] < utf8.RuneSelf) {
			f.put(asciiFold[c])
			i++
			continue
		}
		folded, end := foldFirst(s, i)
		f.putAll(folded)
		i = end
	}
}

// foldFirst folds the first characters of s[i:], as few as fold by themselves, and returns their end.
func foldFirst(s string, i int) (folded string, end int) {
	r, n := utf8.DecodeRuneInString(s[i:])
	alone, folded := foldAlone(r)
	end = i + n
	if next, _ := utf8.DecodeRuneInString(s[end:]); end < len(s) && !standsAlone(next) {
		alone = false
	}
	if !alone {
		end = aloneFrom(s, end)
		if folded = s[i:end]; !isSettled(folded) {
			folded = foldSlow(folded)
		}
	} else if folded == "" {
		folded = s[i:end]
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
func aloneFrom(s string, i int) int {
	for i < len(s) {
		r, n := utf8.DecodeRuneInString(s[i:])
		if standsAlone(r) {
			break
		}
		i += n
	}
	return i
}

// isSettled reports whether characters fold to themselves, as most letters with marks of Thai and of the scripts of
// India do.
func isSettled(s string) bool {
	for _, r := range s {
		if r < utf8.RuneSelf || r >= tableEnd || !foldings()[r].settled {
			return false
		}
	}
	return norm.NFKC.IsNormalString(s)
}

// foldSlow folds by the definition, except that it does not join spaces.
func foldSlow(s string) string {
	out := make([]rune, 0, len(s))
	for _, r := range s {
		if isTrademark(r) {
			r = ' '
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
		out[i] = plain(r)
	}
	return string(out)
}

// losesMarks reports whether non-spacing marks are dropped after a letter.
func losesMarks(r rune) bool {
	return unicode.IsLetter(r) && unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic)
}

// caseFold is stateless, so all may share it.
var caseFold = cases.Fold()

// isTrademark reports whether a sign is written beside a name and is no part of it: ™ ℠, superscripts, subscripts and
// enclosed numbers and letters.
func isTrademark(r rune) bool {
	switch r {
	case '™', '℠', '¹', '²', '³':
		return true
	}
	return 0x2070 <= r && r <= 0x209C || 0x2460 <= r && r <= 0x24FF
}

// plain maps the quotes, dashes and spaces that writers use without difference.
func plain(r rune) rune {
	switch {
	case r == '’' || r == '‘' || r == 'ʼ':
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

// tableEnd bounds the characters that fold by table: the alphabets, common signs, Kana.
const tableEnd = 0x3400

// A folding has the folded form of one character. The character stands alone if normalisation neither joins it to the
// previous one nor counts it as a mark.
type folding struct {
	alone   bool
	settled bool // folds to itself and keeps the marks after it
	folded  string
}

var foldings = sync.OnceValue(func() *[tableEnd]folding {
	table := new([tableEnd]folding)
	for r := rune(utf8.RuneSelf); r < tableEnd; r++ {
		unfolded := string(r)
		folded := foldSlow(unfolded)
		table[r] = folding{standsAloneSlow(r), folded == unfolded && !losesMarks(r), folded}
	}
	return table
})

// foldAlone folds a character that stands alone; folded is empty if the character folds to itself.
func foldAlone(r rune) (alone bool, folded string) {
	switch {
	case r < utf8.RuneSelf:
		return true, asciiText[r : r+1]
	case r < tableEnd:
		entry := &foldings()[r]
		return entry.alone, entry.folded
	case isPlainIdeograph(r):
		return true, ""
	case !standsAloneSlow(r):
		return false, ""
	}
	return true, foldSlow(string(r))
}

func standsAlone(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return true
	case r < tableEnd:
		return foldings()[r].alone
	}
	return isPlainIdeograph(r) || standsAloneSlow(r)
}

// standsAloneSlow decomposes r: Thai AM then begins with a mark, which is dropped after a Latin
// letter, and a vowel of the Korean keyboard becomes one that joins a previous consonant.
func standsAloneSlow(r rune) bool {
	s := norm.NFKD.String(string(r))
	first, _ := utf8.DecodeRuneInString(s)
	return !unicode.IsMark(first) && norm.NFKC.PropertiesString(s).BoundaryBefore()
}

// isPlainIdeograph reports whether r is a unified ideograph or a Hangul syllable: neither folds.
func isPlainIdeograph(r rune) bool {
	return 0x4E00 <= r && r <= 0x9FFF || 0xAC00 <= r && r <= 0xD7A3 || 0x3400 <= r && r <= 0x4DBF
}

var asciiFold = func() (table [utf8.RuneSelf]byte) {
	for c := range table {
		table[c] = byte(plain(unicode.ToLower(rune(c))))
	}
	return table
}()

var asciiText = string(asciiFold[:])
