package verdict_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit/naive"
	"github.com/answerscope/answerscope/internal/verdict"
)

// Each figure of 250 random baskets equals that of the plain computation over the runs.
func TestRandomBasketsGiveTheNaiveVerdicts(t *testing.T) {
	t.Parallel()
	counts := map[string]int{}
	for seed := range uint64(250) {
		random := rand.New(rand.NewPCG(seed, 26))
		s := randomSample(random)
		basket := s.basket(random)
		for _, dimension := range []verdict.Dimension{verdict.ByPlatform, verdict.ByTopic, verdict.ByPrompt} {
			if got, want := basket.Keys(dimension), s.keys(dimension); !slices.Equal(got, want) {
				t.Errorf("seed %d: values of %s %q, want %q", seed, dimension, got, want)
			}
		}
		dimension := []verdict.Dimension{verdict.ByPlatform, verdict.ByTopic, verdict.ByPrompt}[random.IntN(3)]
		var list []*verdict.Verdict
		var naiveList []*naive.Change
		for i, row := range s.rows(dimension, random) {
			got, want := basket.Judge(s.window, row), naive.Judge(s.runs, s.question(row))
			counts[got.Verdict+" "+got.Reach+strings.SplitN(got.Reason, " ", 2)[0]]++
			if diff := difference(got, verdictOf(want), 1e-4); diff != "" {
				t.Errorf("seed %d, %+v, %+v: %s", seed, s.window, row, diff)
			}
			if i > 0 {
				list, naiveList = append(list, &got), append(naiveList, &want)
			}
		}
		verdict.Adjust(list)
		naive.AdjustList(naiveList)
		for i, got := range list {
			if got.Unadjusted != "" {
				counts["unadjusted "+got.Reach]++
			}
			if diff := difference(*got, verdictOf(*naiveList[i]), 1e-4); diff != "" {
				t.Errorf("seed %d, %+v, row %d of the list by %s: %s", seed, s.window, i, dimension, diff)
			}
		}
	}
	for _, name := range []string{
		"within_noise ", "moved_up brand", "moved_down brand", "moved_up prompts", "moved_down prompts",
		"unadjusted prompts",
		"too_little_data no_runs", "too_little_data few_days", "too_little_data few_prompts", "too_little_data coarse",
		"outage platform", "model_changed platform", "basket_changed platform",
	} {
		if counts[name] == 0 {
			t.Errorf("no basket gives %s", name)
		}
	}
	t.Log(counts)
}

// Moves of a list that the plain procedure takes back are taken back.
func TestRandomListsKeepTheNaiveMoves(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 26))
	back := map[string]int{}
	for range 2000 {
		var list []*verdict.Verdict
		var naiveList []*naive.Change
		middle := 3 * random.Float64()
		for range random.IntN(60) {
			row := verdict.Verdict{Verdict: verdict.WithinNoise}
			if random.IntN(10) > 0 {
				row.EDays = new(math.Exp(middle + 2*random.NormFloat64()))
			}
			if row.EDays != nil && random.IntN(5) > 0 {
				row.EValue = new(*row.EDays * random.Float64())
			}
			switch {
			case row.EValue != nil && *row.EValue >= 20:
				row.Verdict, row.Reach = verdict.MovedUp, verdict.ReachBrand
			case row.EDays != nil && *row.EDays >= 100:
				row.Verdict, row.Reach = verdict.MovedDown, verdict.ReachPrompts
			}
			list = append(list, &row)
			naiveList = append(naiveList,
				&naive.Change{Verdict: row.Verdict, Reach: row.Reach, EValue: row.EValue, EDays: row.EDays})
		}
		verdict.Adjust(list)
		naive.AdjustList(naiveList)
		for i, row := range list {
			if row.Verdict != naiveList[i].Verdict || row.Unadjusted != naiveList[i].Unadjusted {
				t.Fatalf("row %d of %d, e %s and %s: got %+v, want %+v",
					i, len(list), text(row.EValue), text(row.EDays), row, naiveList[i])
			}
			if row.Unadjusted != "" {
				back[row.Reach]++
			}
		}
	}
	if back[verdict.ReachBrand] < 100 || back[verdict.ReachPrompts] < 100 {
		t.Errorf("moves taken back: %v", back)
	}
}

