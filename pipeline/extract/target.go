package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// linkTargets finds the targets of links and images, `](…)`, with their titles; the label and its brackets stay, so
// `[HP]()` names HP. Text that looks like a target and is none, such as `[1](see below)`, stays.
func linkTargets(s string) (cuts []cut) {
	scan := targets{s: s}
	for next := 0; ; {
		i := strings.Index(s[next:], "](")
		if i < 0 {
			return cuts
		}
		label := next + i + len("]")
		next = label + len("(")
		if end, ok := scan.target(next); ok {
			cuts = append(cuts, cut{span: span{label, end}})
			next = end
		}
	}
}

// targets reads targets from left to right. It remembers the next position of each character that closes a title, so
// that a text full of unclosed titles is not searched to its end for each of them.
type targets struct {
	s       string
	closers [3]struct{ from, at int } // of ", ' and ): start of the search, position
}

// target reads, after `](`, from p on: white space, a target or nothing, a title or nothing, `)`. It returns the end.
func (t *targets) target(p int) (end int, ok bool) {
	opened := p
	p = skipSpace(t.s, p)
	if q, ok := t.bracketed(p); ok {
		if end, ok := t.titleAndClose(q, false); ok {
			return end, true
		}
	}
	if end, ok := t.titleAndClose(t.bare(p), false); ok {
		return end, true
	}
	return t.titleAndClose(p, p > opened)
}

// bracketed reads a target `<…>`, which ends on its line.
func (t *targets) bracketed(p int) (end int, ok bool) {
	if p >= len(t.s) || t.s[p] != '<' {
		return p, false
	}
	i := strings.IndexAny(t.s[p+1:], "<>\n")
	if i < 0 || t.s[p+1+i] != '>' {
		return p, false
	}
	return p + 1 + i + 1, true
}

// bare reads a target without white space, with parentheses nested once.
func (t *targets) bare(p int) (end int) {
	depth, open := 0, p
	for p < len(t.s) {
		switch c := t.s[p]; {
		case c == '(' && depth == 1, c == ')' && depth == 0:
			if depth == 1 {
				return open
			}
			return p
		case c == '(':
			depth, open = 1, p
		case c == ')':
			depth = 0
		default:
			if n := spaceAt(t.s, p); n > 0 {
				if depth == 1 {
					return open
				}
				return p
			}
		}
		p++
	}
	if depth == 1 {
		return open
	}
	return p
}

// titleAndClose reads a title or nothing, then `)`. White space comes before a title; spaced is set if it was read
// already, as without a target.
func (t *targets) titleAndClose(p int, spaced bool) (end int, ok bool) {
	q := skipSpace(t.s, p)
	if q < len(t.s) && (spaced || q > p) {
		if closed, ok := t.title(q); ok {
			q = skipSpace(t.s, closed)
		}
	}
	if q < len(t.s) && t.s[q] == ')' {
		return q + 1, true
	}
	return 0, false
}

// title reads "…", '…' or (…).
func (t *targets) title(p int) (end int, ok bool) {
	which := strings.IndexByte(`"'(`, t.s[p])
	if which < 0 {
		return 0, false
	}
	closer := &t.closers[which]
	if closer.from > p+1 || closer.at < p+1 {
		closer.from, closer.at = p+1, len(t.s)
		if i := strings.IndexByte(t.s[p+1:], `"')`[which]); i >= 0 {
			closer.at = p + 1 + i
		}
	}
	if closer.at == len(t.s) {
		return 0, false
	}
	if which == 2 && strings.IndexByte(t.s[p+1:closer.at], '(') >= 0 {
		return 0, false
	}
	return closer.at + 1, true
}

func skipSpace(s string, p int) int {
	for p < len(s) {
		n := spaceAt(s, p)
		if n == 0 {
			break
		}
		p += n
	}
	return p
}

// spaceAt is the length in bytes of the white space character at p, 0: none.
func spaceAt(s string, p int) int {
	if s[p] < utf8.RuneSelf {
		if c := s[p]; c == ' ' || '\t' <= c && c <= '\r' {
			return 1
		}
		return 0
	}
	if r, n := utf8.DecodeRuneInString(s[p:]); unicode.IsSpace(r) {
		return n
	}
	return 0
}
