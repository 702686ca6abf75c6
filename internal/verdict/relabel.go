package verdict

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// The relabellings of a check change answers so that nothing moved: a move that the rule sees then is false.
const (
	NotRelabelled = "none"  // the answers as they came
	RelabelSigns  = "signs" // a random half of the clusters is turned over at the mean of each cell
	RelabelDays   = "days"  // whole days are in random order
)

// relabelSigns turns over the points of a random half of the clusters. Drift and jumps of prompts stay, what moves all
// of them cancels out. The rule leaves out outages and changed models as it always does.
func (b *Basket) relabelSigns(cells []*cell, entity string, random *rand.Rand) *Basket {
	clusters := clusterOf(cells, true)
	count := slices.Max(slices.Collect(maps.Values(clusters))) + 1
	turned := make([]bool, count)
	for _, k := range random.Perm(count)[:count/2] {
		turned[k] = true
	}
	out := outages(cells, 0, len(cells[0].answers))
	relabelled := *b
	relabelled.cells = nil
	for _, c := range cells {
		turn := *c
		if turned[clusters[c]] {
			turn.points = map[string][]float64{entity: c.turn(c.points[entity], out[c.platform])}
		}
		relabelled.cells = append(relabelled.cells, &turn)
	}
	return &relabelled
}

// turn returns the points turned over at their mean on the days without an outage.
func (c *cell) turn(points []float64, out []bool) []float64 {
	total, answers := 0.0, 0.0
	for at, p := range points {
		if !out[at] {
			total += p
			answers += c.answers[at]
		}
	}
	turned := make([]float64, len(points))
	for at, p := range points {
		if c.answers[at] > 0 && answers > 0 {
			turned[at] = 2*c.answers[at]*total/answers - p
		}
	}
	return turned
}

// relabelDays puts the days at some positions in random order, of all cells alike, outages too. What a platform does to
// all of its answers on a day stays, drift and jumps go. No model has changed: days of all models are mixed.
func (b *Basket) relabelDays(cells []*cell, entity string, days []int, random *rand.Rand) *Basket {
	order := slices.Clone(days)
	random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	shuffle := func(list []float64) []float64 {
		shuffled := slices.Clone(list)
		for i, at := range days {
			shuffled[at] = list[order[i]]
		}
		return shuffled
	}
	return &Basket{first: b.first, cells: rewritten(cells, entity, shuffle)}
}

// rewritten returns copies of the cells with f of their lists of days, for one entity.
func rewritten(cells []*cell, entity string, f func([]float64) []float64) (copies []*cell) {
	for _, c := range cells {
		copied := *c
		copied.runs, copied.givenUp, copied.answers = f(c.runs), f(c.givenUp), f(c.answers)
		copied.points = nil
		if points := c.points[entity]; points != nil {
			copied.points = map[string][]float64{entity: f(points)}
		}
		copies = append(copies, &copied)
	}
	return copies
}

// without returns the basket of cells without the runs from one day to another.
func (b *Basket) without(cells []*cell, entity string, from, to Day) *Basket {
	low, high := int(from-b.first), int(to-b.first)+1
	cut := func(list []float64) []float64 {
		list = slices.Clone(list)
		clear(list[low:high])
		return list
	}
	rest := *b
	rest.cells = rewritten(cells, entity, cut)
	rest.served = map[platformModel]map[string][]float64{}
	for key, models := range b.served {
		rest.served[key] = map[string][]float64{}
		for model, answers := range models {
			rest.served[key][model] = cut(answers)
		}
	}
	return &rest
}
