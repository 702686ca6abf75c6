package tracking

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/sql/postgres"
)

// newRateLimit returns the limit of an account whose lease outlives the test.
func newRateLimit(t *testing.T, typicalTokens int64, lease postgres.PlatformLease) *rateLimit {
	t.Helper()
	limit := newRateLimits(nil, testkit.Log(t)).account(Platform{Description: platform.Description{
		Slug: "alpha", Models: []platform.Model{{Typical: event.Usage{InputTokens: typicalTokens}}},
	}})
	limit.setLease(lease, postgres.PlatformAccount{}, time.Now().Add(1000*time.Hour))
	return limit
}

func took(tokens float64) platform.Reply {
	return platform.Reply{Usage: &event.Usage{OutputTokens: int64(tokens)}}
}

// Requests that take many times what may be used at once keep within a limit of tokens: 5 % of 30,000 a minute were
// counted of each, so that Anthropic was asked for 151,000.
func TestTokensKeepWithinTheLimit(t *testing.T) {
	const tokens, perMinute, minutes = 15_900, 30_000, 20
	for _, typical := range []int64{tokens, 1000} { // the second is learned
		synctest.Test(t, func(t *testing.T) {
			limit := newRateLimit(t, typical, postgres.PlatformLease{InFlight: 10, RequestsPerMinute: maxPerMinute,
				TokensPerMinute: perMinute})
			began, requests := time.Now(), 0
			for {
				reserved, err := limit.acquire(t.Context(), true)
				if err != nil {
					t.Fatal(err)
				}
				if time.Since(began) > minutes*time.Minute {
					break
				}
				requests++
				<-time.After(5 * time.Second)
				limit.release(reserved, took(tokens), nil)
			}
			if want := minutes * perMinute / tokens; requests < want-4 || requests > want+1 {
				t.Errorf("%d requests of %d tokens within %d minutes, want %d", requests, tokens, minutes, want)
			}
		})
	}
}

// Answers that take less than the typical answer give the rest of their reservations back. 120 answers of 500 tokens,
// which are two minutes of Anthropic's 30,000, took 5 min 57 s, and so again after each restart.
func TestShortAnswersGiveTokensBack(t *testing.T) {
	small := postgres.PlatformLease{InFlight: 20, RequestsPerMinute: 50, TokensPerMinute: 30_000}
	raised := postgres.PlatformLease{InFlight: 100, RequestsPerMinute: 1000, TokensPerMinute: 450_000}
	for _, c := range []struct {
		name        string
		lease       postgres.PlatformLease
		learnt      float64 // tokens of an answer, as another process has learnt; 0: none has
		least, most time.Duration
	}{
		{"small account", small, 0, 2 * time.Minute, 4 * time.Minute},
		{"small account, known", small, 500, 2 * time.Minute, 160 * time.Second},
		{"raised account", raised, 0, 10 * time.Second, time.Minute},
		{"raised account, known", raised, 500, 10 * time.Second, 30 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			limit := newRateLimit(t, 15_900, c.lease)
			limit.setLease(c.lease, postgres.PlatformAccount{TokensPerAnswer: c.learnt}, limit.usableUntil)
			elapsed := askShortAnswers(t, limit)
			if t.Logf("%s: 120 short answers took %s", c.name, elapsed); elapsed < c.least || elapsed > c.most {
				t.Errorf("want %s to %s", c.least, c.most)
			}
		})
	}
}

func askShortAnswers(t *testing.T, limit *rateLimit) time.Duration {
	t.Helper()
	began := time.Now()
	var answers sync.WaitGroup
	for range 120 {
		reserved, err := limit.acquire(t.Context(), true)
		if err != nil {
			t.Fatal(err)
		}
		answers.Go(func() {
			<-time.After(10 * time.Second)
			limit.release(reserved, took(500), nil)
		})
	}
	answers.Wait()
	return time.Since(began)
}

// A request that is refused, or not sent, takes nothing; one of unknown outcome takes what it has reserved.
func TestUnansweredRequestsAreSettled(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(l *rateLimit, reserved float64)
		wait time.Duration // of the next request
	}{
		"not sent":     {func(l *rateLimit, reserved float64) { l.cancel(reserved) }, 0},
		"rate limited": {ended(&platform.Error{Class: platform.RateLimited}), 0},
		"wrong key":    {ended(&platform.Error{Class: platform.Auth}), 0},
		"timeout":      {ended(&platform.Error{Class: platform.Timeout}), time.Minute},
		"no usage":     {ended(nil), time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			limit := newRateLimit(t, 950, postgres.PlatformLease{InFlight: 2, RequestsPerMinute: maxPerMinute,
				TokensPerMinute: 1000})
			for _, want := range []time.Duration{0, c.wait} {
				began := time.Now()
				reserved, err := limit.acquire(t.Context(), true)
				if err != nil {
					t.Fatal(err)
				}
				if waited := time.Since(began); waited < want || waited > want+time.Second {
					t.Errorf("%s: waited %s, want %s", name, waited, want)
				}
				c.end(limit, reserved)
			}
		})
	}
}

