package tracking

import (
	"cmp"
	"context"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/internal/config"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Sources of a limit beside FromEnvironment and FromOrganization.
const (
	FromDescription = "description" // of the platform
	FromPlatform    = "platform"    // which says so in its answers
)

// LimitSources names the source of each limit.
type LimitSources struct {
	RequestsPerMinute string `json:"requests_per_minute"`
	TokensPerMinute   string `json:"tokens_per_minute"`
	InFlight          string `json:"in_flight"`
}

// limits returns the limits of the platform's account for an organization that has set some, or none. Those only lower
// the limits of an account of the environment, which is not the organization's.
func (p Platform) limits(
	set postgres.AccountLimits, learnt postgres.PlatformAccount,
) (limits platform.Limits, from LimitSources) {
	described, environment := p.Limits, p.environmentLimits
	onlyLowers := p.KeyFrom == FromEnvironment
	limits.RequestsPerMinute, from.RequestsPerMinute = chooseLimit(described.RequestsPerMinute,
		environment.RequestsPerMinute, set.RequestsPerMinute, learnt.RequestsPerMinute, onlyLowers)
	limits.TokensPerMinute, from.TokensPerMinute = chooseLimit(described.TokensPerMinute,
		environment.TokensPerMinute, set.TokensPerMinute, learnt.TokensPerMinute, onlyLowers)
	limits.InFlight, from.InFlight = chooseLimit(described.InFlight,
		environment.InFlight, set.InFlight, 0, onlyLowers)
	return limits, from
}

// A limit that is learnt from response headers counts from a quarter of the described limit, or of a lower configured
// one, up to 20 times the described limit. It does not raise a configured limit.
const (
	maxLowered = 4
	maxRaised  = 20
)

// chooseLimit prefers what the organization has set, which may only lower the others, to the environment, and that to
// the description. learnt is the platform's own word, 0 if it gave none.
func chooseLimit(
	described int, environment, organization *int, learnt int, onlyLowers bool,
) (limit int, from string) {
	limit, from = described, FromDescription
	upper := limit * maxRaised
	if environment != nil {
		limit, from, upper = *environment, FromEnvironment, *environment
	}
	if organization != nil && (!onlyLowers || *organization > 0 && (limit == 0 || *organization < limit)) {
		limit, from, upper = *organization, FromOrganization, *organization
	}
	if learnt == 0 || limit == 0 {
		return limit, from
	}
	lower := min(cmp.Or(described, limit), limit) / maxLowered
	if learnt = min(max(learnt, lower), upper); learnt == limit {
		return limit, from
	}
	return learnt, FromPlatform
}

// findLimits returns what an organization has set for a platform.
func findLimits(all []postgres.ProviderLimits, organization uuid.UUID, slug string) postgres.AccountLimits {
	for _, l := range all {
		if l.OrganizationID == organization && l.Platform == slug {
			return l.AccountLimits
		}
	}
	return postgres.AccountLimits{}
}

// OwnLimits returns the limits that an organization has set for its account at a platform.
func (p *Platforms) OwnLimits(
	ctx context.Context, organization uuid.UUID, slug string,
) (limits postgres.AccountLimits, err error) {
	if _, err := findAccount(slug); err != nil {
		return limits, err
	}
	all, err := p.db.ProviderLimits(ctx, []uuid.UUID{organization})
	return findLimits(all, organization, slug), err
}

// SetLimits replaces the limits that an organization has set. user is in the audit log; uuid.Nil is the command line.
func (p *Platforms) SetLimits(ctx context.Context, user uuid.UUID, l postgres.ProviderLimits) error {
	if _, err := findAccount(l.Platform); err != nil {
		return err
	}
	if err := CheckLimits(l.AccountLimits); err != nil {
		return err
	}
	return p.db.SetProviderLimits(ctx, user, l)
}

// CheckLimits returns a problem if a limit is outside its range.
func CheckLimits(l postgres.AccountLimits) error {
	if err := config.AccountLimits(l).Check(); err != nil {
		return problem.New(problem.Unprocessable, "limits: %v", err)
	}
	return nil
}
