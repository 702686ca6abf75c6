package extract

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// escapes finds what a reader sees as something else: the backslash before a sign in Markdown, character references of
// HTML, (R), (TM) and the like after a word, and U+200B where one word ends and a capital begins the next.
func escapes(s string) (cuts []cut) {
	var next [len(openers)]int // place of each opener from i on
	for i := 0; ; {
		first := len(s)
		for k, opener := range openers {
			if i == 0 || next[k] < i {
				next[k] = len(s)
				if at := strings.Index(s[i:], opener); at >= 0 {
					next[k] = i + at
				}
			}
			first = min(first, next[k])
		}
		if first == len(s) {
			return cuts
		}
		n, with := escapeAt(s, first)
		if n > 0 {
			cuts = append(cuts, cut{span{first, first + n}, with})
		}
		i = first + max(n, 1)
	}
}

// openers begin escapes.
var openers = [...]string{`\`, "&", "(", "\u200b"}

// escapeAt returns the length of the escape at byte i, 0: none, and its meaning.
func escapeAt(s string, i int) (n int, with string) {
	rest := s[i:]
	switch s[i] {
	case '\\':
		if len(rest) > 1 && isASCIISign(rest[1]) {
			return 2, rest[1:2]
		}
	case '&':
		end := strings.IndexByte(rest[:min(len(rest), longestReference)], ';')
		if with = html.UnescapeString(rest[:end+1]); utf8.RuneCountInString(with) == 1 {
			return end + 1, with
		}
	case '(':
		end := strings.IndexByte(rest[:min(len(rest), len("(TM)"))], ')')
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		if end > 0 && inWord(before) && writtenSigns[strings.ToUpper(rest[1:end])] {
			return end + 1, " "
		}
	default:
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		next, _ := utf8.DecodeRuneInString(rest[len("\u200b"):])
		if inWord(before) && !unicode.IsUpper(before) && unicode.IsUpper(next) {
			return len("\u200b"), " "
		}
	}
	return 0, ""
}

// longestReference bounds the search for the end of a character reference.
const longestReference = 40

// writtenSigns are the signs beside a name as typewriters have them.
var writtenSigns = map[string]bool{"R": true, "TM": true, "SM": true, "C": true}

func isASCIISign(c byte) bool {
	return '!' <= c && c <= '/' || ':' <= c && c <= '@' || '[' <= c && c <= '`' || '{' <= c && c <= '~'
}
