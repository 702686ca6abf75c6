package event

import (
	"cmp"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// timeLayout is RFC 3339 with exactly three digits of a second.
const timeLayout = "2006-01-02T15:04:05.000Z"

// Time is an instant in UTC, in whole milliseconds: the precision of the log and of ClickHouse, so that a record that
// is read back equals the one that was written.
type Time struct{ time.Time }

// At rounds t down to the millisecond, in UTC.
func At(t time.Time) Time { return Time{t.UTC().Truncate(time.Millisecond)} }

// MarshalJSONTo writes for example "2026-03-02T09:05:00.000Z"; it saves the codec an allocation for each time.
func (t Time) MarshalJSONTo(e *jsontext.Encoder) error {
	return e.WriteValue(t.append(e.AvailableBuffer()))
}

// MarshalJSON writes the same for encoding/json.
func (t Time) MarshalJSON() ([]byte, error) {
	return t.append(make([]byte, 0, len(timeLayout)+2)), nil
}

func (t Time) append(b []byte) []byte {
	b = append(b, '"')
	b = t.UTC().AppendFormat(b, timeLayout)
	return append(b, '"')
}

// UnmarshalJSON reads any RFC 3339 time with a zone; null is the zero time.
func (t *Time) UnmarshalJSON(b []byte) error {
	*t = Time{}
	if string(b) == "null" {
		return nil
	}
	if len(b) < 2 || b[0] != '"' || b[len(b)-1] != '"' {
		return fmt.Errorf("time %.40q: want a string such as %q", b, timeLayout)
	}
	parsed, err := time.Parse(time.RFC3339Nano, string(b[1:len(b)-1]))
	if err != nil {
		return fmt.Errorf("time %.40q: want RFC 3339 such as %q", b, timeLayout)
	}
	*t = At(parsed)
	return nil
}

// String formats t as on the log.
func (t Time) String() string { return t.UTC().Format(timeLayout) }

// A record's prices, costs and values are decimal numbers as text, such as a Decimal(18, 6) holds.
const (
	maxInteger  = 12 // digits before the point
	maxFraction = 6  // and after it

	decimalForm = "a decimal number as text, at most 12 digits before the point and 6 after it"
)

// longestDecimal bounds a number's text and its exponent: to write out 1e999999999 would cost time.
const longestDecimal = 400

var writtenDecimal = regexp.MustCompile(`^-?\d+(?:\.(\d+))?(?:[eE]([+-]?\d+))?$`)

// Decimal formats a number such as 1250, -12.50 or 1.25e3 for a record: without an exponent and with every digit,
// rounded half away from zero to 6 digits after the point (19.989999771118164 is a float's 19.99). ok is false for a
// text that is no decimal number, or has over 12 digits before the point.
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
	integer, _, _ := strings.Cut(unsigned, ".")
	return decimal, len(integer) <= maxInteger
}

// isDecimal reports whether s is empty or a number of 0 or more as Decimal writes it.
func isDecimal(s string) bool {
	if s == "" {
		return true
	}
	integer, fraction, point := strings.Cut(s, ".")
	return digits(integer, maxInteger) && (!point || digits(fraction, maxFraction))
}

func digits(s string, maxLength int) bool {
	return s != "" && len(s) <= maxLength && strings.Trim(s, "0123456789") == ""
}
