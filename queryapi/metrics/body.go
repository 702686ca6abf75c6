package metrics

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// encode writes a body as compact JSON, without HTML escapes.
func encode(body any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(body); err != nil {
		return nil, fmt.Errorf("encode %T: %w", body, err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// An instant is a time in bodies: RFC 3339, UTC, milliseconds.
type instant time.Time

const instantLayout = `"2006-01-02T15:04:05.000Z"`

func (t instant) MarshalJSON() ([]byte, error) {
	return []byte(time.Time(t).UTC().Format(instantLayout)), nil
}

// exact returns a decimal number that JSON shows unchanged, never as a float.
func exact(decimal string) *json.Number {
	number := json.Number(decimal)
	return &number
}

// nullIfEmpty returns nil for "".
func nullIfEmpty(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// nullIfNil returns nil for the nil UUID.
func nullIfNil(id clickhouse.UUID) *string {
	if id == (clickhouse.UUID{}) {
		return nil
	}
	return new(id.String())
}

// An interval has the bounds of a figure in 95 of 100 such samples, or why they are not known. A nil one is null.
type interval struct {
	Low    *float64 `json:"low,omitempty"`
	High   *float64 `json:"high,omitempty"`
	Reason string   `json:"reason,omitempty"`
}

// intervalOver returns the interval of a figure over answers of several prompts: null without answers. low and high are
// nil under 5 prompts.
func intervalOver(answers int64, low, high *float64) *interval {
	if bounds := newInterval(low, high); bounds != nil || answers == 0 {
		return bounds
	}
	return &interval{Reason: "too_few_prompts"}
}

// intervalOf is intervalOver; of one prompt it is null under 5 answers.
func intervalOf(prompts []clickhouse.UUID, answers int64, low, high *float64) *interval {
	if len(prompts) > 0 {
		return newInterval(low, high)
	}
	return intervalOver(answers, low, high)
}

// newInterval returns nil where the bounds are not known.
func newInterval(low, high *float64) *interval {
	if low == nil || high == nil {
		return nil
	}
	return &interval{Low: low, High: high}
}
