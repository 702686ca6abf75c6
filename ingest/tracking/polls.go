package tracking

import (
	"math/rand/v2"
	"time"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/capture"
)

const (
	maxPolls   = 32               // at once, of an account
	pollSpread = 10 * time.Second // of polls after a pause
)

// beginPoll returns the failure of a poll that is not to be sent: the account was refused one for its rate. After the
// pause one poll goes first, and the others follow once it was answered.
func (l *rateLimit) beginPoll() *platform.Error {
	l.mu.Lock()
	defer l.mu.Unlock()
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

// cancelPoll ends a poll without an outcome.
func (l *rateLimit) cancelPoll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isProbing = false
}

// endPoll ends a poll. lost is its error; nil: it was answered. While no poll is answered the account takes no requests: their
// captures could not be fetched.
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
	case lost.Class == platform.RateLimited:
		l.pollsClosedUntil = now.Add(lost.RetryAfter)
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

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
