package naive

import (
	"cmp"
	"math"
	"slices"
)

// A Run is one run of a prompt, as verdicts see it. Points are the answer's, 0 to 100 by entity; a run that was given
// up has none.
type Run struct {
	Prompt, Topic, Platform, Model, Region string
	Served                                 string // the model that answered, "" where the platform names none
	Day                                    int    // since 1970-01-01
	GivenUp                                bool
	NotShown                               bool // the surface had no answer: it shows no outage, and is not compared
	Points                                 map[string]float64
}

// A Question is what a verdict is about: an entity, a row, and the window From to To beside the days before it.
type Question struct {
	Entity, Dimension, Key string // the dimension is platform, topic or prompt; "" for all answers
	From, To, CompareDays  int
	Changed                map[string][]int // days on which a platform changed as a whole
}

// A Change is a verdict with its figures; nil stands for null.
type Change struct {
	Verdict, Reach, Reason              string
	Before, After, Difference           figure
	EValue, EDays, Detectable           figure
	Interval                            *Range
	Since                               *Since
	Prompts, DaysBefore, DaysAfter      int
	Outage, ModelChanged, BasketChanged float64 // shares of the runs left out
	Unadjusted                          string
}

// A Range holds the bounds of a difference.
type Range struct{ Low, High float64 }

// Since is the day from which a change explains the figures best.
type Since struct {
	Day        int
	Difference float64
	Interval   *Range
}

// windows are the days before (first to from-1) and the window (from to to).
type windows struct{ first, from, to int }

func (w windows) has(r *Run) bool { return w.first <= r.Day && r.Day <= w.to }

// side is 0 for the days before and 1 for the window.
func (w windows) side(day int) int {
	if day < w.from {
		return 0
	}
	return 1
}

// Judge follows the definition of a verdict sentence by sentence, over the runs of a brand.
func Judge(runs []*Run, q Question) Change {
	length := q.To - q.From + 1
	w := windows{q.From - q.CompareDays, q.From, q.To}
	var change Change
	topicOf := topics(runs)
	runs = slices.DeleteFunc(slices.Clone(runs), func(r *Run) bool { return r.Day < w.first-length || r.Day > w.to })
	row := slices.DeleteFunc(slices.Clone(runs), func(r *Run) bool { return r.value(q.Dimension) != q.Key })
	kept, out := w.comparable(row, runs, q.Changed)
	change.Outage, change.ModelChanged, change.BasketChanged = out.share(0), out.share(1), out.share(2)
	if out.runs[0] == 0 || out.runs[1] == 0 {
		change.Verdict, change.Reason = "too_little_data", "no_runs"
		return change
	}
	if verdict := out.verdict(); verdict != "" {
		change.Verdict, change.Reason = verdict, out.platformText(verdict)
		return change
	}
	ix := w.index(kept, q.Entity)
	change.Prompts = ix.prompts()
	days := ix.days()
	change.DaysBefore, change.DaysAfter = ix.daysOfSides()
	if change.DaysBefore < 7 || change.DaysAfter < 3 {
		change.Verdict, change.Reason = "too_little_data", "few_days"
		return change
	}
	clusterOf := ix.clusters(topicOf, q.Dimension == "topic")
	shifted := windows{w.first - length, w.from - length, w.to - length}
	same := slices.DeleteFunc(slices.Clone(row), func(r *Run) bool { return ix.sums[r.cell()] == nil })
	runsEarlier, _ := shifted.comparable(same, runs, q.Changed)
	ixEarlier := shifted.index(runsEarlier, q.Entity)
	before, after := ixEarlier.daysOfSides()
	earlier := past{ixEarlier, ixEarlier.curves(clusterOf), length, before >= 7 && after >= 3}
	points, curves := ix.points(func(cell) bool { return true }), ix.curves(clusterOf)
	var splits []split
	for _, day := range days[7 : len(days)-2] {
		splits = append(splits, ix.split(day, points, curves, earlier))
	}
	j0 := change.DaysBefore - 7
	level, difference := ix.level(), splits[j0].difference
	change.Before, change.After, change.Difference = new(level-difference/2), new(level+difference/2), &difference
	change.judge(splits, j0, length, q.Dimension == "prompt")
	return change
}

// judge applies the table of verdicts to the evidence at each possible day of change; j0 is the window's first day.
func (c *Change) judge(splits []split, j0, length int, onePrompt bool) {
	eValue := mixture(splits, j0, length, split.eAll)
	eDays := mixture(splits, j0, length, split.eDays)
	c.EDays = &eDays
	enough := c.Prompts >= 5 || onePrompt
	if enough {
		c.EValue = &eValue
	}
	switch {
	case c.Prompts >= 5 && eValue >= 20:
		c.move("brand", splits, split.eAll, split.intervalAll)
	case onePrompt && eValue >= 20, eDays >= 100:
		c.move("prompts", splits, split.eDays, split.intervalDays)
	default:
		c.Verdict = "within_noise"
		if enough {
			c.Interval, c.Detectable = splits[j0].intervalAll(), splits[j0].detectable()
		}
		switch {
		case !enough:
			c.Verdict, c.Reason = "too_little_data", "few_prompts"
		case c.Detectable == nil || *c.Detectable > 20:
			c.Verdict, c.Reason = "too_little_data", "coarse"
		}
	}
}

// move says that the figures moved at the split with the most evidence, the first one of equals.
func (c *Change) move(reach string, splits []split, evidence func(split) float64, interval func(split) *Range) {
	best := splits[0]
	for _, s := range splits {
		if evidence(s) > evidence(best) {
			best = s
		}
	}
	c.Reach, c.Since = reach, &Since{Day: best.day, Difference: best.difference, Interval: interval(best)}
	c.Verdict = "moved_up"
	if best.difference < 0 {
		c.Verdict = "moved_down"
	}
}

// mixture weighs the evidence at the window's first day half, and that at all other days half.
func mixture(splits []split, j0, length int, evidence func(split) float64) float64 {
	share := min(1, float64(length)/14)
	if len(splits) == 1 {
		return share * evidence(splits[j0])
	}
	others := 0.0
	for j, s := range splits {
		if j != j0 {
			others += evidence(s)
		}
	}
	return share * (evidence(splits[j0])/2 + others/float64(len(splits)-1)/2)
}

// AdjustList keeps the share of false moves in a list at most 10 % (e-BH). Moves of a brand are ranked by e-value
// among all rows that have one, moves of prompts in the same way by the evidence of days alone.
func AdjustList(list []*Change) {
	for reach, evidence := range map[string]func(*Change) figure{
		"brand":   func(c *Change) figure { return c.EValue },
		"prompts": func(c *Change) figure { return c.EDays },
	} {
		var values []float64
		for _, c := range list {
			if e := evidence(c); e != nil {
				values = append(values, *e)
			}
		}
		slices.SortFunc(values, func(a, b float64) int { return cmp.Compare(b, a) })
		lowest := math.Inf(1)
		for i, e := range values {
			if e >= float64(len(values))/(0.10*float64(i+1)) {
				lowest = e
			}
		}
		for _, c := range list {
			if c.Reach == reach && *evidence(c) < lowest {
				c.Verdict, c.Unadjusted = "within_noise", c.Verdict
			}
		}
	}
}
