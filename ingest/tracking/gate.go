package tracking

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/gofrs/uuid/v5"
	"golang.org/x/time/rate"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/sql/postgres"
)

const (
	leaseLasts  = 30 * time.Second
	leaseRenew  = 5 * time.Second  // between two renewals
	leaseAgain  = time.Second      // before another one where the lease is of nothing
	leaseSpare  = 10 * time.Second // before its end a lease is used no more
	leaseUnused = time.Minute      // after its last request a lease is given back

	// mostInFlight is how many requests there are at once to a platform that declares no limit.
	mostInFlight = 2000
	// mostPerMinute is the same of the rate: it is no limit.
	mostPerMinute = 1e6
	// used is the share of a rate that is used: clocks differ, and requests take their time to leave.
	used = 0.98
	// Of a rate of tokens a part may be used at once, and the rest is used evenly.
	tokensAtOnce, tokensEvenly = 0.05, 0.95
	// learning is how much the last answer counts in what the next one is expected to take.
	learning = 0.2
)

// gates let requests to platforms pass within the limits of their accounts, which all processes share. Each process
// leases its part of an account's limits for some seconds, so that PostgreSQL is not asked for each request.
type gates struct {
	db     *postgres.DB
	log    *slog.Logger
	holder uuid.UUID

	mu   sync.Mutex
	of   map[string]*gate // by account
	wake chan struct{}    // a gate wants its first lease
}

func newGates(db *postgres.DB, log *slog.Logger) *gates {
	return &gates{db: db, log: log, holder: uuid.Must(uuid.NewV4()), of: map[string]*gate{}, wake: make(chan struct{}, 1)}
}

// gate lets the requests of one account at a platform pass.
type gate struct {
	account string
	limits  postgres.PlatformLease
	tokens  float64 // a minute, of all processes; 0: no limit
	wake    chan<- struct{}

	mu       sync.Mutex
	lease    postgres.PlatformLease
	until    time.Time     // when it is used no more
	pace     *rate.Limiter // of requests
	budget   *rate.Limiter // of tokens
	turn     chan struct{} // held while a request waits for tokens
	expected float64       // tokens that a request takes
	inFlight int
	usedAt   time.Time
	change   chan struct{} // closed when a request may have room
}

// gate is that of a platform and its account; "": there is one for all.
func (g *gates) gate(d platform.Description, account string) *gate {
	account = cmp.Or(account, d.Slug)
	g.mu.Lock()
	defer g.mu.Unlock()
	if known := g.of[account]; known != nil {
		return known
	}
	limits := postgres.PlatformLease{InFlight: d.Limits.InFlight, PerMinute: float64(d.Limits.RequestsPerMinute)}
	if limits.InFlight == 0 {
		limits.InFlight = mostInFlight
	}
	if limits.PerMinute == 0 {
		limits.PerMinute = mostPerMinute
	}
	made := &gate{
		account: account, limits: limits, tokens: float64(d.Limits.TokensPerMinute), wake: g.wake, expected: typicalTokens(d),
		pace: rate.NewLimiter(0, 1), budget: rate.NewLimiter(rate.Inf, 1), turn: make(chan struct{}, 1), change: make(chan struct{}),
	}
	g.of[account] = made
	return made
}

// typicalTokens are those of an answer of the platform's most talkative model.
func typicalTokens(d platform.Description) (most float64) {
	for _, m := range d.Models {
		most = max(most, float64(m.Typical.InputTokens+m.Typical.OutputTokens))
	}
	return most
}

// enter waits until a request may be sent, which ends with leave. It returns how many tokens are expected of it.
func (g *gate) enter(ctx context.Context) (expected int, err error) {
	for {
		entered, change := g.tryEnter()
		if entered {
			if expected, err = g.wait(ctx); err != nil {
				g.leave(0, 0)
			}
			return expected, err
		}
		select {
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case <-change:
		case <-time.After(leaseAgain): // a lease ends without a word
		}
	}
}

