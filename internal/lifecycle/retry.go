package lifecycle

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// A Backoff has the waits of Retry between two attempts: First, then twice as long each time and at most Max, with a
// random deviation of up to a half. Retry gives up if a wait would end more than Total after its start; 0: no limit.
type Backoff struct{ First, Max, Total time.Duration }

// Retry calls f until it succeeds, returns an error that retryable reports false for, or the backoff or ctx ends. It
// returns the last error of f, or the cause of ctx where ctx ended during a wait. A nil retryable retries every error.
// notify, if not nil, is called before each wait.
func Retry(
	ctx context.Context, b Backoff, retryable func(error) bool, notify func(err error, wait time.Duration),
	f func(context.Context) error,
) error {
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := f(ctx)
		if err != nil && (ctx.Err() != nil || retryable != nil && !retryable(err)) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(&backoff.ExponentialBackOff{
		InitialInterval: b.First, RandomizationFactor: 0.5, Multiplier: 2, MaxInterval: b.Max,
	}), backoff.WithMaxElapsedTime(b.Total), backoff.WithNotify(notify))
	return err
}

const maxRetryAfter = 30 * 24 * time.Hour

// RetryAfter reads the header Retry-After: seconds or a date, by RFC 9110 §10.2.3. The wait has whole seconds and at
// most 30 days; it is 0 if the header is absent or wrong.
func RetryAfter(header string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseFloat(header, 64); err == nil && seconds > 0 {
		return WholeSeconds(time.Duration(min(seconds, maxRetryAfter.Seconds()) * float64(time.Second)))
	}
	if at, err := http.ParseTime(header); err == nil {
		return WholeSeconds(min(at.Sub(now), maxRetryAfter))
	}
	return 0
}

// WholeSeconds rounds a wait up; 0 if it is over.
func WholeSeconds(d time.Duration) time.Duration {
	return max(time.Duration(math.Ceil(d.Seconds()))*time.Second, 0)
}
