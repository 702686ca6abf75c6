package event

import "strings"

// Path returns the one spelling of a page's path that visits, crawls and citations are counted by: two paths name one
// page exactly if their spellings are equal (RFC 3986 §6.2.2).
//
//   - Escapes have capital digits, and unreserved characters none: /%7ejo is /~jo. A slash that is escaped stays so.
//   - What may not stand in a path is escaped, as browsers send it: /café is /caf%C3%A9. So is a percent sign that
//     begins no escape. Braces stay, which Masked has.
//   - \xHH is %HH: nginx and Apache log bytes so.
//   - Dot segments are resolved.
//   - Slashes at the end are dropped, but for the root's one.
//
// Its SQL is answerscope_path, which gives rows of older releases the same spelling. A path of that spelling is
// returned as it is, without an allocation.
func Path(path string) string {
	path = Escapes(path)
	if strings.Contains(path, "/.") {
		path = withoutDots(path)
	}
	if path = strings.TrimRight(path, "/"); path == "" {
		return "/"
	}
	return path
}

// withoutDots resolves the segments . and .. of a path (RFC 3986 §5.2.4).
func withoutDots(path string) string {
	var segments []string
	for segment := range strings.SplitSeq(path, "/") {
		switch {
		case segment == ".":
		case segment != "..":
			segments = append(segments, segment)
		case len(segments) > 1: // the first is before the first slash
			segments = segments[:len(segments)-1]
		}
	}
	return strings.Join(segments, "/")
}

// Escapes returns the one spelling of the escapes in a path or a query, as in Path.
func Escapes(text string) string {
	at := 0
	for at < len(text) && literal[text[at]] {
		at++
	}
	if at == len(text) {
		return text
	}
	var out strings.Builder
	out.Grow(len(text) + 16)
	out.WriteString(text[:at])
	for at < len(text) {
		c, size := text[at], 1
		if escaped, n, ok := escapedByte(text[at:]); ok {
			c, size = escaped, n
		} else if literal[c] {
			out.WriteByte(c)
			at++
			continue
		}
		at += size
		if unreserved[c] {
			out.WriteByte(c)
		} else {
			const digits = "0123456789ABCDEF"
			out.Write([]byte{'%', digits[c>>4], digits[c&15]})
		}
	}
	return out.String()
}

// escapedByte reads %HH or \xHH at the beginning of text, and how many bytes that takes.
func escapedByte(text string) (c byte, size int, ok bool) {
	switch {
	case strings.HasPrefix(text, "%"):
		size = len("%HH")
	case strings.HasPrefix(text, `\x`):
		size = len(`\xHH`)
	default:
		return 0, 0, false
	}
	if len(text) < size {
		return 0, 0, false
	}
	high, low := hexValue(text[size-2]), hexValue(text[size-1])
	return high<<4 | low, size, high < 16 && low < 16
}

// hexValue returns the value of a hexadecimal digit; 16 or more of another byte.
func hexValue(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	}
	return 16
}

// unreserved are the characters that mean the same escaped (RFC 3986 §2.3), literal those that stand as they are.
var unreserved, literal = func() (unreserved, literal [256]bool) {
	for c := range 256 {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.ContainsRune("-._~", rune(c)):
			unreserved[c], literal[c] = true, true
		case strings.ContainsRune(":/?#[]@!$&'()*+,;={}", rune(c)):
			literal[c] = true
		}
	}
	return unreserved, literal
}()
