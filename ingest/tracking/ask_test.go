package tracking

import (
	"testing"
	"time"

	"github.com/answerscope/answerscope/ingest/platform"
)

// Six requests of a run may fail, besides those that come up against a rate limit.
func TestRateLimitsUseUpNoAttempts(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		class                 platform.Class
		failures, rateLimited int
		delay                 time.Duration // 0: it is given up
	}{
		{platform.Unavailable, 1, 0, time.Second},
		{platform.Unavailable, 5, 0, 16 * time.Second},
		{platform.Unavailable, 6, 0, 0},
		{platform.Unavailable, 7, 6, time.Minute},
		{platform.Unavailable, 12, 6, 0},
		{platform.RateLimited, 100, 94, time.Minute},
		{platform.Auth, 1, 0, 0},
	} {
		at, ok := nextAttempt(&platform.Error{Class: c.class}, c.failures, c.rateLimited, now, now.Add(runTimeout))
		if ok != (c.delay > 0) || ok && at.Sub(now) != c.delay {
			t.Errorf("%+v: again %t, after %s", c, ok, at.Sub(now))
		}
	}
}
