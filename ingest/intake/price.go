package intake

import (
	"encoding/json"
	"strings"

	"github.com/answerscope/answerscope/ingest/answer"
)

// price takes a decimal number, written as a number or as a string, as the
// exact decimal text of it, rounded half up where it has more than six
// digits after its point (19.989999771118164 is a float's 19.99); "" when it is
// absent.
func (o object) price(name string) string {
	raw := o.take(name)
	if raw == nil {
		return ""
	}
	text := string(raw)
	if raw[0] == '"' {
		if json.Unmarshal(raw, &text) != nil || strings.ContainsAny(text, "eE") {
			text = "" // exponents are JSON's, a decimal string has none
		}
	}
	exact, ok := answer.Decimal(text)
	if !ok {
		o.fault(`%s %s: want a number of 0 or more or a decimal string such as "579.99", at most %d digits before the point`, name, clip(raw), 12)
	}
	return exact
}