func ended(failure *platform.Error) func(*rateLimit, float64) {
	return func(l *rateLimit, reserved float64) {
		if failure == nil {
			l.release(reserved, platform.Reply{}, nil)
			return
		}
		l.release(reserved, platform.Reply{}, failure)
	}
}

// An account without remaining requests is asked again when the platform said; other processes are told.
func TestAClosedAccountWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit := newRateLimit(t, 10, postgres.PlatformLease{InFlight: 5, RequestsPerMinute: maxPerMinute,
			TokensPerMinute: maxTokens})
		acquire := func() float64 {
			reserved, err := limit.acquire(t.Context(), true)
			if err != nil {
				t.Fatal(err)
			}
			return reserved
		}
		began := time.Now()
		limit.release(acquire(), platform.Reply{Allowance: platform.Allowance{RequestsPerMinute: 70,
			ClosedFor: 90 * time.Second}}, nil)
		limit.cancel(acquire())
		if waited := time.Since(began); waited != 90*time.Second {
			t.Errorf("waited %s", waited)
		}
		limit.release(acquire(), platform.Reply{}, &platform.Error{Class: platform.RateLimited,
			Allowance: platform.Allowance{ClosedFor: time.Minute}})
		learnt, _ := limit.takeLearnt()
		if learnt != (postgres.PlatformAccount{Account: "alpha", RequestsPerMinute: 70, ClosedSeconds: 60}) {
			t.Errorf("learnt %+v", learnt)
		}
		other := newRateLimit(t, 10, limit.lease)
		other.setLease(limit.lease, postgres.PlatformAccount{ClosedSeconds: 30, TokensPerAnswer: 77}, other.usableUntil)
		began = time.Now()
		if reserved, err := other.acquire(t.Context(), true); err != nil || reserved != 77 ||
			time.Since(began) != 30*time.Second {
			t.Errorf("another process reserved %f after %s: %v", reserved, time.Since(began), err)
		}
	})
}

// step is a change of what a rateLimit has handed out.
type step struct {
	at       time.Time
	sent     int     // 1, -1 when it ended
	tokens   float64 // reserved; of one that ended, less what it took
	took     float64 // of one that is sent
	waitedAt time.Time
}

// history is computed anew for each question, from all steps.
type history struct {
	began time.Time
	lease postgres.PlatformLease
	steps []step
}

// hasRoom says whether a request may be sent that reserves tokens, of the steps before n alone.
func (h history) hasRoom(n int, at time.Time, tokens float64) bool {
	inFlight, capacity := 0, h.lease.TokensPerMinute*tokenBurst
	requests, level, last := 1.0, capacity, h.began
	fill := func(until time.Time) {
		minutes := until.Sub(last).Minutes()
		requests = min(1, requests+minutes*h.lease.RequestsPerMinute*rateMargin)
		level = min(capacity, level+minutes*h.lease.TokensPerMinute*tokenRate)
		last = until
	}
	for _, s := range h.steps[:n] {
		fill(s.at)
		inFlight += s.sent
		requests -= float64(max(s.sent, 0))
		level = min(capacity, level-s.tokens)
	}
	fill(at)
	const rounding = 1e-5 // of what comes in within a millisecond
	return inFlight < h.lease.InFlight && requests > 1-rounding && level > min(tokens, capacity)-rounding
}

// Whatever is asked, a request is sent as soon as a naive computation has room for it, and never before; and a platform
// that counts the tokens itself never finds too few.
func TestRequestsAreSentAsSoonAsThereIsRoom(t *testing.T) {
	for seed := range uint64(25) {
		synctest.Test(t, func(t *testing.T) { checkRandomRequests(t, seed) })
	}
}

