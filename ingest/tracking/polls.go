package tracking

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/capture"
)

const (
	maxPolls   = 32               // at once, of an account
	pollSpread = 10 * time.Second // of polls after a pause

	// maxCarefulPolls is for a provider that blocks an address after 25 refusals in five minutes. Three processes that
	// are refused all of these, and then one each minute, come to 24.
	maxCarefulPolls = 4
)

func pollsAtOnce(provider string) int64 {
	if capture.BlocksAddresses(provider) {
		return maxCarefulPolls
	}
	return maxPolls
}

// poll sends a poll, or what counts as one, as the account allows. lost is why it was not answered.
func (l *rateLimit) poll(ctx context.Context, send func() *platform.Error) (lost *platform.Error) {
	if err := l.polling.Acquire(ctx, 1); err != nil {
		return &platform.Error{Class: platform.Unavailable, Cause: err}
	}
	defer l.polling.Release(1)
	if lost = l.beginPoll(); lost == nil {
		lost = send()
		l.endPoll(lost)
	}
	return lost
}

// beginPoll returns the failure of a poll that is not to be sent: the account was refused one for its rate. After the
// pause one poll goes first, and the others follow once it was answered.
func (l *rateLimit) beginPoll() *platform.Error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closedUntil.After(time.Now()) && capture.BlocksAddresses(l.platform.Slug) { // perhaps by another process
		l.pollsClosedUntil = latest(l.pollsClosedUntil, l.closedUntil)
	}
	wait := time.Until(l.pollsClosedUntil)
	if wait <= 0 && l.isProbing {
		wait = leaseRetry
	}
	if wait > 0 {
		wait += rand.N(min(wait, pollSpread))
		return &platform.Error{Class: platform.RateLimited, RetryAfter: wait}
	}
	l.isProbing = !l.pollsClosedUntil.IsZero()
	return nil
}

// endPoll ends a poll. lost is its error; nil: it was answered. While no poll is answered the account takes no
// requests: their captures could not be fetched.
func (l *rateLimit) endPoll(lost *platform.Error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.isProbing = false
	switch {
	case capture.Progress{Lost: lost}.IsAnswered():
		l.pollsLostSince = time.Time{}
		if now.After(l.pollsClosedUntil) {
			l.pollsClosedUntil = time.Time{}
		}
	case errors.Is(lost, context.Canceled): // by this process
	case lost.Class == platform.RateLimited:
		l.pollsClosedUntil = latest(l.pollsClosedUntil, now.Add(lost.RetryAfter))
		l.closedUntil = latest(l.closedUntil, l.pollsClosedUntil)
	case l.pollsLostSince.IsZero():
		l.pollsLostSince = now
	case now.Sub(l.pollsLostSince) > l.firstPause:
		if now.After(l.closedUntil) {
			l.log.Warn("captures cannot be fetched, and no more are asked for", "account", l.account,
				"since", l.pollsLostSince, "cause", lost,
				"next", "check the provider's status page; the captures are still waited for")
		}
		l.closedUntil = latest(l.closedUntil, now.Add(l.firstPause))
	}
}

// losesPolls reports whether the last poll was not answered.
func (l *rateLimit) losesPolls() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.pollsLostSince.IsZero()
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
