package httpd

import (
	"maps"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"
	"golang.org/x/time/rate"

	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/problem"
)

// headerRemaining says how many requests a caller may send at once.
const headerRemaining = "RateLimit-Remaining"

// A CallerLimit lets so many requests a second of each caller pass, and up to a second's worth at once. It counts in
// memory, for one surface of this process, and is safe for concurrent use.
type CallerLimit struct {
	perSecond int
	now       func() time.Time
	mu        sync.Mutex
	of        map[uuid.UUID]*rate.Limiter // of the callers of late
}

// NewCallerLimit returns a limit of requests a second; 0 lets all pass.
func NewCallerLimit(perSecond int, now func() time.Time) *CallerLimit {
	return &CallerLimit{perSecond: perSecond, now: now, of: map[uuid.UUID]*rate.Limiter{}}
}

// Handle limits the requests of the identity in the context. It comes after the handler that finds who asks.
func (l *CallerLimit) Handle(c *fiber.Ctx) error {
	if err := l.Take(c, identity.FromContext(c.UserContext()).CallerID()); err != nil {
		return err
	}
	return c.Next()
}

// Take counts a request of a caller, an API key or a user, and adds headers that say what is left. Over the limit it is
// a problem of kind TooMany.
func (l *CallerLimit) Take(c *fiber.Ctx, caller uuid.UUID) error {
	if l.perSecond == 0 {
		return nil
	}
	remaining, wait := l.take(caller, l.now())
	c.Set(headerRemaining, strconv.Itoa(remaining))
	if wait > 0 {
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(math.Ceil(wait.Seconds()))))
		return problem.New(problem.TooMany, "too many requests: want at most %d a second of one key or user; ask again after Retry-After seconds", l.perSecond)
	}
	return nil
}

// mostBuckets is how many buckets are kept before full ones are dropped: a full one is as a new one.
const mostBuckets = 4096

// take lets a request of a caller pass, or says how long to wait until it would.
func (l *CallerLimit) take(caller uuid.UUID, now time.Time) (remaining int, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	bucket := l.of[caller]
	if bucket == nil {
		if len(l.of) >= mostBuckets {
			maps.DeleteFunc(l.of, func(_ uuid.UUID, known *rate.Limiter) bool { return known.TokensAt(now) >= float64(l.perSecond) })
		}
		bucket = rate.NewLimiter(rate.Limit(l.perSecond), l.perSecond)
		l.of[caller] = bucket
	}
	if !bucket.AllowN(now, 1) {
		return 0, time.Duration((1 - bucket.TokensAt(now)) / float64(l.perSecond) * float64(time.Second))
	}
	return int(bucket.TokensAt(now)), 0
}
