package api

import (
	"strings"
	"testing"

	"github.com/answerscope/answerscope/sql/postgres"
)

// Spending refuses what is no window and no brand of the caller's organization; progress by platform shows a job to its
// own organization alone.
func TestSpendingIsOfABrandOfTheCaller(t *testing.T) {
	t.Parallel()
	s := serve(t)
	brand, _, err := s.db.AddBrand(t.Context(), s.own.ID, postgres.NewBrand{Name: "Lumen"})
	if err != nil {
		t.Fatal(err)
	}
	job := startJob(t, s.db, s.own.ID)
	for _, c := range []struct {
		caller, target string
		status         int
		want           string
	}{
		{"viewer", "spending", 400, `brand_id: want the UUID of a brand, got \"\"`},
		{"stranger", "spending?brand_id=" + brand.ID.String(), 404, "no such brand"},
		{"viewer", "spending?brand_id=" + brand.ID.String() + "&date_from=2026-02-30", 400,
			"date_from: want a day of the calendar"},
		{"viewer", "spending?date_to=today", 400, "date_to: want a day of the calendar"},
		{"viewer", "spending?date_from=2026-03-02&date_to=2026-03-01", 400,
			"date_from: want a day at most 730 days before date_to"},
		{"viewer", "spending?date_from=2024-01-01&date_to=2026-03-01", 400,
			"date_from: want a day at most 730 days before date_to"},
		{"stranger", "job/" + job.String() + "/platforms", 404, "no such job"},
		{"viewer", "job/x/platforms", 404, "no such job"},
		// one rule of parameters, which is /api/v1's
		{"viewer", "jobs?brandd=1", 400, `\"brandd\": want a parameter of this endpoint, the nearest is brand_id`},
		{"viewer", "jobs?limit=1&limit=1", 400, "limit: want it once"},
		{"viewer", "jobs?limit=", 400, "limit: want a value, or no such parameter"},
		{"viewer", "budgets?_=12", 400, `\"_\": want no parameter, as this endpoint has none`},
		{"viewer", "jobs?&", 200, `"jobs":[`},
		{"viewer", "job/" + job.String() + "/platforms", 200,
			`{"platforms":[{"platform":"alpha","answered":0,"not_shown":0,"given_up":0,"waiting":1}],` +
				`"rate_per_minute":null,"minutes_left":null}`},
	} {
		status, body := s.ask(c.caller, "GET", "/api/tracking/"+c.target, "")
		if status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s %s: %d %s, want %d %s", c.caller, c.target, status, body, c.status, c.want)
		}
	}
}
