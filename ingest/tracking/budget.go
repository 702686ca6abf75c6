package tracking

import (
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform/catalog"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/sql/postgres"
)

// CheckBudget says what is wrong with a budget as people write it, and brings its costs into the form that is stored.
func CheckBudget(b *postgres.Budget) error {
	if _, known := catalog.Find(b.Platform); b.Platform != "" && !known {
		return problem.New(problem.Invalid, "platform %.60q: want one of %s, or none for all together", b.Platform, catalog.Slugs())
	}
	for of, runs := range map[string]*int64{"a day": b.RunsPerDay, "a month": b.RunsPerMonth} {
		if runs != nil && *runs < 0 {
			return problem.New(problem.Invalid, "runs %s: want 0 or more, got %d", of, *runs)
		}
	}
	for of, cost := range map[string]*string{"a day": b.CostPerDay, "a month": b.CostPerMonth} {
		if cost == nil {
			continue
		}
		amount, ok := event.Decimal(*cost)
		if !ok || amount[0] == '-' {
			return problem.New(problem.Invalid, "cost %s: want an amount of US dollars such as 2.50, got %.60q", of, *cost)
		}
		*cost = amount
	}
	return nil
}
