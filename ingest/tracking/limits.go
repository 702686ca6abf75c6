package tracking

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gofrs/uuid/v5"
	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/sql/postgres"
)

const (
	leaseDuration = 30 * time.Second
	leaseMargin   = 10 * time.Second // before its end a lease is no longer used
	leaseInterval = 5 * time.Second  // between two renewals
	leaseRetry    = time.Second      // after an empty lease or an error
	leaseIdle     = time.Minute      // after its last request an account's lease is not renewed

	maxInFlight  = 2000 // at a platform that declares no limit
	maxPerMinute = 1e6  // the same
	// rateMargin leaves a part of a rate unused: clocks differ, and requests take their time to leave.
	rateMargin = 0.98
	// Of a rate of tokens tokenBurst may be used at once, and the rest evenly.
	tokenBurst, tokenRate = 0.05, 0.95
	// learningRate is the weight of the last answer in the tokens that the next one is expected to take.
	learningRate = 0.2
)

// rateLimits keeps requests within the limits of accounts at platforms, which all processes share. Each process leases
// its part of an account's limits for some seconds, so that PostgreSQL is not asked for each request.
type rateLimits struct {
	db     *postgres.DB
	log    *slog.Logger
	holder uuid.UUID

	mu          sync.Mutex
	accounts    map[string]*rateLimit
	leaseNeeded chan struct{}
}

func newRateLimits(db *postgres.DB, log *slog.Logger) *rateLimits {
	return &rateLimits{
		db: db, log: log, holder: uuid.Must(uuid.NewV4()),
		accounts: map[string]*rateLimit{}, leaseNeeded: make(chan struct{}, 1),
	}
}

// rateLimit keeps the requests of one account within its limits.
type rateLimit struct {
	account         string
	limits          postgres.PlatformLease // of all processes
	tokensPerMinute float64                // of all processes; 0: no limit
	leaseNeeded     chan<- struct{}

	requests   *rate.Limiter
	tokens     *rate.Limiter
	tokenQueue *semaphore.Weighted // held while a request waits for tokens

	mu             sync.Mutex
	lease          postgres.PlatformLease
	usableUntil    time.Time // of the lease
	expectedTokens float64   // of a request
	inFlight       int
	usedAt         time.Time
	changed        chan struct{} // closed when a request may have room
}

// account returns the limit of an account at a platform; "" is an account of the platform's own.
func (l *rateLimits) account(d platform.Description, account string) *rateLimit {
	account = cmp.Or(account, d.Slug)
	l.mu.Lock()
	defer l.mu.Unlock()
	if limit := l.accounts[account]; limit != nil {
		return limit
	}
	var typicalTokens int64 // of the model that takes most
	for _, m := range d.Models {
		typicalTokens = max(typicalTokens, m.Typical.InputTokens+m.Typical.OutputTokens)
	}
	l.accounts[account] = &rateLimit{
		account: account, tokensPerMinute: float64(d.Limits.TokensPerMinute), leaseNeeded: l.leaseNeeded,
		limits: postgres.PlatformLease{
			InFlight:  cmp.Or(d.Limits.InFlight, maxInFlight),
			PerMinute: cmp.Or(float64(d.Limits.RequestsPerMinute), maxPerMinute),
		},
		requests: rate.NewLimiter(0, 1), tokens: rate.NewLimiter(rate.Inf, 1), tokenQueue: semaphore.NewWeighted(1),
		expectedTokens: float64(typicalTokens), changed: make(chan struct{}),
	}
	return l.accounts[account]
}

// acquire waits until a request may be sent. It returns how many tokens the request is expected to take, for release.
func (l *rateLimit) acquire(ctx context.Context) (expected int, err error) {
	for {
		acquired, changed := l.tryAcquire()
		if acquired {
			if expected, err = l.waitForRates(ctx); err != nil {
				l.release(0, 0)
			}
			return expected, err
		}
		select {
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case <-changed:
		case <-time.After(leaseRetry): // lease expiry is not signalled
		}
	}
}

// tryAcquire takes a place among the requests in flight. Without a free one it returns a channel that is closed when
// there may be one.
func (l *rateLimit) tryAcquire() (acquired bool, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.usedAt = time.Now()
	if time.Now().Before(l.usableUntil) && l.inFlight < l.lease.InFlight && l.lease.PerMinute > 0 {
		l.inFlight++
		return true, nil
	}
	if time.Now().After(l.usableUntil) {
		select {
		case l.leaseNeeded <- struct{}{}:
		default:
		}
	}
	return false, l.changed
}

