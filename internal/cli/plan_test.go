package cli

import (
	"encoding/json"
	"testing"

	"github.com/answerscope/answerscope/queryapi/metrics"
)

func TestPlansAreSaidInWords(t *testing.T) {
	t.Parallel()
	const brand = `{"brand":{"name":"Lumen"},"difference":5,"days":28,"answers_per_day":27.5,`
	for body, want := range map[string]string{
		`"day_deviation":0,"needed_answers_per_day":43,"more_answers_per_day":16,"more_cost_per_month_usd":3.9,` +
			`"clusters":8,"needed_clusters":24}`: "Lumen: 43 answers a day show a change of 5 points within 28 " +
			"days, 16 more than now (27.5 answers a day), for about 3.90 USD a month\n" +
			"to tell a move of the brand from one of a few prompts: 24 topics, or prompts without one; there are 8",
		`"day_deviation":0,"needed_answers_per_day":20,"more_answers_per_day":0,"more_cost_per_month_usd":null,` +
			`"clusters":8,"needed_clusters":null}`: "Lumen: 20 answers a day show a change of 5 points within 28 " +
			"days, 0 more than now (27.5 answers a day)",
		`"day_deviation":0,"needed_answers_per_day":43,"more_answers_per_day":16,"more_runs_per_day":24,` +
			`"clusters":8}`: "Lumen: 43 answers a day show a change of 5 points within 28 days, 16 more than now " +
			"(27.5 answers a day), for which it takes 24 runs, since some show no answer",
		`"day_deviation":6.2,"clusters":8,"reason":"noise_of_days"}`: "Lumen: no number of answers shows a change " +
			"of 5 points within 28 days, since days differ by 6.2 points of themselves; allow more --days or a " +
			"larger --difference",
		`"reason":"too_little_data"}`: "Lumen: too little data to plan from (27.5 answers a day): it takes three " +
			"weeks of answers that can be compared",
	} {
		var plan metrics.SamplingPlan
		if err := json.Unmarshal([]byte(brand+body), &plan); err != nil {
			t.Fatal(body, err)
		}
		if got := planText(plan); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