// wait waits until the rates of requests and of tokens let a request pass.
func (g *gate) wait(ctx context.Context) (expected int, err error) {
	if err := g.pace.Wait(ctx); err != nil || g.tokens == 0 {
		return 0, err
	}
	select {
	case g.turn <- struct{}{}: // one by one: many that wait and then go away leave no tokens used
		defer func() { <-g.turn }()
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	g.mu.Lock()
	expected = int(g.expected)
	first := min(expected, g.budget.Burst())
	delay := g.budget.ReserveN(time.Now(), first).Delay()
	g.mu.Unlock()
	if err := lifecycle.Pause(ctx, delay); err != nil {
		return 0, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.use(expected - first)
	return expected, nil
}

// use counts tokens in pieces of the burst. The next request waits until the rate has made up for them.
func (g *gate) use(tokens int) {
	for tokens > 0 {
		piece := min(tokens, g.budget.Burst())
		g.budget.ReserveN(time.Now(), piece)
		tokens -= piece
	}
}

// tryEnter takes room for a request, if there is any; else it returns what ends when there may be.
func (g *gate) tryEnter() (bool, <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.usedAt = time.Now()
	if time.Now().Before(g.until) && g.inFlight < g.lease.InFlight && g.lease.PerMinute > 0 {
		g.inFlight++
		return true, nil
	}
	if time.Now().After(g.until) {
		select {
		case g.wake <- struct{}{}:
		default:
		}
	}
	return false, g.change
}

// leave ends a request: expected is what enter said, took how many tokens it took, 0 if that is not known.
func (g *gate) leave(expected, took int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if took > 0 {
		g.expected += learning * (float64(took) - g.expected)
		if g.tokens > 0 {
			g.use(took - expected)
		}
	}
	g.inFlight--
	g.usedAt = time.Now()
	g.signal()
}

func (g *gate) signal() {
	close(g.change)
	g.change = make(chan struct{})
}

// run renews leases until ctx ends, and gives them back.
func (g *gates) run(ctx context.Context) {
	failing := false
	for ctx.Err() == nil {
		limited, done := context.WithTimeout(ctx, leaseRenew) // a connection may be lost without a sign
		soon, err := g.renew(limited)
		done()
		if err != nil && !failing && ctx.Err() == nil {
			g.log.Warn("limits of platforms not leased; nothing is asked without", "cause", err, "next", "check that postgres answers")
		}
		failing = err != nil
		interval := leaseRenew
		if soon || failing {
			interval = leaseAgain
		}
		timer := time.NewTimer(interval)
		select {
		case <-ctx.Done():
		case <-g.wake:
			_ = lifecycle.Pause(ctx, 10*time.Millisecond) // other gates may wake, too
		case <-timer.C:
		}
		timer.Stop()
	}
	releasing, done := context.WithTimeout(context.WithoutCancel(ctx), leaseRenew)
	defer done()
	if err := g.db.ReleasePlatforms(releasing, g.holder); err != nil {
		g.log.Warn("limits of platforms not given back", "cause", err, "next", "nothing: the leases end by themselves")
	}
}

// renew renews the lease of every gate that is in use; soon reports an empty lease.
func (g *gates) renew(ctx context.Context) (soon bool, err error) {
	g.mu.Lock()
	list := make([]*gate, 0, len(g.of))
	for _, gate := range g.of {
		list = append(list, gate)
	}
	g.mu.Unlock()
	for _, gate := range list {
		inUse, wanted := gate.demand()
		if !wanted {
			continue
		}
		asked := time.Now()
		lease, err := g.db.LeasePlatform(ctx, gate.account, g.holder, gate.limits, inUse, leaseLasts)
		if err != nil {
			return soon, err
		}
		gate.take(lease, asked.Add(leaseLasts-leaseSpare))
		soon = soon || lease.InFlight == 0 || lease.PerMinute == 0
	}
	return soon, nil
}

// demand is how many requests are in flight, and whether the gate is in use.
func (g *gate) demand() (inFlight int, wanted bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.inFlight, g.inFlight > 0 || time.Since(g.usedAt) < leaseUnused
}

func (g *gate) take(lease postgres.PlatformLease, until time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lease, g.until = lease, until
	defer g.signal()
	if lease.PerMinute == 0 {
		return // nothing enters; what has entered waits for the rate that it entered with
	}
	g.pace.SetLimit(rate.Limit(lease.PerMinute / 60 * used))
	if part := g.tokens * lease.PerMinute / g.limits.PerMinute; g.tokens > 0 {
		g.budget.SetBurst(max(1, int(part*tokensAtOnce)))
		g.budget.SetLimit(rate.Limit(part / 60 * tokensEvenly))
	}
}