// TestGoldenCasesGiveTheNaiveVerdicts checks the plain computation against the cases of another program.
func TestGoldenCasesGiveTheNaiveVerdicts(t *testing.T) {
	t.Parallel()
	for _, c := range readGolden(t) {
		t.Run(c.Name, func(t *testing.T) {
			s := c.sample(t)
			all := verdict.Row{Entity: "brand"}
			compareGolden(t, verdictOf(naive.Judge(s.runs, s.question(all))), c.Want)
			var list []*naive.Change
			for _, want := range c.Want.Groups {
				change := naive.Judge(s.runs,
					s.question(verdict.Row{Entity: "brand", Dimension: c.Options.GroupBy, Key: want.Key}))
				list = append(list, &change)
			}
			naive.AdjustList(list)
			for i, want := range c.Want.Groups {
				t.Run(want.Key, func(t *testing.T) { compareGolden(t, verdictOf(*list[i]), want) })
			}
		})
	}
}

func verdictOf(c naive.Change) verdict.Verdict {
	v := verdict.Verdict{
		Verdict: c.Verdict, Reach: c.Reach, Reason: c.Reason, Before: c.Before, After: c.After,
		Difference: c.Difference,
		EValue:     c.EValue, EDays: c.EDays, Interval: (*verdict.Interval)(c.Interval), Detectable: c.Detectable,
		Prompts: c.Prompts, DaysBefore: c.DaysBefore, DaysAfter: c.DaysAfter,
		LeftOut:    verdict.LeftOut{Outage: c.Outage, ModelChanged: c.ModelChanged, BasketChanged: c.BasketChanged},
		Unadjusted: c.Unadjusted,
	}
	if c.Since != nil {
		v.Since = &verdict.Since{
			Day: verdict.Day(c.Since.Day), Difference: c.Since.Difference,
			Interval: (*verdict.Interval)(c.Since.Interval),
		}
	}
	return v
}

// difference names the fields in which two verdicts differ, figures by more than a limit, e-values relatively.
func difference(got, want verdict.Verdict, most float64) (diff string) {
	figures := func(v verdict.Verdict) map[string]*float64 {
		m := map[string]*float64{
			"before": v.Before, "after": v.After, "difference": v.Difference, "detectable": v.Detectable,
			"e_value": v.EValue, "e_days": v.EDays,
			"outage": &v.LeftOut.Outage, "model_changed": &v.LeftOut.ModelChanged,
			"basket_changed": &v.LeftOut.BasketChanged,
		}
		if v.Interval != nil {
			m["low"], m["high"] = &v.Interval.Low, &v.Interval.High
		}
		if v.Since != nil {
			m["since difference"] = &v.Since.Difference
			if v.Since.Interval != nil {
				m["since low"], m["since high"] = &v.Since.Interval.Low, &v.Since.Interval.High
			}
		}
		return m
	}
	texts := func(v verdict.Verdict) string {
		text := fmt.Sprint(v.Verdict, " ", v.Reach, " ", v.Reason, " ", v.Unadjusted, " ", v.Prompts, v.DaysBefore,
			v.DaysAfter)
		if v.Since != nil {
			text += fmt.Sprint(" since ", v.Since.Day)
		}
		return text
	}
	if texts(got) != texts(want) {
		diff += fmt.Sprintf("got %s, want %s; ", texts(got), texts(want))
	}
	a, b := figures(got), figures(want)
	names := map[string]bool{}
	for name := range a {
		names[name] = true
	}
	for name := range b {
		names[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		x, y := a[name], b[name]
		limit := most
		if y != nil && (name == "e_value" || name == "e_days") {
			limit *= *y
		}
		if (x == nil) != (y == nil) || x != nil && !(math.Abs(*x-*y) <= limit) {
			diff += fmt.Sprintf("%s %s, want %s; ", name, text(x), text(y))
		}
	}
	return diff
}

func text(x *float64) string {
	if x == nil {
		return "null"
	}
	return fmt.Sprint(*x)
}
