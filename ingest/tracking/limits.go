package tracking

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/gofrs/uuid/v5"
	"golang.org/x/sync/semaphore"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/capture"
	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/sql/postgres"
)

const (
	leaseDuration = 30 * time.Second // a lease is renewed six times, and no longer used in its last third
	leaseRetry    = time.Second      // after an empty lease or an error
	leaseIdle     = time.Minute      // after its last request an account's lease is not renewed

	maxInFlight  = 2000 // at a platform that declares no limit
	maxPerMinute = 1e6  // the same
	maxTokens    = 1e9  // the same, a minute
	// rateMargin leaves a part of a rate unused: clocks differ, and requests take their time to leave.
	rateMargin = 0.98
	// requestBurst is the part of a minute's requests that may be sent at once: a wait under load ends late.
	requestBurst = 0.001
	// Of a rate of tokens tokenBurst may be used at once, and the rest evenly.
	tokenBurst, tokenRate = 0.05, 0.95
	// maxInARow is how often a capture provider may fail in a row before it is passed over.
	maxInARow  = 5
	firstPause = time.Minute
	maxPauses  = 10 // the longest pause is as many first ones
	// learningRate is the weight of the last answer in the tokens that the next one is expected to take.
	learningRate = 0.2
)

// rateLimits keeps requests within the limits of accounts at platforms, which all processes share. Each process leases
// its part of an account's limits for some seconds, so that PostgreSQL is not asked for each request.
type rateLimits struct {
	db     *postgres.DB
	log    *slog.Logger
	holder uuid.UUID

	leaseDuration, firstPause time.Duration // the constants, but in tests

	mu          sync.Mutex
	accounts    map[string]*rateLimit
	leaseNeeded chan struct{}
}

func newRateLimits(db *postgres.DB, log *slog.Logger) *rateLimits {
	return &rateLimits{
		db: db, log: log, holder: uuid.Must(uuid.NewV4()), accounts: map[string]*rateLimit{},
		leaseNeeded: make(chan struct{}, 1), leaseDuration: leaseDuration, firstPause: firstPause,
	}
}

// rateLimit keeps the requests of one account within its limits.
type rateLimit struct {
	account     string
	platform    Platform
	log         *slog.Logger
	leaseNeeded chan<- struct{}
	firstPause  time.Duration
	turn        *semaphore.Weighted // of the request that is the next to be sent
	polling     *semaphore.Weighted // of polls at once, whose payloads are in memory

	mu             sync.Mutex
	jobs           map[uuid.UUID]int // that ask, by organization
	lease          postgres.PlatformLease
	usableUntil    time.Time // of the lease
	requests       bucket
	tokens         bucket
	expectedTokens float64                  // of a request
	learnt         postgres.PlatformAccount // since the last renewal
	closedUntil    time.Time                // by the platform, or since it fails
	inARow         int                      // failures of a capture provider
	pause          time.Duration            // current pause; 0: healthy
	inFlight       int
	usedAt         time.Time

	pollsClosedUntil time.Time // zero: no poll was refused
	isProbing        bool      // one poll finds out whether the others may follow
	pollsLostSince   time.Time // zero: the last poll was answered

	changed chan struct{} // closed when a request may have room
}

// account returns the limit of the platform's account.
func (l *rateLimits) account(p Platform) *rateLimit {
	account := p.limitsAccount()
	l.mu.Lock()
	defer l.mu.Unlock()
	if limit := l.accounts[account]; limit != nil {
		return limit
	}
	var typicalTokens int64 // of the model that takes most
	for _, m := range p.Models {
		typicalTokens = max(typicalTokens, m.Typical.InputTokens+m.Typical.OutputTokens)
	}
	l.accounts[account] = &rateLimit{
		account: account, platform: p, log: l.log, leaseNeeded: l.leaseNeeded, firstPause: l.firstPause,
		turn: semaphore.NewWeighted(1), polling: semaphore.NewWeighted(pollsAtOnce(p.Slug)),
		jobs: map[uuid.UUID]int{}, expectedTokens: float64(typicalTokens), changed: make(chan struct{}),
	}
	return l.accounts[account]
}

// join adds a job of an organization, whose limits count until leave.
func (l *rateLimit) join(organization uuid.UUID) (leave func()) {
	add := func(n int) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.jobs[organization] += n; l.jobs[organization] == 0 {
			delete(l.jobs, organization)
		}
	}
	add(1)
	return func() { add(-1) }
}

// errClosed is the error of an account that takes no requests, where another one may.
var errClosed = errors.New("the account takes no requests")

// acquire waits, in turn, until a request may be sent, and reserves the tokens that it is expected to take. For a
// closed account it waits only if mayWait.
func (l *rateLimit) acquire(ctx context.Context, mayWait bool) (reserved float64, err error) {
	if l.turn.Acquire(ctx, 1) != nil {
		return 0, context.Cause(ctx)
	}
	defer l.turn.Release(1)
	for {
		reserved, wait, changed := l.tryAcquire()
		if wait == 0 {
			return reserved, nil
		}
		if !mayWait && l.closedFor() > 0 {
			return 0, errClosed
		}
		select {
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case <-changed:
		case <-time.After(min(wait, leaseRetry)): // lease expiry is not signalled
		}
	}
}

