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

// interval is where the score would lie in 95 of 100 such samples of prompts, or why that is not known. A nil one is
// null: there are no answers.
type interval struct {
	Low    *float64 `json:"low,omitempty"`
	High   *float64 `json:"high,omitempty"`
	Reason string   `json:"reason,omitempty"`
}

// intervalOf is the interval of a score; low and high are nil under 5 prompts.
func intervalOf(v clickhouse.Visibility) *interval {
	switch {
	case v.Answers == 0:
		return nil
	case v.IntervalLow == nil || v.IntervalHigh == nil:
		return &interval{Reason: "too_few_prompts"}
	}
	return &interval{Low: v.IntervalLow, High: v.IntervalHigh}
}
