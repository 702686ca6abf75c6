package auth

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
)

// maxRemembered is how many keys Attempts remember.
const maxRemembered = 10_000

// Attempts limits the guesses of a secret, by a key such as the address that they come from. An attempt counts before
// its secret is checked, so that guesses sent at once count, and is given back if the secret is right, because an
// office, or everyone behind a proxy, shares an address. A success gives back its own attempt only, so an account of
// their own does not help a guesser.
type Attempts[K comparable] struct {
	limit  int // of failures within window
	window time.Duration
	mu     sync.Mutex
	times  map[K][]time.Time // oldest first, at most limit
}

// NewAttempts returns a limit of failures of a key within a time.
func NewAttempts[K comparable](limit int, window time.Duration) *Attempts[K] {
	return &Attempts[K]{limit: limit, window: window, times: map[K][]time.Time{}}
}

// Take counts the attempt of a request, or returns an error of status 429 and sets Retry-After.
func (a *Attempts[K]) Take(c *fiber.Ctx, key K, now time.Time) error {
	if wait := a.take(key, now); wait > 0 {
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(math.Ceil(wait.Seconds()))))
		return errTooMany
	}
	return nil
}

// take counts an attempt, or returns how long to wait until the next one is allowed.
func (a *Attempts[K]) take(key K, now time.Time) (wait time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	times := a.times[key]
	if len(times) == a.limit {
		if wait = a.window - now.Sub(times[0]); wait > 0 {
			return wait
		}
		times = times[1:]
	}
	if times == nil {
		a.makeRoom(now)
	}
	a.times[key] = append(times, now)
	return 0
}

// GiveBack removes the attempt that was counted at a time.
func (a *Attempts[K]) GiveBack(key K, at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	times := a.times[key]
	if i := slices.IndexFunc(times, at.Equal); i >= 0 {
		times = slices.Delete(times, i, i+1)
	}
	a.times[key] = times
	if len(times) == 0 {
		delete(a.times, key)
	}
}

// makeRoom removes keys without recent attempts, and if that does not suffice others, until half are left, so that it
// runs rarely.
func (a *Attempts[K]) makeRoom(now time.Time) {
	if len(a.times) < maxRemembered {
		return
	}
	maps.DeleteFunc(a.times, func(_ K, times []time.Time) bool { return now.Sub(times[len(times)-1]) >= a.window })
	for key := range a.times {
		if len(a.times) <= maxRemembered/2 {
			return
		}
		delete(a.times, key)
	}
}
