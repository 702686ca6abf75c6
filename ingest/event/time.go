package event

import (
	"fmt"
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

// String is t as on the log.
func (t Time) String() string { return t.UTC().Format(timeLayout) }
