package httpd

import (
	"cmp"
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

// Slots bounds the requests of each organization, or of each caller, that are answered at once. The zero value is
// ready, and safe for concurrent use.
type Slots struct {
	AtOnce int64 // requests of one; 0: requestsAtOnce

	mu     sync.Mutex
	owners map[uuid.UUID]*ownerSlots
}

type ownerSlots struct {
	free     *semaphore.Weighted
	requests int // under way or waiting
}

// Acquire waits for a slot of an owner; release gives it to the owner's next request.
func (s *Slots) Acquire(ctx context.Context, owner uuid.UUID) (release func(), err error) {
	free, leave := s.enter(owner)
	if err := free.Acquire(ctx, 1); err != nil {
		leave()
		return nil, err
	}
	return func() { free.Release(1); leave() }, nil
}

// TryAcquire takes a slot of an owner; not ok if none is free.
func (s *Slots) TryAcquire(owner uuid.UUID) (release func(), ok bool) {
	free, leave := s.enter(owner)
	if !free.TryAcquire(1) {
		leave()
		return nil, false
	}
	return func() { free.Release(1); leave() }, true
}

// enter counts a request of an owner until leave.
func (s *Slots) enter(owner uuid.UUID) (free *semaphore.Weighted, leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	slots := s.owners[owner]
	if slots == nil {
		if s.owners == nil {
			s.owners = map[uuid.UUID]*ownerSlots{}
		}
		slots = &ownerSlots{free: semaphore.NewWeighted(cmp.Or(s.AtOnce, requestsAtOnce))}
		s.owners[owner] = slots
	}
	slots.requests++
	return slots.free, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if slots.requests--; slots.requests == 0 {
			delete(s.owners, owner)
		}
	}
}
