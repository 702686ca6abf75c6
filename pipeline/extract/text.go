package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Prose is what an answer says: its text without code fences, link reference definitions, targets of links and
// images, and URLs, removed in this order, each leaving one space. Links keep their label and its brackets. It takes
// time linear in the text, whatever the text holds.
func Prose(text string) string {
	return dropURLs(dropTargets(dropDefinitions(dropFences(text))))
}

// dropLines replaces parts of s by one space each. drop is given the bounds of each line and says up to where to
// drop; its start, if nothing.
func dropLines(s string, drop func(at, end int) (to int)) string {
	var out strings.Builder
	kept := 0
	for at := 0; at < len(s); {
		end := lineEnd(s, at)
		if to := drop(at, end); to > at {
			out.WriteString(s[kept:at])
			out.WriteByte(' ')
			kept, end = to, to
		}
		at = end + 1
	}
	out.WriteString(s[kept:])
	return out.String()
}

// dropFences removes code fences: from a line that, after white space, starts with three or more ` or ~, up to a
// closing line of only that character, at least as many of it, or up to the end. The line break after the closing
// line stays, so that what follows still starts a line.
func dropFences(s string) string {
	if !strings.Contains(s, "```") && !strings.Contains(s, "~~~") {
		return s
	}
	return dropLines(s, func(at, end int) int {
		mark, n := fenceOf(s[at:end])
		if n == 0 {
			return at
		}
		return fenceEnd(s, end, mark, n)
	})
}

// fenceOf gives the character that opens a fence, and how many of it; n is 0 for any other line. A line of back
// quotes with further back quotes is inline code.
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

// fenceEnd is where the closing line of a fence ends, given where its first line does; len(s) where nothing closes it.
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

// dropDefinitions removes link reference definitions: whole lines `[label]: http…`, whose titles are the cited pages'
// and not the answer's.
func dropDefinitions(s string) string {
	if !strings.Contains(s, "]:") {
		return s
	}
	return dropLines(s, func(at, end int) int {
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

// dropURLs removes http:// and https:// with the ASCII letters, digits and -._~:/?#@!$&'*+,;=% that follow.
func dropURLs(s string) string {
	at := nextURL(s, 0)
	if at < 0 {
		return s
	}
	var out strings.Builder
	out.Grow(len(s))
	kept := 0
	for ; at >= 0; at = nextURL(s, kept) {
		out.WriteString(s[kept:at])
		out.WriteByte(' ')
		kept = at
		for kept < len(s) && inURL[s[kept]] {
			kept++
		}
	}
	out.WriteString(s[kept:])
	return out.String()
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
