package event

import (
	"slices"
	"strings"
)

// Masked replaces a segment that looks like a secret. Browsers escape braces, so no page has that name.
const Masked = "{masked}"

// The shortest texts that may be secrets.
const (
	leastJSON   = 16 // characters of base64: {"alg":"none"}, the shortest header of a token, has 19
	leastRandom = 20 // characters of base64url: 120 bits
	leastHex    = 41 // digits: more than a commit of Git has
	leastID     = 32 // digits: a UUID's, or an MD5 hash's
)

// MaskPath replaces the segments of a page's path that look like a secret: they open something, or name a person.
// Visits and crawls have masked paths, so that they can be compared. Such a segment has
//
//   - an e-mail address,
//   - base64 of JSON, which begins with eyJ, as a JSON Web Token does (RFC 7519),
//   - 20 characters of base64url or more that look random (isRandom),
//   - more than 40 hexadecimal digits on end, or
//   - a UUID or 32 hexadecimal digits, in a path with a word such as invite or reset (opens). Elsewhere these name
//     public pages: articles, products, commits.
//
// Of 1,282 URLs that real answers cite this masks two, both opaque filters of a shop's lists.
//
// A path without any is returned as it is, without an allocation.
func MaskPath(path string) string {
	var masked strings.Builder
	copied := 0                       // bytes of path
	searched, opening := false, false // for words that open something
	for start := 0; start < len(path); {
		segment, _, _ := strings.Cut(path[start:], "/")
		end := start + len(segment)
		kind := kindOf(segment)
		if kind == identifier && !searched {
			searched, opening = true, opens(path)
		}
		if kind == secret || kind == identifier && opening {
			masked.WriteString(path[copied:start])
			masked.WriteString(Masked)
			copied = end
		}
		start = end + 1
	}
	if copied == 0 {
		return path
	}
	masked.WriteString(path[copied:])
	return masked.String()
}

// segmentKind is the guess at a segment of a path.
type segmentKind int

const (
	noSecret   segmentKind = iota
	identifier             // a UUID or 32 hexadecimal digits
	secret                 // in every path
)

func kindOf(segment string) segmentKind {
	if hasAddress(segment) {
		return secret
	}
	kind := noSecret
	for rest := segment; len(rest) >= leastJSON && kind != secret; {
		n := 0
		for n < len(rest) && classes[rest[n]] != noClass {
			n++
		}
		kind = max(kind, kindOfWord(rest[:n]))
		if n < len(rest) && rest[n] == '%' {
			n += 2 // the digits of an escape
		}
		rest = rest[min(n+1, len(rest)):]
	}
	return kind
}

// kindOfWord classifies a word of the characters of base64url.
func kindOfWord(word string) segmentKind {
	if len(word) < leastJSON {
		return noSecret
	}
	onEnd, hyphened := countHex(word)
	switch {
	case strings.HasPrefix(word, "eyJ"), onEnd >= leastHex, isRandom(word):
		return secret
	case hyphened >= leastID:
		return identifier
	}
	return noSecret
}

// hasAddress reports whether segment has an e-mail address. @name, package@1.2.3 and logo@2x.png are none.
func hasAddress(segment string) bool {
	name, host, ok := strings.Cut(segment, "@")
	if !ok {
		name, host, ok = strings.Cut(segment, "%40")
	}
	if !ok || name == "" {
		return false
	}
	n := 0
	for n < len(host) && (host[n] == '.' || classes[host[n]] != noClass) {
		n++
	}
	dot := strings.LastIndexByte(host[:n], '.')
	domain := host[dot+1 : n]
	for i := range len(domain) {
		if class := classes[domain[i]]; class != lowerCase && class != upperCase {
			return false
		}
	}
	return dot > 0 && len(domain) > 1 && !slices.Contains(fileEndings, strings.ToLower(domain))
}

// fileEndings are no top-level domains, and follow an @ in names such as logo@2x.png.
var fileEndings = []string{"avif", "css", "gif", "jpeg", "jpg", "js", "json", "png", "svg", "webp"}

// countHex counts the hexadecimal digits of the longest run in word, and of the longest with hyphens between them.
func countHex(word string) (onEnd, hyphened int) {
	run, runHyphened := 0, 0
	for i := range len(word) {
		switch c := word[i]; {
		case c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F':
			run++
			runHyphened++
		case c == '-':
			run = 0
		default:
			run, runHyphened = 0, 0
		}
		onEnd, hyphened = max(onEnd, run), max(hyphened, runHyphened)
	}
	return onEnd, hyphened
}

var openingWords = []string{
	"activat", "confirm", "invit", "login", "magic", "password", "reset", "sessionid", "token", "unsubscri", "verif",
}

// opens reports whether path has a word that makes an id in it open something.
func opens(path string) bool {
	path = strings.ToLower(path)
	return slices.ContainsFunc(openingWords, func(word string) bool { return strings.Contains(path, word) })
}

// isRandom reports whether word has lower case, upper case and digits, and a third of its characters differ in class
// from the one before. In random words three of five do, in titles and model numbers hardly more than one of five, in a
// NameWithoutHyphens2026 more: one such was among 30,000 URLs.
func isRandom(word string) bool {
	if len(word) < leastRandom {
		return false
	}
	var has [separator + 1]bool
	changes, last := 0, separator
	for i := range len(word) {
		class := classes[word[i]]
		has[class] = true
		if class != last && class != separator && last != separator {
			changes++
		}
		last = class
	}
	return has[lowerCase] && has[upperCase] && has[digit] && 3*changes >= len(word)
}

// charClass is a class of characters. Base64url has all but noClass.
type charClass uint8

const (
	noClass charClass = iota
	lowerCase
	upperCase
	digit
	separator
)

var classes = func() (classes [256]charClass) {
	for c := range classes {
		switch {
		case c >= 'a' && c <= 'z':
			classes[c] = lowerCase
		case c >= 'A' && c <= 'Z':
			classes[c] = upperCase
		case c >= '0' && c <= '9':
			classes[c] = digit
		case c == '-' || c == '_':
			classes[c] = separator
		}
	}
	return classes
}()
