package brief

import (
	"cmp"
	"net/url"
	"regexp"
	"strings"
	"unicode"
)

var (
	// special are the signs that Markdown or GitHub's extensions of it read.
	special = regexp.MustCompile("[\\\\`*_\\[\\]<>#|~&!$@{}]|://|(?i:www)\\.|^[-+=]|^\\d+[.)]")
	markup  = strings.NewReplacer("*", "", "`", "", "#", "", "[", "", "]", "", "|", " ", `\`, "")
)

const maxText = 300 // code points of a quoted text

// quote returns a text on one line that Markdown shows as it is.
func quote(text string) string {
	return special.ReplaceAllStringFunc(OnLine(text, maxText), func(sign string) string {
		switch {
		case sign == "://":
			return `\://`
		case len(sign) > 1: // www. and the numbers of lists
			return sign[:len(sign)-1] + `\` + sign[len(sign)-1:]
		}
		return `\` + sign
	})
}

// OnLine returns at most so many code points of a text, on one line and without signs that are not shown.
func OnLine(text string, limit int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) || unicode.IsControl(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > limit {
		text = strings.TrimSpace(string(runes[:limit-1])) + "…"
	}
	return text
}

// link returns a link to a page of the web by its title, or by its address; as a text if it is none.
func link(title, address string) string {
	_, place, _ := strings.Cut(address, "://")
	text := cmp.Or(title, place, address)
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || len(address) > 2048 {
		return quote(text)
	}
	return "[" + quote(text) + "](" + destination.Replace(u.String()) + ")"
}

// destination escapes what ends the destination of a link.
var destination = strings.NewReplacer("(", "%28", ")", "%29", "<", "%3C", ">", "%3E", `\`, "%5C", " ", "%20",
	"&", "&amp;", "\t", "%09", "\n", "%0A", "\r", "%0D")
