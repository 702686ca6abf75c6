package intake

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
)

// A price has at most this many digits before its point, as event says, and a
// number is not written out beyond the exponent, which could be 1e999999999.
const (
	maxWhole    = 12
	maxFraction = 6
	maxExponent = 30
)

// price takes a decimal number, written as a number or as a string, as the
// exact decimal text of it, rounded half up where it has more than maxFraction
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
		if err != nil || n < -maxExponent || n > maxExponent {
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
	if len(fraction) > maxFraction {
		whole, fraction = round(whole, fraction)
	}
	whole = strings.TrimLeft(whole, "0")
	if whole == "" {
		whole = "0"
	}
	if len(whole) > maxWhole {
		return "", false
	}
	if fraction == "" {
		return whole, true
	}
	return whole + "." + fraction, true
}

// round keeps maxFraction digits after the point.
func round(whole, fraction string) (string, string) {
	n, _ := new(big.Int).SetString(whole+fraction[:maxFraction], 10)
	if fraction[maxFraction] >= '5' {
		n.Add(n, big.NewInt(1))
	}
	all := n.String()
	if short := maxFraction + 1 - len(all); short > 0 {
		all = strings.Repeat("0", short) + all
	}
	return all[:len(all)-maxFraction], all[len(all)-maxFraction:]
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
