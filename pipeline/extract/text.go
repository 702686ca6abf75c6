package extract

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Prose is the readable part of an answer: its text without code fences, link reference definitions, targets of links
// and images, and URLs, removed in this order, each leaving one space; before URLs, escapes are replaced. Links keep
// their label and its brackets. It takes time linear in the text, for any text.
func Prose(text string) string { return current.prose(text) }

func (r *rules) prose(text string) string {
	for _, find := range r.parts {
		text = without(text, find(text))
	}
	return text
}

// unescaped is a text that is not an answer's, such as a name, a prompt or a title, without escapes.
func (r *rules) unescaped(text string) string {
	if !r.asRead {
		return text
	}
	return without(text, escapes(text))
}

// removedParts finds the parts to remove, each function in the text that the previous ones left.
var (
	removedParts   = []func(string) []cut{fences, definitions, linkTargets, escapes, urls}
	undecodedParts = []func(string) []cut{fences, definitions, linkTargets, urls} // up to version 3
)

// A span is the part of a text from a byte on up to another.
type span struct{ from, to int }

// A cut is a part of a text that is replaced: by a space, or by with.
type cut struct {
	span
	with string
}

func (c cut) replacement() string { return cmp.Or(c.with, " ") }

// without replaces the cuts of s.
func without(s string, cuts []cut) string {
	if len(cuts) == 0 {
		return s
	}
	var out strings.Builder
	out.Grow(len(s))
	next := 0
	for _, c := range cuts {
		out.WriteString(s[next:c.from])
		out.WriteString(c.replacement())
		next = c.to
	}
	out.WriteString(s[next:])
	return out.String()
}

// cutLines cuts parts of s that begin with a line. partEnd gets the bounds of each line and returns the end of its
// part; the start of the line if it is not cut.
func cutLines(s string, partEnd func(at, end int) (to int)) (cuts []cut) {
	for at := 0; at < len(s); {
		end := lineEnd(s, at)
		if to := partEnd(at, end); to > at {
			cuts = append(cuts, cut{span: span{at, to}})
			end = to
		}
		at = end + 1
	}
	return cuts
}

// fences finds code fences: from a line that, after white space, starts with three or more ` or ~, up to a
// closing line of only that character, at least as many of it, or up to the end. The line break after the closing
// line stays, so that the text after it still starts a line.
func fences(s string) []cut {
	if !strings.Contains(s, "```") && !strings.Contains(s, "~~~") {
		return nil
	}
	return cutLines(s, func(at, end int) int {
		mark, n := fenceOf(s[at:end])
		if n == 0 {
			return at
		}
		return fenceEnd(s, end, mark, n)
	})
}

// fenceOf returns the character that opens a fence, and its number; n is 0 for any other line. A line of back quotes
// with further back quotes is inline code.
func fenceOf(line string) (mark byte, n int) {
	line = strings.TrimLeftFunc(line, unicode.IsSpace)
	if !strings.HasPrefix(line, "```") && !strings.HasPrefix(line, "~~~") {
		return 0, 0
	}
	mark = line[0]
	rest := strings.TrimLeft(line, line[:1])
	if mark == '`' && strings.IndexByte(rest, '`') >= 0 {
		return 0, 0
	}
	return mark, len(line) - len(rest)
}

// fenceEnd is the end of a fence's closing line; len(s) if no line closes it.
func fenceEnd(s string, firstEnd int, mark byte, n int) int {
	for at := firstEnd + 1; at < len(s); {
		end := lineEnd(s, at)
		line := strings.TrimFunc(s[at:end], unicode.IsSpace)
		if len(line) >= n && strings.Count(line, string(mark)) == len(line) {
			return end
		}
		at = end + 1
	}
	return len(s)
}

// definitions finds link reference definitions: whole lines `[label]: http…`, whose titles are the cited pages'
// and not the answer's.
func definitions(s string) []cut {
	if !strings.Contains(s, "]:") {
		return nil
	}
	return cutLines(s, func(at, end int) int {
		if isDefinition(s[at:end]) {
			return end
		}
		return at
	})
}

func isDefinition(line string) bool {
	line = strings.TrimLeftFunc(line, unicode.IsSpace)
	if line == "" || line[0] != '[' {
		return false
	}
	label := strings.IndexByte(line, ']')
	if label < 2 || !strings.HasPrefix(line[label:], "]:") {
		return false
	}
	return strings.HasPrefix(strings.TrimLeftFunc(line[label+2:], unicode.IsSpace), "http")
}

func lineEnd(s string, at int) int {
	if i := strings.IndexByte(s[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(s)
}

// urls finds http:// and https:// with the ASCII letters, digits and -._~:/?#@!$&'*+,;=% that follow.
func urls(s string) (cuts []cut) {
	for at := nextURL(s, 0); at >= 0; {
		end := at
		for end < len(s) && inURL[s[end]] {
			end++
		}
		cuts = append(cuts, cut{span: span{at, end}})
		at = nextURL(s, end)
	}
	return cuts
}

func nextURL(s string, from int) int {
	for {
		i := strings.Index(s[from:], "http")
		if i < 0 {
			return -1
		}
		from += i
		if rest := s[from+len("http"):]; strings.HasPrefix(rest, "://") || strings.HasPrefix(rest, "s://") {
			return from
		}
		from += len("http")
	}
}

var inURL = func() (set [256]bool) {
	for c := range set {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		digit := '0' <= c && c <= '9'
		set[c] = letter || digit || c < utf8.RuneSelf && strings.IndexByte("-._~:/?#@!$&'*+,;=%", byte(c)) >= 0
	}
	return set
}()