// tryAcquire takes a place among the requests in flight and reserves tokens. Without room it returns how long to wait,
// and a channel that is closed when there may be room sooner.
func (l *rateLimit) tryAcquire() (reserved float64, wait time.Duration, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.usedAt = now
	if now.After(l.usableUntil) {
		select {
		case l.leaseNeeded <- struct{}{}:
		default:
		}
		return 0, leaseRetry, l.changed
	}
	if l.inFlight >= l.lease.InFlight || l.lease.RequestsPerMinute == 0 || l.lease.TokensPerMinute == 0 {
		return 0, leaseRetry, l.changed
	}
	if wait = max(
		l.closedUntil.Sub(now), l.requests.wait(now, 1), l.tokens.wait(now, l.expectedTokens), 0,
	); wait > 0 {
		return 0, wait, l.changed
	}
	l.requests.level--
	l.tokens.level -= l.expectedTokens
	l.inFlight++
	return l.expectedTokens, 0, nil
}

// cancel ends a request that was not sent.
func (l *rateLimit) cancel(reserved float64) {
	l.settle(reserved, platform.Allowance{})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests.fill(time.Now(), 1)
}

// release ends a request. An answer takes the tokens of its usage, a refused request none; where the number is unknown,
// the request takes all that it has reserved.
func (l *rateLimit) release(reserved float64, reply platform.Reply, err error) {
	unused, allowance := 0.0, reply.Allowance
	if failure, ok := errors.AsType[*platform.Error](err); ok {
		allowance = failure.Allowance
		if failure.Class.Refused() {
			unused = reserved
		}
	} else if u := reply.Usage; u != nil && u.InputTokens+u.OutputTokens > 0 {
		took := float64(u.InputTokens + u.OutputTokens)
		unused = reserved - took
		l.mu.Lock()
		l.expectedTokens += learningRate * (took - l.expectedTokens)
		l.learnt.TokensPerAnswer = l.expectedTokens
		l.mu.Unlock()
	}
	l.settle(unused, allowance)
}

// settle ends a request that took fewer tokens than it had reserved, or more.
func (l *rateLimit) settle(unused float64, allowance platform.Allowance) {
	l.learn(allowance)
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.inFlight--
	l.usedAt = now
	l.tokens.fill(now, unused)
	l.signal()
}

// learn takes over the limits that a response states.
func (l *rateLimit) learn(allowance platform.Allowance) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.learnt.RequestsPerMinute = least(allowance.RequestsPerMinute, l.learnt.RequestsPerMinute)
	l.learnt.TokensPerMinute = least(allowance.TokensPerMinute, l.learnt.TokensPerMinute)
	if until := now.Add(allowance.ClosedFor); until.After(l.closedUntil) {
		if until.Sub(l.closedUntil) > time.Minute && allowance.ClosedFor > time.Minute {
			l.log.Info("platform takes no requests of an account for a while", "account", l.account, "until", until)
		}
		l.closedUntil = until
	}
}

// observe counts failures in a row of a capture provider. After some it is passed over, for twice as long each time.
// What fails meanwhile was sent before.
func (l *rateLimit) observe(failure *platform.Error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	switch {
	case failure == nil || !capture.FailsOver(failure.Class) && failure.Class != platform.Timeout:
		l.inARow, l.pause = 0, 0
	case failure.Class == platform.RateLimited || now.Before(l.closedUntil):
	default:
		if l.inARow++; l.inARow >= maxInARow {
			l.pause = min(max(2*l.pause, l.firstPause), maxPauses*l.firstPause)
			l.closedUntil = now.Add(l.pause)
			l.log.Warn("capture provider is passed over", "account", l.account, "for", l.pause, "cause", failure,
				"next", "check the provider's status page and the account; it is asked again by itself")
		}
	}
}

// isAway reports whether a capture provider is passed over for its failures.
func (l *rateLimit) isAway() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pause > 0
}

// closedFor returns how long the account takes no requests.
func (l *rateLimit) closedFor() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(time.Until(l.closedUntil), 0)
}

// adopt counts a request in flight that an earlier process sent.
func (l *rateLimit) adopt() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inFlight++
}