func checkRandomRequests(t *testing.T, seed uint64) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 0))
	h := history{began: time.Now(), lease: postgres.PlatformLease{
		InFlight: 1 + random.IntN(12), RequestsPerMinute: float64(10 + random.IntN(200)),
		TokensPerMinute: float64(5000 + random.IntN(100_000)),
	}}
	typical := 100 + random.IntN(int(h.lease.TokensPerMinute*0.8))
	limit := newRateLimit(t, int64(typical), h.lease)
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Minute)
	defer stop()
	var mu sync.Mutex
	add := func(s step) {
		mu.Lock()
		defer mu.Unlock()
		h.steps = append(h.steps, s)
	}
	var answers sync.WaitGroup
	for ctx.Err() == nil { // as a job does; jobs take turns
		waitedAt := time.Now()
		reserved, err := limit.acquire(ctx, true)
		if err != nil {
			break
		}
		latency, tokens := time.Duration(1+random.IntN(30_000_000))*time.Microsecond,
			max(float64(int(reserved*random.Float64())), 1)
		add(step{time.Now(), 1, reserved, tokens, waitedAt})
		answers.Go(func() {
			<-time.After(latency)
			mu.Lock()
			defer mu.Unlock()
			limit.release(reserved, took(tokens), nil)
			h.steps = append(h.steps, step{at: time.Now(), sent: -1, tokens: tokens - reserved})
		})
		if random.IntN(10) == 0 {
			<-time.After(time.Duration(random.IntN(60)) * time.Second)
		}
	}
	answers.Wait()
	checkHistory(t, seed, h)
}

func checkHistory(t *testing.T, seed uint64, h history) {
	t.Helper()
	platformLevel, last, sent := h.lease.TokensPerMinute, h.began, 0
	for n, s := range h.steps {
		platformLevel = min(h.lease.TokensPerMinute, platformLevel+s.at.Sub(last).Minutes()*h.lease.TokensPerMinute)
		if platformLevel -= s.took; platformLevel < 0 {
			t.Fatalf("seed %d: the platform lacks %f tokens of %f a minute", seed, -platformLevel,
				h.lease.TokensPerMinute)
		}
		last = s.at
		if s.sent < 0 {
			continue
		}
		sent++
		if !h.hasRoom(n, s.at, s.tokens) {
			t.Fatalf("seed %d: request %d was sent without room", seed, sent)
		}
		before := s.at.Add(-time.Millisecond)
		isNew := before.Before(s.waitedAt) || n > 0 && h.steps[n-1].at.After(before)
		if !isNew && h.hasRoom(n, before, s.tokens) {
			t.Fatalf("seed %d: request %d waited although there was room", seed, sent)
		}
		ofAMinute := slices.IndexFunc(h.steps[n:], func(later step) bool { return later.at.Sub(s.at) >= time.Minute })
		requests := 0
		for _, later := range h.steps[n : n+max(ofAMinute, 0)] {
			requests += max(later.sent, 0)
		}
		if float64(requests) > h.lease.RequestsPerMinute {
			t.Fatalf("seed %d: %d requests within a minute, want at most %f", seed, requests, h.lease.RequestsPerMinute)
		}
	}
	if sent < 20 {
		t.Errorf("seed %d: %d requests within 20 minutes", seed, sent)
	}
}

func TestChooseLimit(t *testing.T) {
	n := func(n int) *int { return &n }
	for _, c := range []struct {
		described                 int
		environment, organization *int
		said                      int
		want                      int
		from                      string
	}{
		{500, nil, nil, 0, 500, FromDescription},
		{500, n(40), nil, 0, 40, FromEnvironment},
		{500, n(40), n(7000), 0, 7000, FromOrganization},
		{500, nil, n(7000), 0, 7000, FromOrganization},
		{500, nil, nil, 4000, 4000, FromPlatform},
		{500, nil, nil, 10_001, 10_000, FromPlatform}, // 20 times
		{500, nil, nil, 3, 125, FromPlatform},         // a quarter
		{500, nil, nil, 500, 500, FromDescription},
		{500, n(600), nil, 4000, 600, FromEnvironment}, // what is set is not raised
		{500, n(600), n(40), 4000, 40, FromOrganization},
		{500, nil, n(8000), 3000, 3000, FromPlatform},
		{500, nil, n(8000), 1000, 1000, FromPlatform}, // what the platform says: 2,000 were sent, and half refused
		{500, nil, n(8000), 10, 125, FromPlatform},    // a quarter of the described limit
		{500, n(40), nil, 3, 10, FromPlatform},        // of the lower one that is set
		{0, n(8000), nil, 10, 2000, FromPlatform},
		{500, nil, n(0), 4000, 0, FromOrganization}, // no limit of tokens
		{0, nil, nil, 4000, 0, FromDescription},
		{3, nil, nil, 1, 1, FromPlatform},
	} {
		if limit, from := chooseLimit(c.described, c.environment, c.organization, c.said, false); limit != c.want ||
			from != c.from {
			t.Errorf("%+v: %d from %s", c, limit, from)
		}
	}
}
