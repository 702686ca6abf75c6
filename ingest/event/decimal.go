package event

import (
	"cmp"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// A record's prices, costs and values are decimal numbers as text, such as a Decimal(18, 6) holds.
const (
	maxWhole    = 12 // digits before the point
	maxFraction = 6  // and after it

	decimalForm = "a decimal number as text, at most 12 digits before the point and 6 after it"
)

// longestDecimal bounds a number's text and its exponent: to write out 1e999999999 would cost time.
const longestDecimal = 400

var writtenDecimal = regexp.MustCompile(`^-?\d+(?:\.(\d+))?(?:[eE]([+-]?\d+))?$`)

// Decimal writes a number such as 1250, -12.50 or 1.25e3 as a record has it: without an exponent and with every digit,
// rounded half away from zero to 6 digits after the point (19.989999771118164 is a float's 19.99). ok is false for what
// is no decimal number, or has over 12 digits before the point.
func Decimal(text string) (decimal string, ok bool) {
	parts := writtenDecimal.FindStringSubmatch(text)
	if parts == nil || len(text) > longestDecimal {
		return "", false
	}
	exponent, err := strconv.Atoi(cmp.Or(parts[2], "0"))
	if err != nil || max(exponent, -exponent) > longestDecimal {
		return "", false
	}
	exact, ok := new(big.Rat).SetString(text)
	if !ok {
		return "", false
	}
	decimal = exact.FloatString(min(max(len(parts[1])-exponent, 0), maxFraction))
	unsigned := strings.TrimPrefix(decimal, "-")
	if strings.Trim(unsigned, "0.") == "" {
		return unsigned, true // no -0
	}
	whole, _, _ := strings.Cut(unsigned, ".")
	return decimal, len(whole) <= maxWhole
}

// isDecimal reports whether s is empty or a number of 0 or more as Decimal writes it.
func isDecimal(s string) bool {
	if s == "" {
		return true
	}
	whole, fraction, point := strings.Cut(s, ".")
	return digits(whole, maxWhole) && (!point || digits(fraction, maxFraction))
}

func digits(s string, most int) bool {
	return s != "" && len(s) <= most && strings.Trim(s, "0123456789") == ""
}
