package answer

import (
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// A record's prices and costs are decimals of at most 12 digits before the point and 6 after it.
const (
	maxWhole    = 12
	maxFraction = 6
	maxExponent = 30 // beyond it a number is not written out: it could be 1e999999999
)

var decimalForm = regexp.MustCompile(`^\d+(?:\.(\d+))?(?:[eE]([+-]?\d+))?$`)

// Decimal writes a price such as 1250, 12.50 or 1.25e3 as the record has it: without an exponent and with every digit,
// rounded half up to 6 digits after the point (19.989999771118164 is a float's 19.99). ok is false for what is no
// decimal of 0 or more, or has over 12 digits before the point.
func Decimal(text string) (decimal string, ok bool) {
	form := decimalForm.FindStringSubmatch(text)
	if form == nil {
		return "", false
	}
	exponent := 0
	if form[2] != "" {
		n, err := strconv.Atoi(form[2])
		if err != nil || n < -maxExponent || n > maxExponent {
			return "", false
		}
		exponent = n
	}
	exact, ok := new(big.Rat).SetString(text)
	if !ok {
		return "", false
	}
	decimal = exact.FloatString(min(max(len(form[1])-exponent, 0), maxFraction))
	whole, _, _ := strings.Cut(decimal, ".")
	return decimal, len(whole) <= maxWhole
}
