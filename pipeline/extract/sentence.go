package extract

import (
	"unicode"
	"unicode/utf8"
)

// A breakClass is the UAX 29 Sentence_Break property of a character, as far as its rules distinguish characters.
// Extend and Format are one class: both are passed over.
type breakClass uint8

const (
	otherBreak breakClass = iota
	skipped               // Extend, Format
	lineFeed
	carriageReturn
	separator
	blank // Sp
	lower
	upper
	otherLetter
	numeric
	fullStop   // ATerm
	terminator // STerm
	closing    // Close
	continuing // SContinue
)

// sentenceEnd is the end of the first sentence of s, which is not empty, by the rules of UAX 29. It gives the result of
// uniseg.FirstSentenceInString. But uniseg takes quadratic time over a long row of brackets after a full stop, and so
// does clipperhouse/uax29 (19 s for 100,000 brackets), which also breaks at other places for 9,898 code points.
func sentenceEnd(s string) int {
	previous := otherBreak // class of the previous character that is not skipped
	for i := 0; i < len(s); {
		class, n := breakAt(s, i)
		i += n
		switch class {
		case skipped:
			continue
		case lineFeed, carriageReturn, separator:
			return paragraphEnd(s, i, class)
		case fullStop, terminator:
			end, ended, next := afterTerminator(s, i, class, previous)
			if ended {
				return end
			}
			i, class = end, next
		}
		previous = class
	}
	return len(s)
}

// paragraphEnd is SB3 and SB4: a paragraph ends after its separator, of which CR LF is one.
func paragraphEnd(s string, i int, class breakClass) int {
	if class == carriageReturn && i < len(s) && s[i] == '\n' {
		return i + 1
	}
	return i
}

// afterTerminator reads on after a full stop or terminator that ends at i: closing brackets and quotes, then blanks,
// then a paragraph separator. At end the sentence has ended or goes on; next is the class of the last character that
// was read.
func afterTerminator(s string, i int, term, before breakClass) (end int, ended bool, next breakClass) {
	next = term
	direct := true // nothing but skipped characters since the terminator
	class, after := nextBreak(s, i)
	for ; class == closing; class, after = nextBreak(s, i) {
		i, direct, next = after, false, closing
	}
	for ; class == blank; class, after = nextBreak(s, i) {
		i, direct, next = after, false, blank
	}
	switch class {
	case lineFeed, carriageReturn, separator:
		return paragraphEnd(s, after, class), true, class
	case continuing, fullStop, terminator: // SB8a
		return i, false, next
	}
	if term == fullStop {
		inWord := before == upper || before == lower
		abbreviated := direct && (class == numeric || class == upper && inWord) // SB6, SB7
		if abbreviated || lowerFollows(s, i) {
			return i, false, next
		}
	}
	return passSkipped(s, i), true, next
}

// lowerFollows is SB8: the first letter, separator or terminator from i on is a lower-case letter.
func lowerFollows(s string, i int) bool {
	for i < len(s) {
		class, n := breakAt(s, i)
		switch class {
		case lower:
			return true
		case upper, otherLetter, lineFeed, carriageReturn, separator, fullStop, terminator:
			return false
		}
		i += n
	}
	return false
}

// nextBreak returns the class and end of the next character that is not skipped; otherBreak at the end of s.
func nextBreak(s string, i int) (class breakClass, end int) {
	for i < len(s) {
		class, n := breakAt(s, i)
		i += n
		if class != skipped {
			return class, i
		}
	}
	return otherBreak, i
}

func passSkipped(s string, i int) int {
	for i < len(s) {
		class, n := breakAt(s, i)
		if class != skipped {
			break
		}
		i += n
	}
	return i
}

func breakAt(s string, i int) (class breakClass, n int) {
	if c := s[i]; c < utf8.RuneSelf {
		return asciiBreak[c], 1
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	return breakOf(r), n
}

var asciiBreak = func() (table [utf8.RuneSelf]breakClass) {
	for c := range table {
		table[c] = breakOf(rune(c))
	}
	return table
}()

// breakOf derives Sentence_Break from the properties that Go knows, as UAX 29 defines it by them.
func breakOf(r rune) breakClass {
	switch r {
	case '\n':
		return lineFeed
	case '\r':
		return carriageReturn
	case 0x85, 0x2028, 0x2029:
		return separator
	case '.', 0x2024, 0xFE52, 0xFF0E:
		return fullStop
	case ',', '-', ':', 0x55D, 0x60C, 0x60D, 0x7F8, 0x1802, 0x1808, 0x2013, 0x2014, 0x3001, 0xFE10, 0xFE11, 0xFE13,
		0xFE31, 0xFE32, 0xFE50, 0xFE51, 0xFE55, 0xFE58, 0xFE63, 0xFF0C, 0xFF0D, 0xFF1A, 0xFF64:
		return continuing
	case 0xFF9E, 0xFF9F:
		return skipped
	case '"', '\'':
		return closing
	}
	switch {
	case unicode.IsMark(r) || unicode.Is(unicode.Cf, r):
		return skipped
	case unicode.IsSpace(r):
		return blank
	case unicode.IsLower(r) || unicode.Is(unicode.Other_Lowercase, r):
		return lower
	case unicode.IsUpper(r) || unicode.IsTitle(r) || unicode.Is(unicode.Other_Uppercase, r):
		return upper
	case unicode.IsLetter(r) || unicode.Is(unicode.Nl, r):
		return otherLetter
	case unicode.IsDigit(r):
		return numeric
	case unicode.Is(unicode.Sentence_Terminal, r):
		return terminator
	case unicode.In(r, unicode.Ps, unicode.Pe, unicode.Pi, unicode.Pf):
		return closing
	}
	return otherBreak
}
