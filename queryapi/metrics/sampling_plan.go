package metrics

import (
	"context"
	"math"
	"net/url"

	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/verdict"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// SamplingPlan answers GET /api/v1/sampling-plan. Deviations are points of the metric.
type SamplingPlan struct {
	Brand      brandName         `json:"brand"`
	Metric     clickhouse.Metric `json:"metric"`
	Difference uint32            `json:"difference"`
	Days       uint32            `json:"days"`
	planFigures
	Reason *string `json:"reason"` // why figures are null: too_little_data, noise_of_days
}

type planFigures struct {
	AnswersPerDay       float64  `json:"answers_per_day"` // over the days that have answers
	AnswerDeviation     *float64 `json:"answer_deviation"`
	DayDeviation        *float64 `json:"day_deviation"`
	NeededAnswersPerDay *float64 `json:"needed_answers_per_day"`
	MoreAnswersPerDay   *float64 `json:"more_answers_per_day"`
	MoreRunsPerDay      *float64 `json:"more_runs_per_day"` // for them, since a surface may have no answer
	MoreCostPerMonthUSD *float64 `json:"more_cost_per_month_usd"`
	Clusters            *int     `json:"clusters"`
	NeededClusters      *int     `json:"needed_clusters"`
}

// SamplingPlan answers the parameters of sampling-plan to a caller in this process.
func (a *API) SamplingPlan(ctx context.Context, caller identity.Identity, params url.Values) (SamplingPlan, error) {
	body, err := a.samplingPlan(ctx, caller, parseQuery(params.Encode()))
	plan, _ := body.(SamplingPlan)
	return plan, err
}

func (a *API) samplingPlan(ctx context.Context, caller identity.Identity, q *query) (any, error) {
	q.withoutEffect("the plan is of the 28 days that end with date_to", "date_from")
	p, metric := q.common(a.now()), q.metric()
	difference := q.number("difference", 5, 1, 100)
	days := q.number("days", 14, 3, 49)
	if err := q.check(); err != nil {
		return nil, err
	}
	brand, err := a.findBrand(ctx, caller, p.brandID)
	if err != nil {
		return nil, err
	}
	to := verdict.DayOf(p.window.to)
	filter := clickhouse.CellFilter{Filter: p.filter(caller.OrganizationID), Metric: metric}
	w := verdict.Window{From: to - verdict.PlanDays + 1, To: to, CompareDays: verdict.PlanDays}
	var cost *float64
	basket, err := a.basket(ctx, filter, w, func(ctx context.Context, _ *clickhouse.Conn) (err error) {
		cost, err = a.db.RunCost(ctx, caller.OrganizationID, brand.ID)
		return err
	})
	if err != nil {
		return nil, err
	}
	body := SamplingPlan{Brand: brandName{brand.ID.String(), brand.Name}, Metric: metric, Difference: difference,
		Days: days}
	plan, ok := basket.Plan(to, verdict.Row{Entity: brand.ID.String()}, float64(difference), int(days))
	switch {
	case !ok:
		body.AnswersPerDay, body.Reason = *points(&plan.AnswersPerDay), new(verdict.TooLittleData)
		return body, nil
	case plan.Needed == nil:
		body.Reason = new("noise_of_days")
	}
	body.planFigures = newPlanFigures(plan, cost)
	return body, nil
}

const daysPerMonth = 365.25 / 12

// newPlanFigures rounds needs up, so that they suffice.
func newPlanFigures(p verdict.Plan, cost *float64) planFigures {
	f := planFigures{
		AnswersPerDay: *points(&p.AnswersPerDay), AnswerDeviation: points(&p.AnswerDeviation),
		DayDeviation: points(&p.DayDeviation), Clusters: &p.Clusters, NeededClusters: p.NeededClusters,
	}
	if p.Needed == nil {
		return f
	}
	more := math.Ceil(max(0, *p.Needed-p.AnswersPerDay))
	runs := math.Ceil(more / p.AnswerShare)
	f.NeededAnswersPerDay, f.MoreAnswersPerDay, f.MoreRunsPerDay = new(math.Ceil(*p.Needed)), &more, &runs
	if cost != nil {
		f.MoreCostPerMonthUSD = new(math.Round(100*runs**cost*daysPerMonth) / 100)
	}
	return f
}
