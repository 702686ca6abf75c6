package metrics

import (
	"context"
	"math"

	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/verdict"
	"github.com/answerscope/answerscope/sql/postgres"
)

// verdictChecksBody answers GET /api/v1/verdict-checks. Its figures sum over all organizations.
type verdictChecksBody struct {
	Nights      int            `json:"nights"`
	FalseAlarms falseAlarms    `json:"false_alarms"`
	Checks      []verdictCheck `json:"checks"`
	Held        []heldMoves    `json:"held"`
}

// falseAlarms has the published rate of false moves by reach; nil before the first check.
type falseAlarms struct {
	Brand   *falseAlarmRate `json:"brand"`
	Prompts *falseAlarmRate `json:"prompts"`
}

type falseAlarmRate struct {
	ratePct
	RowQuarters float64 `json:"row_quarters"`
}

type verdictCheck struct {
	Relabelling        string  `json:"relabelling"`
	Reach              string  `json:"reach"`
	Nights             int     `json:"nights"`
	Rows               int     `json:"rows"`
	Looks              int     `json:"looks"`
	AlarmedLooks       int     `json:"alarmed_looks"`
	RowQuarters        float64 `json:"row_quarters"`
	AlarmedRowQuarters int     `json:"alarmed_row_quarters"`
	ratePct
}

type heldMoves struct {
	Reach     string `json:"reach"`
	Moves     int    `json:"moves"`
	HeldMoves int    `json:"held_moves"`
	ratePct
}

// A ratePct is a rate in percent with its 95 % interval; null of nothing.
type ratePct struct {
	RatePct *float64 `json:"rate_pct"`
	Low     *float64 `json:"low"`
	High    *float64 `json:"high"`
}

// newRatePct returns the rate of k among n. Quarters are parts of 90 looks, so k may exceed n.
func newRatePct(k, n float64) ratePct {
	if n == 0 {
		return ratePct{}
	}
	k = min(k, n)
	bounds := verdict.Wilson(k, n)
	return ratePct{new(oneDecimal(100 * k / n)), new(oneDecimal(100 * bounds.Low)), new(oneDecimal(100 * bounds.High))}
}

func oneDecimal(x float64) float64 { return math.Round(10*x) / 10 }

func (a *API) verdictChecks(ctx context.Context, _ identity.Identity, q *query) (any, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	checks, err := a.readVerdictChecks(ctx)
	if err != nil {
		return nil, err
	}
	body := verdictChecksBody{FalseAlarms: published(checks), Checks: []verdictCheck{}, Held: []heldMoves{}}
	for _, c := range checks {
		body.Nights = max(body.Nights, c.Nights)
		body.Checks = append(body.Checks, verdictCheck{c.Relabelling, c.Reach, c.Nights, c.Rows, c.Looks,
			c.AlarmedLooks, oneDecimal(c.RowQuarters), c.AlarmedRowQuarters, falseRate(c)})
		if c.Relabelling == verdict.NotRelabelled {
			body.Held = append(body.Held, heldMoves{c.Reach, c.Moves, c.HeldMoves,
				newRatePct(float64(c.HeldMoves), float64(c.Moves))})
		}
	}
	return body, nil
}

// falseRate returns the rate of a mean night: nights look at much the same days, so that together they know no more.
func falseRate(c postgres.VerdictCheck) ratePct {
	return newRatePct(float64(c.AlarmedRowQuarters)/float64(c.Nights), c.RowQuarters)
}

// publishedNights is the number of nights over which rates of false alarms are published.
const publishedNights = 28

func (a *API) readVerdictChecks(ctx context.Context) ([]postgres.VerdictCheck, error) {
	today := a.now().UTC()
	return a.db.VerdictChecks(ctx, today.AddDate(0, 0, -publishedNights), today)
}

// falseAlarms returns the rates of the installation that stand beside its verdicts.
func (a *API) falseAlarms(ctx context.Context) (falseAlarms, error) {
	checks, err := a.readVerdictChecks(ctx)
	return published(checks), err
}

// published returns of each reach the larger rate of its relabellings: signs keep what days destroy, and the reverse.
func published(checks []postgres.VerdictCheck) (rates falseAlarms) {
	for _, c := range checks {
		rate := &rates.Brand
		if c.Reach == verdict.ReachPrompts {
			rate = &rates.Prompts
		}
		next := falseAlarmRate{falseRate(c), oneDecimal(c.RowQuarters)}
		if c.Relabelling != verdict.NotRelabelled && next.RatePct != nil &&
			(*rate == nil || *next.RatePct > *(*rate).RatePct) {
			*rate = &next
		}
	}
	return rates
}
