// Package verdict decides whether a figure of a brand or competitor moved between two windows of days, or whether noise
// explains the difference.
//
// Every day's answers to the same prompts are one measurement: an index that compares each prompt, platform, model and
// region with itself. A closed-form t-mixture e-value (Lindon, Ham, Tingley, Bojinov 2022, arXiv 2210.08589) measures
// how much better a change explains the index than noise does, mixed over the unknown day of change. It takes the
// larger of two variances, by days and by clusters of prompts.
package verdict

import (
	"cmp"
	"slices"
	"time"
)

// A Day is a UTC day, counted from 1970-01-01.
type Day int32

// DayOf returns the UTC day of t.
func DayOf(t time.Time) Day { return Day(t.Unix() / (24 * 60 * 60)) }

// Time returns the midnight with which the day begins.
func (d Day) Time() time.Time { return time.Unix(int64(d)*24*60*60, 0).UTC() }

// MarshalText writes a date: 2026-03-07.
func (d Day) MarshalText() ([]byte, error) { return d.Time().AppendFormat(nil, time.DateOnly), nil }

// UnmarshalText reads a date.
func (d *Day) UnmarshalText(text []byte) error {
	t, err := time.Parse(time.DateOnly, string(text))
	*d = DayOf(t)
	return err
}

// A Window is the days From to To, both included. They are compared with the CompareDays days before From.
type Window struct {
	From, To    Day
	CompareDays int
}

// Days returns the number of days from From to To.
func (w Window) Days() int { return int(w.To-w.From) + 1 }

// First returns the first day before From that is compared.
func (w Window) First() Day { return w.From - Day(w.CompareDays) }

// Earliest returns the first day whose answers change a verdict: the comparison of an equal window, Days() earlier,
// shows how much clusters wander by themselves.
func (w Window) Earliest() Day { return w.First() - Day(w.Days()) }

func (w Window) earlier() Window {
	return Window{w.From - Day(w.Days()), w.To - Day(w.Days()), w.CompareDays}
}

// The verdicts.
const (
	MovedUp       = "moved_up"
	MovedDown     = "moved_down"
	WithinNoise   = "within_noise"
	TooLittleData = "too_little_data"
	Outage        = "outage"
	ModelChanged  = "model_changed"
	BasketChanged = "basket_changed"
)

// The reaches of a move.
const (
	ReachBrand   = "brand"
	ReachPrompts = "prompts" // these prompts moved, nothing shows that the brand did
)

// The reasons of TooLittleData.
const (
	NoRuns     = "no_runs"
	FewDays    = "few_days"
	FewPrompts = "few_prompts"
	Coarse     = "coarse" // a change of coarsePoints could have been missed
)

// The policy, which no measurement decides.
const (
	minDaysBefore  = 7
	minDaysAfter   = 3
	minPrompts     = 5
	minClusters    = 5
	coarsePoints   = 20.0
	brandEvidence  = 20.0
	promptEvidence = 100.0
	discoveryRate  = 0.10 // of e-BH: the share of false moves in a list
	modelShift     = 0.2
)

// A Verdict is the judgement whether a row moved. Points are 0 to 100; a figure that does not apply is nil.
type Verdict struct {
	Verdict string
	Reach   string // ReachBrand or ReachPrompts of a move, else ""
	Reason  string // of TooLittleData; the platforms of Outage, ModelChanged and BasketChanged; else ""

	Before, After, Difference *float64 // of what was compared, at the first day of the window
	EValue, EDays             *float64 // evidence by days and clusters, and by days alone
	Interval                  *Interval
	Detectable                *float64 // the least change that is seen with power 80 %
	Since                     *Since   // of a move

	Prompts, DaysBefore, DaysAfter int
	LeftOut                        LeftOut
	Unadjusted                     string // the move that Adjust took back, else ""
}

// An Interval has the bounds of a difference.
type Interval struct{ Low, High float64 }

// A Since is the day from which a change explains the index best.
type Since struct {
	Day        Day
	Difference float64
	Interval   *Interval
}

// LeftOut is the share, 0 to 1, of a window's runs that were not compared, by reason; of both windows the larger share.
type LeftOut struct{ Outage, ModelChanged, BasketChanged float64 }

// Moved reports whether the verdict is a move.
func (v *Verdict) Moved() bool { return v.Verdict == MovedUp || v.Verdict == MovedDown }

// A Dimension is what divides answers into rows.
type Dimension string

// The dimensions.
const (
	All        Dimension = ""
	ByPlatform Dimension = "platform"
	ByTopic    Dimension = "topic"
	ByPrompt   Dimension = "prompt"
)

