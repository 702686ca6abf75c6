package brief

import (
	"cmp"
	"net/url"
	"regexp"
	"strings"

	"github.com/answerscope/answerscope/pipeline/advice"
)

const maxText = 300 // code points of a quoted text

// special are the signs that Markdown or GitHub's extensions of it read, with a backslash before their last character.
var special = regexp.MustCompile("[\\\\`*_\\[\\]<>#|~&!$@{}]|://|(?i:www)\\.|^[-+=]|^\\d+[.)]")

// quote returns a text on one line that Markdown shows as it is.
func quote(text string) string {
	return special.ReplaceAllStringFunc(advice.OneLine(text, maxText), func(sign string) string {
		last := len(sign) - 1
		return sign[:last] + `\` + sign[last:]
	})
}

// link returns a link to a page of the web by its title, or by its address; as a text if it is none.
func link(title, address string) string {
	_, place, _ := strings.Cut(address, "://")
	text := quote(cmp.Or(title, place, address))
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || len(address) > 2048 {
		return text
	}
	return "[" + text + "](" + destination.Replace(u.String()) + ")"
}

// destination escapes what ends the destination of a link.
var destination = strings.NewReplacer("(", "%28", ")", "%29", "<", "%3C", ">", "%3E", `\`, "%5C", " ", "%20",
	"&", "&amp;", "\t", "%09", "\n", "%0A", "\r", "%0D")
