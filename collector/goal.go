package collector

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/answerscope/answerscope/ingest/event"
)

// goal is a conversion, as a page posts it.
type goal struct {
	Name     string `json:"name"`
	Value    amount `json:"value"`
	Currency string `json:"currency"`
}

// amount is a decimal number as text, "" for none. A page gives a number, or a text that is one.
type amount string

// UnmarshalJSON leaves what the text says to check.
func (a *amount) UnmarshalJSON(b []byte) error {
	text, err := jsontext.AppendUnquote(nil, b)
	switch {
	case string(b) == "null":
		*a = ""
	case err == nil && b[0] == '"':
		*a = amount(text)
	case b[0] == '-' || b[0] >= '0' && b[0] <= '9':
		*a = amount(b)
	default:
		return errNoNumber
	}
	return nil
}

var errNoNumber = malformed("want a number")

// check also brings value and currency into the form of the log.
func (g *goal) check() error {
	if g.Name == "" || len(g.Name) > event.MaxName {
		return malformed("want a name of at most 512 bytes in g")
	}
	value, ok := decimal(string(g.Value))
	if !ok {
		return malformed("want a decimal number below 1000000000000 as the value in g")
	}
	g.Value = amount(value)
	if g.Currency == "" {
		return nil
	}
	g.Currency = strings.ToUpper(g.Currency)
	if len(g.Currency) != 3 || strings.Trim(g.Currency, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return malformed("want three letters (ISO 4217) as the currency in g")
	}
	return nil
}

// places is how many digits behind the point the log has room for.
const places = 6

// decimal is text as a plain decimal number, with at most 12 digits before the point and 6 behind it; what JavaScript
// makes of 0.1 + 0.2 is rounded to those, half away from zero. "" is none.
func decimal(text string) (value string, ok bool) {
	if text == "" {
		return "", true
	}
	mantissa, exponent, scaled := strings.Cut(strings.ReplaceAll(text, "E", "e"), "e")
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(mantissa, "-"), ".")
	if whole == "" || len(text) > 400 || strings.Trim(whole+fraction, "0123456789") != "" || strings.HasSuffix(mantissa, ".") {
		return "", false
	}
	if scaled { // a large power would cost the time to write it out
		if n, err := strconv.Atoi(exponent); err != nil || n > 400 || n < -400 {
			return "", false
		}
	}
	exact, ok := new(big.Rat).SetString(text)
	if !ok {
		return "", false
	}
	value = exact.FloatString(places)
	value = strings.TrimRight(strings.TrimRight(value, "0"), ".")
	if value == "-0" {
		value = "0"
	}
	whole, _, _ = strings.Cut(strings.TrimPrefix(value, "-"), ".")
	return value, len(whole) <= 12
}