// A Row selects what a verdict is about: an entity, and the value of a dimension.
type Row struct {
	Entity    string
	Dimension Dimension
	Key       string // "" with All
}

// Judge returns the verdict on a row. The window may begin before the basket, but ends within it.
func (b *Basket) Judge(w Window, r Row) Verdict {
	c := b.compare(w, r.Entity, b.row(r))
	shares := c.shares()
	v := Verdict{LeftOut: LeftOut{shares[outage], shares[model], shares[basket]}}
	if c.runs[before] == 0 || c.runs[after] == 0 {
		v.Verdict, v.Reason = TooLittleData, NoRuns
		return v
	}
	if v.Verdict, v.Reason = c.verdict(); v.Verdict != "" {
		return v
	}
	clusters := clusterOf(c.basis(), r.Dimension != ByTopic)
	c.fill(clusters)
	v.Prompts, v.DaysBefore, v.DaysAfter = c.prompts(), c.split, len(c.days)-c.split
	if !c.enoughDays() {
		v.Verdict, v.Reason = TooLittleData, FewDays
		return v
	}
	earlier := b.compare(w.earlier(), r.Entity, c.basis())
	earlier.fill(clusters)
	c.evidence(earlier).decide(&v, r.Dimension)
	return v
}

// JudgeList returns the verdicts on the rows of a list, see Adjust.
func (b *Basket) JudgeList(w Window, rows []Row) []Verdict {
	verdicts, list := make([]Verdict, len(rows)), make([]*Verdict, len(rows))
	for i, row := range rows {
		verdicts[i] = b.Judge(w, row)
		list[i] = &verdicts[i]
	}
	Adjust(list)
	return verdicts
}

// decide fills in the figures, and chooses among a move, noise and too little data.
func (e evidence) decide(v *Verdict, dimension Dimension) {
	start, level := e.start(), e.comparison.level
	v.Before, v.After = new(level-start.difference/2), new(level+start.difference/2)
	v.Difference = &start.difference
	byDays, byAll := func(c change) test { return c.days }, func(c change) test { return c.all }
	days, all := e.mixed(byDays), e.mixed(byAll)
	v.EDays = &days
	if v.Prompts >= minPrompts || dimension == ByPrompt {
		v.EValue = &all
	}
	switch {
	case v.Prompts >= minPrompts && all >= brandEvidence:
		e.move(v, ReachBrand, byAll)
	case days >= promptEvidence, dimension == ByPrompt && all >= brandEvidence:
		e.move(v, ReachPrompts, byDays)
	case v.EValue == nil:
		v.Verdict, v.Reason = TooLittleData, FewPrompts
	default:
		v.Verdict, v.Interval, v.Detectable = WithinNoise, start.all.interval(start.difference), start.all.detectable()
		if v.Detectable == nil || *v.Detectable > coarsePoints {
			v.Verdict, v.Reason = TooLittleData, Coarse
		}
	}
}

// move adds the day since which the row has moved.
func (e evidence) move(v *Verdict, reach string, test func(change) test) {
	at := e.strongest(test)
	v.Verdict, v.Reach = MovedUp, reach
	if at.difference < 0 {
		v.Verdict = MovedDown
	}
	v.Since = &Since{e.comparison.day(at.position), at.difference, test(at).interval(at.difference)}
}

// Adjust keeps a list's share of false moves at most 10 % with e-BH (Wang and Ramdas 2022, arXiv 2009.02824), under any
// dependence of its rows. A move that it takes back becomes WithinNoise, with the move in Unadjusted. The row of all
// answers is no row of a list.
func Adjust(rows []*Verdict) {
	byAll, byDays := ranking(rows, func(v *Verdict) *float64 { return v.EValue }),
		ranking(rows, func(v *Verdict) *float64 { return v.EDays })
	for _, v := range rows {
		if v.Moved() && (v.Reach == ReachBrand && *v.EValue < byAll || v.Reach == ReachPrompts && *v.EDays < byDays) {
			v.Verdict, v.Unadjusted = WithinNoise, v.Verdict
		}
	}
}

// ranking returns the least e-value that stands: the k-th largest of K, where k is the largest number with
// e ≥ K / (discoveryRate·k).
func ranking(rows []*Verdict, evidence func(*Verdict) *float64) (least float64) {
	var values []float64
	for _, v := range rows {
		if e := evidence(v); e != nil {
			values = append(values, *e)
		}
	}
	slices.SortFunc(values, func(a, b float64) int { return cmp.Compare(b, a) })
	least = maxEvidence * 2
	for i, e := range values {
		if e >= float64(len(values))/(discoveryRate*float64(i+1)) {
			least = e
		}
	}
	return least
}
