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

// instant is a time as every body shows it: RFC 3339, UTC, milliseconds.
type instant time.Time

func (t instant) MarshalJSON() ([]byte, error) {
	return []byte(time.Time(t).UTC().Format(`"2006-01-02T15:04:05.000Z"`)), nil
}

// exact is a decimal number as it is, never a float.
func exact(decimal string) *json.Number {
	number := json.Number(decimal)
	return &number
}

// idUnlessNil is null for the nil UUID.
func idUnlessNil(id clickhouse.UUID) *string {
	if id == (clickhouse.UUID{}) {
		return nil
	}
	return new(id.String())
}

// interval is where a figure would lie in 95 of 100 such samples, or why that is not known. A nil one is null.
type interval struct {
	Low    *float64 `json:"low,omitempty"`
	High   *float64 `json:"high,omitempty"`
	Reason string   `json:"reason,omitempty"`
}

// intervalOver is the interval of a figure over so many answers of several prompts: null without answers. low and high
// are nil under 5 prompts.
func intervalOver(answers int64, low, high *float64) *interval {
	if within := intervalOf(low, high); within != nil || answers == 0 {
		return within
	}
	return &interval{Reason: "too_few_prompts"}
}

// intervalOf is null where its ends are not known.
func intervalOf(low, high *float64) *interval {
	if low == nil || high == nil {
		return nil
	}
	return &interval{Low: low, High: high}
}
