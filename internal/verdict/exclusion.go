package verdict

import (
	"slices"
	"strings"
)

const (
	before = 0 // the side of the days before the window
	after  = 1 // the side of the window
)

// The reasons that take runs out of a comparison, since the sides would differ for another cause. A run counts for the
// first that applies.
const (
	outage  = iota // the platform gave up over a fifth of the day's runs
	model          // the platform serves another model
	basket         // the cell has answers on one side only
	reasons        // how many there are
)

var reasonVerdicts = [reasons]string{Outage, ModelChanged, BasketChanged}

// An exclusion counts the runs of both sides, and which were left out.
type exclusion struct {
	runs      [2]float64
	removed   [2][reasons]float64
	platforms [reasons][]string
}

func (e *exclusion) remove(platform string, reason, side int, runs float64) {
	if runs > 0 {
		e.removed[side][reason] += runs
		e.platforms[reason] = append(e.platforms[reason], platform)
	}
}

func (e *exclusion) removeAll(platform string, reason int, runs [2]float64) {
	e.remove(platform, reason, before, runs[before])
	e.remove(platform, reason, after, runs[after])
}

// shares returns the share of the runs that each reason takes, of both sides the larger.
func (e *exclusion) shares() (shares [reasons]float64) {
	for side, runs := range e.runs {
		for reason, removed := range e.removed[side] {
			if removed > 0 {
				shares[reason] = max(shares[reason], removed/runs)
			}
		}
	}
	return shares
}

// verdict returns the reason that takes the most runs, and its platforms as text, if over half of a side are left out;
// else "".
func (e *exclusion) verdict() (verdict, platforms string) {
	shares, largest := e.shares(), outage
	for reason, share := range shares {
		if share > shares[largest] {
			largest = reason
		}
	}
	for side, runs := range e.runs {
		removed := e.removed[side]
		if 2*(removed[outage]+removed[model]+removed[basket]) > runs {
			names := e.platforms[largest]
			slices.Sort(names)
			return reasonVerdicts[largest], strings.Join(slices.Compact(names), ", ")
		}
	}
	return "", ""
}

// outages returns, by platform, the days from low to high on which over a fifth of the cells' runs were given up.
func outages(cells []*cell, low, high int) map[string][]bool {
	balances, out := map[string][]float64{}, map[string][]bool{} // 5 · given up − runs
	for _, c := range cells {
		days := balances[c.platform]
		if days == nil {
			days = make([]float64, high-low)
			balances[c.platform] = days
		}
		for at := range days {
			days[at] += 5*c.givenUp[low+at] - c.runs[low+at]
		}
	}
	for platform, days := range balances {
		out[platform] = make([]bool, len(days))
		for at, balance := range days {
			out[platform][at] = balance > 0
		}
	}
	return out
}

// A platformModel is a requested model of a platform.
type platformModel struct{ platform, model string }

// servedByDay returns, by requested model, the answers of each served model by day since first.
func servedByDay(rows []Served, first Day, days int) map[platformModel]map[string][]float64 {
	served := map[platformModel]map[string][]float64{}
	for _, row := range rows {
		key, at := platformModel{row.Platform, row.Model}, int(Day(row.Day)-first)
		if at < 0 || at >= days {
			continue
		}
		if served[key] == nil {
			served[key] = map[string][]float64{}
		}
		if served[key][row.ServedModel] == nil {
			served[key][row.ServedModel] = make([]float64, days)
		}
		served[key][row.ServedModel][at] += float64(row.Answers)
	}
	return served
}

// modelChanged reports whether a platform serves other models for a requested one in the window than before, or changed
// as a whole. out has its outages by day since low; days of an outage do not count.
func (b *Basket) modelChanged(key platformModel, w Window, low, daysBefore int, out []bool) bool {
	if slices.ContainsFunc(b.changed[key.platform], func(d Day) bool { return d >= w.First() && d <= w.To }) {
		return true
	}
	var counts [][2]float64
	var total [2]float64
	for _, answers := range b.served[key] {
		var count [2]float64
		for at, isOut := range out {
			side := before
			if at >= daysBefore {
				side = after
			}
			if !isOut {
				count[side] += answers[low+at]
			}
		}
		counts = append(counts, count)
		total[before], total[after] = total[before]+count[before], total[after]+count[after]
	}
	gained := 0.0 // what some models gain, others lose
	for _, count := range counts {
		gained += max(0, count[after]/total[after]-count[before]/total[before])
	}
	return total[before] > 0 && total[after] > 0 && gained > modelShift+1e-9
}
