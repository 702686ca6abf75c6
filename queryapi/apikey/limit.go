package apikey

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

// headerRemaining says how many requests a key may send at once.
const headerRemaining = "RateLimit-Remaining"

// Limit lets so many requests a second of each key pass, and up to a second's worth at once; 0 lets all pass. It comes
// after Require.
func Limit(perSecond int, now func() time.Time) fiber.Handler {
	if perSecond == 0 {
		return func(c *fiber.Ctx) error { return c.Next() }
	}
	keys := &limits{perSecond: perSecond, of: map[uuid.UUID]*rate.Limiter{}}
	return func(c *fiber.Ctx) error {
		remaining, wait := keys.take(identity.FromContext(c.UserContext()).KeyID, now())
		c.Set(headerRemaining, strconv.Itoa(remaining))
		if wait > 0 {
			c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(math.Ceil(wait.Seconds()))))
			return problem.New(problem.TooMany, "too many requests with this key: want at most %d a second; ask again after Retry-After seconds", perSecond)
		}
		return c.Next()
	}
}

// limits are the buckets of the keys that were used of late.
type limits struct {
	perSecond int
	mu        sync.Mutex
	of        map[uuid.UUID]*rate.Limiter
}

// mostLimits is how many buckets are kept before full ones are dropped: a full one is as a new one.
const mostLimits = 4096

// take lets a request of a key pass, or says how long to wait until it would.
func (l *limits) take(key uuid.UUID, now time.Time) (remaining int, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	limit := l.of[key]
	if limit == nil {
		if len(l.of) >= mostLimits {
			maps.DeleteFunc(l.of, func(_ uuid.UUID, known *rate.Limiter) bool { return known.TokensAt(now) >= float64(l.perSecond) })
		}
		limit = rate.NewLimiter(rate.Limit(l.perSecond), l.perSecond)
		l.of[key] = limit
	}
	if !limit.AllowN(now, 1) {
		return 0, time.Duration((1 - limit.TokensAt(now)) / float64(l.perSecond) * float64(time.Second))
	}
	return int(limit.TokensAt(now)), 0
}
