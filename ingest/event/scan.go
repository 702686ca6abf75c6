package event

import (
	"math/bits"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// scan walks over JSON text (RFC 8259) without judging what it means. It says
// only where a value is wrong, by returning false; reader says what was wanted.
type scan struct {
	s string
	i int // next byte to look at
}

// maxDepth bounds the nesting of values that are passed over.
const maxDepth = 1000

// next is the first byte of the next token, 0 at the end.
func (t *scan) next() byte {
	for ; t.i < len(t.s); t.i++ {
		switch c := t.s[t.i]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// take passes over one token if it is c.
func (t *scan) take(c byte) bool {
	if t.next() != c {
		return false
	}
	t.i++
	return true
}

// word passes over true, false or null.
func (t *scan) word(w string) bool {
	if strings.HasPrefix(t.s[t.i:], w) {
		t.i += len(w)
		return true
	}
	return false
}

// str passes over a string and returns what it says. Without escapes it is a
// part of the text, and nothing is allocated.
func (t *scan) str() (string, bool) {
	if !t.take('"') {
		return "", false
	}
	start := t.i
	end := plain(t.s, start)
	if end < len(t.s) && t.s[end] == '"' {
		t.i = end + 1
		return t.s[start:end], true
	}
	return t.escaped(start, end)
}

// escaped is str for a string that begins at start and has its first escape, or
// a byte that may not be there, at first.
func (t *scan) escaped(start, first int) (string, bool) {
	end := first
	for end < len(t.s) && t.s[end] == '\\' {
		end = plain(t.s, min(end+2, len(t.s)))
	}
	if end == len(t.s) || t.s[end] != '"' {
		return "", false
	}
	var b strings.Builder
	b.Grow(end - start) // no escape is shorter than what it stands for
	for i := first; ; i = plain(t.s, start) {
		b.WriteString(t.s[start:i])
		if i == end {
			t.i = end + 1
			return b.String(), true
		}
		var ok bool
		if start, ok = t.unescape(&b, i+1); !ok {
			return "", false
		}
	}
}

// unescape writes what the escape at i, after its backslash, stands for, and
// returns where the text goes on. Half a surrogate pair becomes U+FFFD.
func (t *scan) unescape(b *strings.Builder, i int) (int, bool) {
	switch c := t.s[i]; c {
	case '"', '\\', '/':
		b.WriteByte(c)
	case 'n':
		b.WriteByte('\n')
	case 'b':
		b.WriteByte('\b')
	case 'f':
		b.WriteByte('\f')
	case 'r':
		b.WriteByte('\r')
	case 't':
		b.WriteByte('\t')
	case 'u':
		r, ok := hex4(t.s, i+1)
		if i += 5; ok && utf16.IsSurrogate(r) {
			if low, ok := hex4(t.s, i+2); ok && t.s[i] == '\\' && t.s[i+1] == 'u' && utf16.DecodeRune(r, low) != utf8.RuneError {
				r = utf16.DecodeRune(r, low)
				i += 6
			}
		}
		b.WriteRune(r) // half a pair, too, is written as U+FFFD
		return i, ok
	default:
		return i, false
	}
	return i + 1, true
}

// number passes over a number and returns it as it is written.
func (t *scan) number() (string, bool) {
	t.next()
	start := t.i
	if t.i < len(t.s) && t.s[t.i] == '-' {
		t.i++
	}
	if whole := t.i; !t.digits() || t.i > whole+1 && t.s[whole] == '0' {
		return "", false
	}
	if t.i < len(t.s) && t.s[t.i] == '.' {
		if t.i++; !t.digits() {
			return "", false
		}
	}
	if t.i < len(t.s) && t.s[t.i]|0x20 == 'e' {
		if t.i++; t.i < len(t.s) && (t.s[t.i] == '+' || t.s[t.i] == '-') {
			t.i++
		}
		if !t.digits() {
			return "", false
		}
	}
	return t.s[start:t.i], true
}

func (t *scan) digits() bool {
	start := t.i
	for t.i < len(t.s) && t.s[t.i]-'0' <= 9 {
		t.i++
	}
	return t.i > start
}

// pass passes over any value of at most depth levels.
func (t *scan) pass(depth int) bool {
	switch c := t.next(); c {
	case '"':
		_, ok := t.str()
		return ok
	case '{', '[':
		return depth > 0 && t.passAll(c, depth-1)
	case 't':
		return t.word("true")
	case 'f':
		return t.word("false")
	case 'n':
		return t.word("null")
	default:
		_, ok := t.number()
		return ok
	}
}

func (t *scan) passAll(open byte, depth int) bool {
	t.i++
	end := open + 2 // ] and } stand two after [ and {
	if t.take(end) {
		return true
	}
	for {
		if open == '{' {
			if _, ok := t.str(); !ok || !t.take(':') {
				return false
			}
		}
		if !t.pass(depth) {
			return false
		}
		if t.take(end) {
			return true
		}
		if !t.take(',') {
			return false
		}
	}
}

func hex4(s string, i int) (rune, bool) {
	if i+4 > len(s) {
		return 0, false
	}
	a, b, c, d := hexDigits[s[i]], hexDigits[s[i+1]], hexDigits[s[i+2]], hexDigits[s[i+3]]
	return rune(a)<<12 | rune(b)<<8 | rune(c)<<4 | rune(d), (a|b|c|d)&0xf0 == 0
}

// hexDigits is the value of a hexadecimal digit, 0xff for what is none.
var hexDigits = func() (t [256]byte) {
	for i := range t {
		t[i] = 0xff
	}
	for i, c := range "0123456789abcdef" {
		t[c] = byte(i)
	}
	for i, c := range "ABCDEF" {
		t[c] = byte(10 + i)
	}
	return t
}()

// plain is where, from i on, the first quote, backslash or control character of
// s stands; len(s) when there is none. It looks at eight bytes at a time: for
// each of them, a subtraction borrows into the high bit when the byte is below
// what is subtracted. Borrows may run on, so only the lowest mark counts.
func plain(s string, i int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(s); i += 8 {
		w := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		quote, back := w^ones*'"', w^ones*'\\'
		marks := ((w-ones*0x20)&^w | (quote-ones)&^quote | (back-ones)&^back) & highs
		if marks != 0 {
			return i + bits.TrailingZeros64(marks)/8
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' {
			return i
		}
	}
	return i
}
