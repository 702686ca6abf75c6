package lifecycle

import (
	"testing"
	"time"
)

func TestRetryAfterHeader(t *testing.T) {
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "0": 0, "-1": 0, "0.2": time.Second, "1e99": 0, "soon": 0, "99999999999999": 0,
		"Mon, 02 Mar 2026 12:00:30 GMT": 30 * time.Second, "Mon, 02 Mar 2026 11:00:30 GMT": 0,
	} {
		if got := RetryAfter(value, now); got != want {
			t.Errorf("%q: %s, want %s", value, got, want)
		}
	}
}
