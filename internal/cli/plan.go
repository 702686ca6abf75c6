package cli

import (
	"context"
	"fmt"
	"strconv"

	"github.com/answerscope/answerscope/internal/verdict"
	"github.com/answerscope/answerscope/queryapi/metrics"
)

// planCmd is the command plan.
type planCmd struct {
	metricFlags
	Difference int  `default:"5" placeholder:"POINTS" help:"The change to be seen, 1 to 100 points (default: 5)."`
	Days       int  `default:"14" placeholder:"N" help:"Within how many days, 3 to 49 (default: 14)."`
	JSON       bool `name:"json" help:"One JSON document, the body of /api/v1/sampling-plan."`
}

func (c *planCmd) Run(ctx context.Context, p *process, on databases) error {
	api, caller, params, err := c.question(ctx, on)
	if err != nil {
		return err
	}
	params.Set("difference", strconv.Itoa(c.Difference))
	params.Set("days", strconv.Itoa(c.Days))
	body, err := api.SamplingPlan(ctx, caller, params)
	if err != nil {
		return err
	}
	return p.printResult(c.JSON, body, planText(body))
}

// planText writes a plan in words.
func planText(plan metrics.SamplingPlan) string {
	change := fmt.Sprintf("a change of %d points within %d days", plan.Difference, plan.Days)
	now := fmt.Sprintf("%.1f answers a day", plan.AnswersPerDay)
	if plan.Reason != nil && *plan.Reason == verdict.TooLittleData {
		return plan.Brand.Name + ": too little data to plan from (" + now + "): " +
			"it takes three weeks of answers that can be compared"
	}
	text := fmt.Sprintf("%s: no number of answers shows %s, since days differ by %.1f points of themselves; "+
		"allow more --days or a larger --difference", plan.Brand.Name, change, *plan.DayDeviation)
	if needed := plan.NeededAnswersPerDay; needed != nil {
		text = fmt.Sprintf("%s: %.0f answers a day show %s, %.0f more than now (%s)", plan.Brand.Name, *needed, change,
			*plan.MoreAnswersPerDay, now)
		if runs := plan.MoreRunsPerDay; runs != nil && *runs > *plan.MoreAnswersPerDay {
			text += fmt.Sprintf(", for which it takes %.0f runs, since some show no answer", *runs)
		}
		if cost := plan.MoreCostPerMonthUSD; cost != nil {
			text += fmt.Sprintf(", for about %.2f USD a month", *cost)
		}
	}
	if plan.NeededClusters != nil {
		text += fmt.Sprintf("\nto tell a move of the brand from one of a few prompts: "+
			"%d topics, or prompts without one; there are %d", *plan.NeededClusters, *plan.Clusters)
	}
	return text
}
