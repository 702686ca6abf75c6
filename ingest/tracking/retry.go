package tracking

import (
	"time"

	"github.com/answerscope/answerscope/ingest/platform"
)

const (
	// runTimeout is how long after its slot a run ends at the latest.
	runTimeout = 24 * time.Hour

	attemptTimeout = platform.DefaultTimeout // of one request
	maxFailures    = 6                       // requests of a run that may fail, but for rate limits
	firstDelay     = time.Second             // before the second request; it doubles
	longestDelay   = time.Minute
)

// again says when a run is asked again whose requests have failed so many times, the last one now, some of them for a
// rate limit; false: it is given up.
func again(failure *platform.Error, failures, rateLimited int, now, deadline time.Time) (time.Time, bool) {
	if !failure.Class.Retryable() || failure.Class != platform.RateLimited && failures-rateLimited >= maxFailures {
		return time.Time{}, false
	}
	delay := longestDelay
	if failures < 7 { // 1 s · 2⁶ is longer
		delay = min(firstDelay<<(failures-1), longestDelay)
	}
	at := now.Add(max(delay, failure.RetryAfter))
	return at, at.Before(deadline)
}