func (l *rateLimit) waitForRates(ctx context.Context) (expected int, err error) {
	if err := l.requests.Wait(ctx); err != nil || l.tokensPerMinute == 0 {
		return 0, err
	}
	// One by one: many that wait and then give up would leave no tokens used.
	if l.tokenQueue.Acquire(ctx, 1) != nil {
		return 0, context.Cause(ctx)
	}
	defer l.tokenQueue.Release(1)
	l.mu.Lock()
	expected = int(l.expectedTokens)
	first := min(expected, l.tokens.Burst())
	delay := l.tokens.ReserveN(time.Now(), first).Delay()
	l.mu.Unlock()
	if err := lifecycle.Pause(ctx, delay); err != nil {
		return 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.useTokens(expected - first)
	return expected, nil
}

// useTokens reserves tokens in pieces of the burst, so that the next request waits until the rate has made up for them.
func (l *rateLimit) useTokens(tokens int) {
	for tokens > 0 {
		piece := min(tokens, l.tokens.Burst())
		l.tokens.ReserveN(time.Now(), piece)
		tokens -= piece
	}
}

// release ends a request that took so many tokens, 0 if that is not known.
func (l *rateLimit) release(expected, took int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if took > 0 {
		l.expectedTokens += learningRate * (float64(took) - l.expectedTokens)
		if l.tokensPerMinute > 0 {
			l.useTokens(took - expected)
		}
	}
	l.inFlight--
	l.usedAt = time.Now()
	l.signal()
}

func (l *rateLimit) signal() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// run renews leases until ctx ends, and then releases them.
func (l *rateLimits) run(ctx context.Context) {
	failing := false
	for ctx.Err() == nil {
		limited, done := context.WithTimeout(ctx, leaseInterval) // a connection may be lost without a sign
		empty, err := l.renew(limited)
		done()
		if err != nil && !failing && ctx.Err() == nil {
			l.log.Warn("limits of platforms not leased; no request is sent", "cause", err,
				"next", "check that postgres answers")
		}
		failing = err != nil
		interval := leaseInterval
		if empty || failing {
			interval = leaseRetry
		}
		select {
		case <-ctx.Done():
		case <-l.leaseNeeded:
			_ = lifecycle.Pause(ctx, 10*time.Millisecond) // other accounts may need one, too
		case <-time.After(interval):
		}
	}
	releasing, done := context.WithTimeout(context.WithoutCancel(ctx), leaseInterval)
	defer done()
	if err := l.db.ReleasePlatforms(releasing, l.holder); err != nil {
		l.log.Warn("limits of platforms not given back", "cause", err, "next", "nothing: the leases end by themselves")
	}
}

// renew renews the lease of every account in use, and reports whether a lease is empty.
func (l *rateLimits) renew(ctx context.Context) (empty bool, err error) {
	l.mu.Lock()
	limits := slices.Collect(maps.Values(l.accounts))
	l.mu.Unlock()
	for _, limit := range limits {
		inFlight, inUse := limit.usage()
		if !inUse {
			continue
		}
		began := time.Now()
		lease, err := l.db.LeasePlatform(ctx, limit.account, l.holder, limit.limits, inFlight, leaseDuration)
		if err != nil {
			return empty, err
		}
		limit.setLease(lease, began.Add(leaseDuration-leaseMargin))
		empty = empty || lease.InFlight == 0 || lease.PerMinute == 0
	}
	return empty, nil
}

func (l *rateLimit) usage() (inFlight int, inUse bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.inFlight, l.inFlight > 0 || time.Since(l.usedAt) < leaseIdle
}

func (l *rateLimit) setLease(lease postgres.PlatformLease, usableUntil time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lease, l.usableUntil = lease, usableUntil
	defer l.signal()
	if lease.PerMinute == 0 {
		return // no request gets a place; those that have one keep the rate of their lease
	}
	l.requests.SetLimit(rate.Limit(lease.PerMinute / 60 * rateMargin))
	if perMinute := l.tokensPerMinute * lease.PerMinute / l.limits.PerMinute; l.tokensPerMinute > 0 {
		l.tokens.SetBurst(max(1, int(perMinute*tokenBurst)))
		l.tokens.SetLimit(rate.Limit(perMinute / 60 * tokenRate))
	}
}
