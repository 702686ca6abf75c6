package wire

import (
	"net/http"
	"testing"
	"time"

	"github.com/answerscope/answerscope/ingest/platform"
)

func TestReadAllowance(t *testing.T) {
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	type header map[string]string
	for name, c := range map[string]struct {
		header header
		want   platform.Allowance
	}{
		"none": {},
		"OpenAI": {header{
			"x-ratelimit-limit-requests": "5000", "x-ratelimit-remaining-requests": "4999",
			"x-ratelimit-reset-requests": "12ms",
			"x-ratelimit-limit-tokens":   "450000", "x-ratelimit-remaining-tokens": "0",
			"x-ratelimit-reset-tokens": "21.5s",
		}, platform.Allowance{RequestsPerMinute: 5000, TokensPerMinute: 450_000, ClosedFor: 21500 * time.Millisecond}},
		"xAI, without resets": {header{
			"x-ratelimit-limit-requests": "1800", "x-ratelimit-remaining-requests": "0",
			"x-ratelimit-limit-tokens": "10000000",
		}, platform.Allowance{RequestsPerMinute: 1800, TokensPerMinute: 10_000_000}},
		"Mistral": {header{
			"x-ratelimit-limit-req-minute": "50", "x-ratelimit-limit-tokens-minute": "50000",
			"x-ratelimit-remaining-tokens-minute": "47300",
		}, platform.Allowance{RequestsPerMinute: 50, TokensPerMinute: 50_000}},
		"Mistral, a model outside the plan": {header{"x-ratelimit-limit-req-minute": "0"}, platform.Allowance{}},
		"Anthropic": {header{
			"anthropic-ratelimit-requests-limit": "1000", "anthropic-ratelimit-requests-remaining": "994",
			"anthropic-ratelimit-requests-reset":     "2026-03-02T12:00:01Z",
			"anthropic-ratelimit-input-tokens-limit": "450000", "anthropic-ratelimit-input-tokens-remaining": "0",
			"anthropic-ratelimit-input-tokens-reset":  "2026-03-02T12:00:18Z",
			"anthropic-ratelimit-output-tokens-limit": "90000", "anthropic-ratelimit-output-tokens-remaining": "14000",
			"anthropic-ratelimit-output-tokens-reset": "2026-03-02T12:00:17Z",
			"anthropic-ratelimit-tokens-limit":        "540000",
		}, platform.Allowance{RequestsPerMinute: 1000, TokensPerMinute: 540_000, ClosedFor: 18 * time.Second}},
		"a day's limit": {header{"x-ratelimit-limit-requests": "200", "x-ratelimit-remaining-requests": "0",
			"x-ratelimit-reset-requests": "7m12s"},
			platform.Allowance{ClosedFor: 432 * time.Second}},
		"a minute": {header{"x-ratelimit-limit-requests": "200", "x-ratelimit-reset-requests": "60"},
			platform.Allowance{RequestsPerMinute: 200}},
		"no numbers": {header{
			"x-ratelimit-limit-requests": "many", "x-ratelimit-remaining-requests": "none",
			"x-ratelimit-reset-requests": "soon",
			"x-ratelimit-limit-tokens":   "1e6", "x-ratelimit-remaining-tokens": "0",
			"x-ratelimit-reset-tokens": "soon",
		}, platform.Allowance{}},
		"outside any range": {header{
			"x-ratelimit-limit-requests": "-5", "x-ratelimit-remaining-requests": "0",
			"x-ratelimit-reset-requests": "-3s",
			"x-ratelimit-limit-tokens":   "99999999999999999999", "x-ratelimit-remaining-tokens": "0",
			"x-ratelimit-reset-tokens":                "9000h",
			"anthropic-ratelimit-input-tokens-limit":  "1000000000",
			"anthropic-ratelimit-output-tokens-limit": "1000000000",
		}, platform.Allowance{TokensPerMinute: maxAllowed}},
		"over": {header{"x-ratelimit-remaining-requests": "0",
			"x-ratelimit-reset-requests": "2026-03-02T11:00:00Z"}, platform.Allowance{}},
		"an instant": {header{"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1772452800"},
			platform.Allowance{}},
		"no number 2": {header{"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "NaN"},
			platform.Allowance{}},
		"no number 3": {header{"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "-Inf"},
			platform.Allowance{}},
	} {
		values := http.Header{}
		for key, value := range c.header {
			values.Set(key, value)
		}
		if got := readAllowance(values, now); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
