package httpd

import (
	"context"
	"maps"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"
	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"

	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/problem"
)

// headerRemaining is how many requests a caller may send at once.
const headerRemaining = "RateLimit-Remaining"

// A CallerLimit lets so many requests a second of each caller pass, and up to a second's worth at once. It counts in
// memory, for one surface of this process, and is safe for concurrent use.
type CallerLimit struct {
	perSecond int
	now       func() time.Time
	mu        sync.Mutex
	byCaller  map[uuid.UUID]*rate.Limiter
}

// NewCallerLimit returns a limit of requests a second; 0 lets all pass.
func NewCallerLimit(perSecond int, now func() time.Time) *CallerLimit {
	return &CallerLimit{perSecond: perSecond, now: now, byCaller: map[uuid.UUID]*rate.Limiter{}}
}

// Handle limits the requests of the identity in the context. It comes after the handler that finds who asks.
func (l *CallerLimit) Handle(c *fiber.Ctx) error {
	if err := l.Take(c, identity.FromContext(c.UserContext()).CallerID()); err != nil {
		return err
	}
	return c.Next()
}

// Take counts a request of a caller, a user or a share link, and adds headers with the remaining number. Over the limit
// the error is a problem of kind TooMany.
func (l *CallerLimit) Take(c *fiber.Ctx, caller uuid.UUID) error {
	if l.perSecond == 0 {
		return nil
	}
	remaining, wait := l.take(caller, l.now())
	c.Set(headerRemaining, strconv.Itoa(remaining))
	if wait > 0 {
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(math.Ceil(wait.Seconds()))))
		return problem.New(problem.TooMany, "too many requests: want at most %d a second of one user; ask "+
			"again after Retry-After seconds", l.perSecond)
	}
	return nil
}

// maxBuckets is how many buckets are held before full ones are dropped: a full bucket equals a new one.
const maxBuckets = 4096

// take lets a request of a caller pass, or returns how long to wait until it would.
func (l *CallerLimit) take(caller uuid.UUID, now time.Time) (remaining int, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	bucket := l.byCaller[caller]
	if bucket == nil {
		if len(l.byCaller) >= maxBuckets {
			maps.DeleteFunc(l.byCaller, func(_ uuid.UUID, b *rate.Limiter) bool {
				return b.TokensAt(now) >= float64(l.perSecond)
			})
		}
		bucket = rate.NewLimiter(rate.Limit(l.perSecond), l.perSecond)
		l.byCaller[caller] = bucket
	}
	if !bucket.AllowN(now, 1) {
		return 0, time.Duration((1 - bucket.TokensAt(now)) / float64(l.perSecond) * float64(time.Second))
	}
	return int(bucket.TokensAt(now)), 0
}

// requestsAtOnce is how many requests of one organization are answered at once; its others wait in the order in which
// they came. An organization with many requests thus takes its own time, and no database connections from the others.
const requestsAtOnce = 4

// Slots bounds the requests of each organization that are answered at once. The zero value is ready, and safe for
// concurrent use.
type Slots struct {
	mu            sync.Mutex
	organizations map[uuid.UUID]*organizationSlots
}

type organizationSlots struct {
	free     *semaphore.Weighted
	requests int // under way or waiting
}

// Acquire waits for a slot of an organization; release gives it to the organization's next request.
func (s *Slots) Acquire(ctx context.Context, organization uuid.UUID) (release func(), err error) {
	s.mu.Lock()
	slots := s.organizations[organization]
	if slots == nil {
		if s.organizations == nil {
			s.organizations = map[uuid.UUID]*organizationSlots{}
		}
		slots = &organizationSlots{free: semaphore.NewWeighted(requestsAtOnce)}
		s.organizations[organization] = slots
	}
	slots.requests++
	s.mu.Unlock()
	leave := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if slots.requests--; slots.requests == 0 {
			delete(s.organizations, organization)
		}
	}
	if err := slots.free.Acquire(ctx, 1); err != nil {
		leave()
		return nil, err
	}
	return func() { slots.free.Release(1); leave() }, nil
}
