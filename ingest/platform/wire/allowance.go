package wire

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/answerscope/answerscope/ingest/platform"
)

const (
	maxReset   = 24 * time.Hour // of a limit; a longer one is taken for a mistake
	maxAllowed = 1_000_000_000  // the same
)

// readAllowance reads the limits of an account by the headers of OpenAI and xAI, Mistral, and Anthropic, which limits
// tokens of input and output apart. A header of another form is skipped.
func readAllowance(header http.Header, now time.Time) (a platform.Allowance) {
	for _, limit := range []struct {
		name  string
		value *int
	}{
		{"X-Ratelimit-%s-Requests", &a.RequestsPerMinute}, {"X-Ratelimit-%s-Tokens", &a.TokensPerMinute},
		{"X-Ratelimit-%s-Req-Minute", &a.RequestsPerMinute}, {"X-Ratelimit-%s-Tokens-Minute", &a.TokensPerMinute},
		{"Anthropic-Ratelimit-Requests-%s", &a.RequestsPerMinute},
		{"Anthropic-Ratelimit-Input-Tokens-%s", &a.TokensPerMinute},
		{"Anthropic-Ratelimit-Output-Tokens-%s", &a.TokensPerMinute},
	} {
		number := func(part string) int {
			n, err := strconv.Atoi(header.Get(fmt.Sprintf(limit.name, part)))
			if err != nil || n < 0 || n > maxAllowed {
				return -1
			}
			return n
		}
		reset := untilReset(header.Get(fmt.Sprintf(limit.name, "Reset")), now)
		if n := number("Limit"); n > 0 && *limit.value+n <= maxAllowed && reset <= time.Minute { // else it is a day's
			*limit.value += n
		}
		if number("Remaining") == 0 && reset <= maxReset {
			a.ClosedFor = max(a.ClosedFor, reset)
		}
	}
	return a
}

// untilReset reads 6m0s, 12 (seconds) or 2026-03-02T12:00:00Z as a duration from now; 0 if it is none of them or over.
func untilReset(text string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && seconds < maxAllowed {
		return max(time.Duration(seconds*float64(time.Second)), 0)
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return max(at.Sub(now), 0)
	}
	duration, _ := time.ParseDuration(text) // 0 if it is wrong
	return max(duration, 0)
}
