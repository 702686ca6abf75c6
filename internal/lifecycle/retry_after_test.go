package lifecycle

import (
	"testing"
	"time"
)

func TestRetryAfterHeader(t *testing.T) {
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "0": 0, "-1": 0, "0.2": time.Second, "soon": 0, "NaN": 0,
		"1080000": 300 * time.Hour, "1e99": 720 * time.Hour, "99999999999999": 720 * time.Hour,
		"Mon, 02 Mar 2026 12:00:30 GMT": 30 * time.Second, "Mon, 02 Mar 2026 11:00:30 GMT": 0,
		"Fri, 31 Dec 9999 23:59:59 GMT": 720 * time.Hour,
	} {
		if got := RetryAfter(value, now); got != want {
			t.Errorf("%q: %s, want %s", value, got, want)
		}
	}
}