// least returns the smaller limit, of which 0 is none: a platform limits each model of an account apart.
func least(a, b int) int {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

func (l *rateLimit) signal() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// bucket fills at a rate up to its capacity. A request that takes more than that waits until the bucket is full, and
// leaves a debt.
type bucket struct {
	level, capacity, perSecond float64
	at                         time.Time // of the level
}

// fill adds the inflow until now, and more.
func (b *bucket) fill(now time.Time, more float64) {
	b.level = min(b.level+b.perSecond*now.Sub(b.at).Seconds()+more, b.capacity)
	b.at = now
}

// wait returns how long it takes until n may be taken.
func (b *bucket) wait(now time.Time, n float64) time.Duration {
	b.fill(now, 0)
	return time.Duration(math.Ceil((min(n, b.capacity) - b.level) / b.perSecond * float64(time.Second)))
}

// set changes the capacity and the rate.
func (b *bucket) set(now time.Time, capacity, perMinute float64) {
	if b.at.IsZero() {
		b.level = capacity
	} else {
		b.fill(now, 0)
	}
	b.capacity, b.perSecond, b.at = capacity, perMinute/60, now
	b.level = min(b.level, capacity)
}

// run renews leases until ctx ends, and then releases them.
func (l *rateLimits) run(ctx context.Context) {
	failing, renewal := false, l.leaseDuration/6
	for ctx.Err() == nil {
		limited, done := context.WithTimeout(ctx, renewal) // a connection may be lost without a sign
		empty, err := l.renew(limited)
		done()
		if err != nil && !failing && ctx.Err() == nil {
			l.log.Warn("limits of platforms not leased; no request is sent", "cause", err,
				"next", "check that postgres answers")
		}
		failing = err != nil
		interval := renewal
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
	releasing, done := context.WithTimeout(context.WithoutCancel(ctx), renewal)
	defer done()
	_, err := l.renew(releasing) // stores what was learnt
	if err = errors.Join(err, l.db.ReleasePlatforms(releasing, l.holder)); err != nil {
		l.log.Warn("limits of platforms not given back", "cause", err, "next", "nothing: the leases end by themselves")
	}
}

// renew renews the lease of every account in use, and reports whether a lease is empty.
func (l *rateLimits) renew(ctx context.Context) (empty bool, err error) {
	l.mu.Lock()
	accounts := slices.Collect(maps.Values(l.accounts))
	l.mu.Unlock()
	var organizations []uuid.UUID
	accounts = slices.DeleteFunc(accounts, func(limit *rateLimit) bool {
		inUse, jobs := limit.usage()
		organizations = append(organizations, jobs...)
		return !inUse
	})
	if len(accounts) == 0 {
		return false, nil
	}
	settings, err := l.db.ProviderLimits(ctx, organizations)
	if err != nil {
		return false, err
	}
	for _, limit := range accounts {
		began := time.Now()
		learnt, inFlight := limit.takeLearnt()
		limits := func(stored postgres.PlatformAccount) postgres.PlatformLease {
			return limit.largest(settings, stored)
		}
		lease, stored, err := l.db.LeasePlatform(ctx, learnt, l.holder, limits, inFlight, l.leaseDuration)
		if err != nil {
			return empty, err
		}
		limit.setLease(lease, stored, began.Add(l.leaseDuration*2/3))
		empty = empty || lease.InFlight == 0 || lease.RequestsPerMinute == 0 || lease.TokensPerMinute == 0
	}
	return empty, nil
}

// usage returns the organizations whose jobs ask.
func (l *rateLimit) usage() (inUse bool, organizations []uuid.UUID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.inFlight > 0 || time.Since(l.usedAt) < leaseIdle, slices.Collect(maps.Keys(l.jobs))
}

// takeLearnt returns the news since the last renewal. The next answers repeat them if a renewal fails.
func (l *rateLimit) takeLearnt() (learnt postgres.PlatformAccount, inFlight int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	learnt, l.learnt = l.learnt, postgres.PlatformAccount{}
	learnt.Account, learnt.ClosedSeconds = l.account, max(time.Until(l.closedUntil), 0).Seconds()
	return learnt, l.inFlight
}

// largest returns the limits of the account, whose organizations may have set different ones: the largest of each kind.
func (l *rateLimit) largest(
	settings []postgres.ProviderLimits, stored postgres.PlatformAccount,
) (all postgres.PlatformLease) {
	_, organizations := l.usage()
	if len(organizations) == 0 {
		organizations = []uuid.UUID{uuid.Nil} // after its last job
	}
	for _, organization := range organizations {
		limits, _ := l.platform.limits(findLimits(settings, organization, l.platform.Slug), stored)
		all.InFlight = max(all.InFlight, cmp.Or(limits.InFlight, maxInFlight))
		all.RequestsPerMinute = max(all.RequestsPerMinute, cmp.Or(float64(limits.RequestsPerMinute), maxPerMinute))
		all.TokensPerMinute = max(all.TokensPerMinute, cmp.Or(float64(limits.TokensPerMinute), maxTokens))
	}
	return all
}

func (l *rateLimit) setLease(lease postgres.PlatformLease, stored postgres.PlatformAccount, usableUntil time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.lease, l.usableUntil = lease, usableUntil
	l.requests.set(now, max(1, lease.RequestsPerMinute*requestBurst), lease.RequestsPerMinute*rateMargin)
	l.tokens.set(now, lease.TokensPerMinute*tokenBurst, lease.TokensPerMinute*tokenRate)
	if l.learnt.TokensPerAnswer == 0 && stored.TokensPerAnswer > 0 {
		l.expectedTokens = stored.TokensPerAnswer
	}
	l.closedUntil = latest(l.closedUntil, now.Add(time.Duration(stored.ClosedSeconds*float64(time.Second))))
	l.signal()
}
