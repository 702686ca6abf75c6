package tracking

import (
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/sql/postgres"
)

// leasing is what processes share.
type leasing struct {
	db         *postgres.DB
	own, other uuid.UUID // organizations
}

func newLeasing(t *testing.T) *leasing {
	t.Helper()
	l := &leasing{db: store.OpenControlPlane(t, store.ControlPlane(t))}
	for name, id := range map[string]*uuid.UUID{"Own": &l.own, "Other": &l.other} {
		organization, err := l.db.AddOrganization(t.Context(), name, "")
		if err != nil {
			t.Fatal(err)
		}
		*id = organization.ID
	}
	return l
}

// limited is an account as one process sees it, which has a job of an organization.
type limited struct {
	*rateLimit
	process *rateLimits
}

func (l *leasing) process(t *testing.T, organization uuid.UUID, account string) limited {
	t.Helper()
	process := newRateLimits(l.db, testkit.Log(t))
	limit := process.account(Platform{Account: account, Description: platform.Description{
		Slug: "alpha", Limits: platform.Limits{RequestsPerMinute: 60, TokensPerMinute: 6000, InFlight: 6},
	}})
	limit.join(organization)
	limit.usedAt = time.Now()
	return limited{limit, process}
}

func (l *leasing) set(t *testing.T, organization uuid.UUID, requests, tokens, inFlight int) {
	t.Helper()
	if err := l.db.SetProviderLimits(t.Context(), uuid.Nil,
		postgres.ProviderLimits{OrganizationID: organization, Platform: "alpha",
			AccountLimits: postgres.AccountLimits{RequestsPerMinute: &requests, TokensPerMinute: &tokens,
				InFlight: &inFlight}}); err != nil {
		t.Fatal(err)
	}
}

// leases renews all processes until their leases are what is wanted. No sum of leases on the way is over most.
func leases(t *testing.T, most postgres.PlatformLease, want postgres.PlatformLease, processes ...limited) {
	t.Helper()
	for range 4 {
		for _, p := range processes {
			if _, err := p.process.renew(t.Context()); err != nil {
				t.Fatal(err)
			}
			var sum postgres.PlatformLease
			for _, p := range processes {
				sum.InFlight += p.lease.InFlight
				sum.RequestsPerMinute += p.lease.RequestsPerMinute
				sum.TokensPerMinute += p.lease.TokensPerMinute
			}
			if sum.InFlight > most.InFlight || sum.RequestsPerMinute > most.RequestsPerMinute ||
				sum.TokensPerMinute > most.TokensPerMinute {
				t.Errorf("leased %+v of %+v", sum, most)
			}
		}
	}
	for i, p := range processes {
		if p.lease != want {
			t.Errorf("process %d has %+v, want %+v", i, p.lease, want)
		}
	}
}

// Two processes share an account. Of the organizations that have its key, the one with the largest limits decides, and
// no other account has them. A change is taken over while jobs run.
func TestTheLargestLimitsOfAnAccountAreShared(t *testing.T) {
	t.Parallel()
	l := newLeasing(t)
	described := postgres.PlatformLease{InFlight: 6, RequestsPerMinute: 60, TokensPerMinute: 6000}
	first, second, apart := l.process(t, l.own, "alpha one"), l.process(t, l.other, "alpha one"),
		l.process(t, l.other, "alpha two")
	leases(t, described, postgres.PlatformLease{InFlight: 3, RequestsPerMinute: 30, TokensPerMinute: 3000}, first,
		second)
	leases(t, described, described, apart)
	l.set(t, l.own, 600, 40_000, 2) // in flight, the other's described 6 are more
	leases(t, postgres.PlatformLease{InFlight: 6, RequestsPerMinute: 600, TokensPerMinute: 40_000},
		postgres.PlatformLease{InFlight: 3, RequestsPerMinute: 300, TokensPerMinute: 20_000}, first, second)
	leases(t, described, described, apart)
	l.set(t, l.other, 10, 0, 2) // without a limit of tokens
	leases(t, postgres.PlatformLease{InFlight: 6, RequestsPerMinute: 600, TokensPerMinute: maxTokens},
		postgres.PlatformLease{InFlight: 1, RequestsPerMinute: 300, TokensPerMinute: maxTokens / 2}, first, second)
}

// What an account's answers say is known to other processes, and to those that start later.
func TestWhatIsLearntOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	l := newLeasing(t)
	first := l.process(t, l.own, "alpha one")
	first.inFlight = 1
	reply := took(400)
	reply.Allowance = platform.Allowance{RequestsPerMinute: 900, TokensPerMinute: 10_000_000, ClosedFor: time.Hour}
	first.expectedTokens = 400
	first.release(400, reply, nil)
	want := postgres.PlatformLease{InFlight: 6, RequestsPerMinute: 900, TokensPerMinute: 120_000} // 20 × 6000
	leases(t, want, want, first)
	if err := l.db.ReleasePlatforms(t.Context(), first.process.holder); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time, the process has stored nothing itself
		next := l.process(t, l.own, "alpha one")
		leases(t, want, want, next)
		if closed := time.Until(next.closedUntil); next.expectedTokens != 400 || closed < 59*time.Minute ||
			closed > time.Hour {
			t.Errorf("expects %f tokens, closed for %s", next.expectedTokens, closed)
		}
		if err := l.db.ReleasePlatforms(t.Context(), next.process.holder); err != nil {
			t.Fatal(err)
		}
	}
	l.set(t, l.own, 500, 5000, 50) // which answers lower alone
	want = postgres.PlatformLease{InFlight: 50, RequestsPerMinute: 500, TokensPerMinute: 5000}
	leases(t, want, want, l.process(t, l.own, "alpha one"))
	described := postgres.PlatformLease{InFlight: 6, RequestsPerMinute: 60, TokensPerMinute: 6000}
	apart := l.process(t, l.other, "alpha two")
	leases(t, described, described, apart)
	if !apart.closedUntil.Before(time.Now()) {
		t.Error("another account is closed")
	}
}
