package intake

import (
	"encoding/json"
	"strconv"
	"strings"
)

// A price has at most this many digits before and after its point: what the
// warehouse holds of it, and no bomb such as 1e999999999.
const (
	maxWhole    = 14
	maxFraction = 30
)

// price takes a decimal number, written as a number or as a string, as the
// exact decimal text of it; "" when it is absent.
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
	exact, ok := decimal(text)
	if !ok {
		o.fault(`%s %s: want a number of 0 or more or a decimal string such as "579.99", at most %d digits before the point`, name, clip(raw), maxWhole)
	}
	return exact
}

// decimal writes 1250, 12.50 or 1.25e3 without an exponent, keeping every digit.
func decimal(text string) (string, bool) {
	mantissa, exponent := text, 0
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		n, err := strconv.Atoi(text[at+1:])
		if err != nil || n < -maxFraction || n > maxFraction {
			return "", false
		}
		mantissa, exponent = text[:at], n
	}
	whole, fraction, pointed := strings.Cut(mantissa, ".")
	if !digits(whole) || pointed && !digits(fraction) {
		return "", false
	}
	for ; exponent > 0; exponent-- {
		digit := "0"
		if fraction != "" {
			digit, fraction = fraction[:1], fraction[1:]
		}
		whole += digit
	}
	for ; exponent < 0; exponent++ {
		digit := "0"
		if whole != "" {
			digit, whole = whole[len(whole)-1:], whole[:len(whole)-1]
		}
		fraction = digit + fraction
	}
	whole = strings.TrimLeft(whole, "0")
	if whole == "" {
		whole = "0"
	}
	if len(whole) > maxWhole || len(fraction) > maxFraction {
		return "", false
	}
	if fraction == "" {
		return whole, true
	}
	return whole + "." + fraction, true
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
