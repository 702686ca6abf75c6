package naive

import (
	"maps"
	"math/big"
	"slices"
	"strings"
)

// leftOut counts the runs of both windows, and the runs left out by reason: outage, model and basket.
type leftOut struct {
	runs [2]int
	out  [3][2]int

	platforms [3]map[string]bool
}

var reasons = []string{"outage", "model_changed", "basket_changed"}

// platformText lists the platforms of which runs were left out for a reason.
func (l leftOut) platformText(reason string) string {
	return strings.Join(slices.Sorted(maps.Keys(l.platforms[slices.Index(reasons, reason)])), ", ")
}

// share is the larger of both windows' shares.
func (l leftOut) share(reason int) float64 {
	f, _ := l.exact(reason).Float64()
	return f
}

func (l leftOut) exact(reason int) *big.Rat {
	largest := new(big.Rat)
	for side, runs := range l.runs {
		if runs == 0 {
			continue
		}
		if share := big.NewRat(int64(l.out[reason][side]), int64(runs)); share.Cmp(largest) > 0 {
			largest = share
		}
	}
	return largest
}

// verdict names the reason with the largest share if over half of a window is left out.
func (l leftOut) verdict() string {
	for side, runs := range l.runs {
		if 2*(l.out[0][side]+l.out[1][side]+l.out[2][side]) <= runs {
			continue
		}
		largest := 0
		for reason := range l.out {
			if l.exact(reason).Cmp(l.exact(largest)) > 0 {
				largest = reason
			}
		}
		return reasons[largest]
	}
	return ""
}

// A cell is a prompt asked of a platform, a requested model and a region.
type cell struct{ prompt, platform, model, region string }

func (r *Run) cell() cell { return cell{r.Prompt, r.Platform, r.Model, r.Region} }

// value is what divides runs into rows.
func (r *Run) value(dimension string) string {
	switch dimension {
	case "platform":
		return r.Platform
	case "topic":
		return r.Topic
	case "prompt":
		return r.Prompt
	}
	return ""
}

// comparable returns the row's runs that may be compared, and counts the others by the first reason that applies. all
// are the brand's runs, which show the models that answered.
func (w windows) comparable(row, all []*Run, changedDays map[string][]int) ([]*Run, leftOut) {
	type platformDay struct {
		platform string
		day      int
	}
	row = slices.DeleteFunc(slices.Clone(row), func(r *Run) bool { return !w.has(r) })
	count, lost := map[platformDay]int{}, map[platformDay]int{}
	for _, r := range row {
		count[platformDay{r.Platform, r.Day}]++
		if r.GivenUp {
			lost[platformDay{r.Platform, r.Day}]++
		}
	}
	outage := func(r *Run) bool {
		at := platformDay{r.Platform, r.Day}
		return 5*lost[at] > count[at]
	}
	row = slices.DeleteFunc(row, func(r *Run) bool { return r.NotShown })
	changed := w.modelChanges(slices.DeleteFunc(slices.Clone(all), outage))
	modelChanged := func(r *Run) bool {
		return changed[[2]string{r.Platform, r.Model}] ||
			slices.ContainsFunc(changedDays[r.Platform], func(day int) bool { return w.first <= day && day <= w.to })
	}
	answers := map[cell]*[2]int{}
	for _, r := range row {
		if answers[r.cell()] == nil {
			answers[r.cell()] = new([2]int)
		}
		if !r.GivenUp && !outage(r) && !modelChanged(r) {
			answers[r.cell()][w.side(r.Day)]++
		}
	}
	var kept []*Run
	out := leftOut{platforms: [3]map[string]bool{{}, {}, {}}}
	for _, r := range row {
		side, reason := w.side(r.Day), 0
		out.runs[side]++
		switch {
		case outage(r):
		case modelChanged(r):
			reason = 1
		case answers[r.cell()][0] == 0 || answers[r.cell()][1] == 0:
			reason = 2
		default:
			kept = append(kept, r)
			continue
		}
		out.out[reason][side]++
		out.platforms[reason][r.Platform] = true
	}
	return kept, out
}

// modelChanges finds the platforms and requested models of which another mixture of models answered.
func (w windows) modelChanges(runs []*Run) map[[2]string]bool {
	served := map[[2]string]map[string]*[2]int64{}
	total := map[[2]string]*[2]int64{}
	for _, r := range runs {
		if !w.has(r) || r.GivenUp || r.NotShown || r.Served == "" {
			continue
		}
		key := [2]string{r.Platform, r.Model}
		if served[key] == nil {
			served[key], total[key] = map[string]*[2]int64{}, new([2]int64)
		}
		if served[key][r.Served] == nil {
			served[key][r.Served] = new([2]int64)
		}
		served[key][r.Served][w.side(r.Day)]++
		total[key][w.side(r.Day)]++
	}
	changed := map[[2]string]bool{}
	for key, models := range served {
		if total[key][0] == 0 || total[key][1] == 0 {
			continue
		}
		moved := new(big.Rat)
		for _, n := range models {
			d := new(big.Rat).Sub(big.NewRat(n[1], total[key][1]), big.NewRat(n[0], total[key][0]))
			moved.Add(moved, d.Abs(d))
		}
		changed[key] = moved.Cmp(big.NewRat(4, 10)) > 0
	}
	return changed
}
