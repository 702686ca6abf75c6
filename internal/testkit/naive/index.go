package naive

import (
	"cmp"
	"maps"
	"slices"
)

// topics are the topics of the prompts when they were last asked.
func topics(runs []*Run) map[string]string {
	last, topic := map[string]int{}, map[string]string{}
	for _, r := range runs {
		if day, asked := last[r.Prompt]; !asked || r.Day > day || r.Day == day && r.Topic > topic[r.Prompt] {
			last[r.Prompt], topic[r.Prompt] = r.Day, r.Topic
		}
	}
	return topic
}

// An index compares each cell with itself: its answers by day, its weight, and the middle of its two windows.
type index struct {
	windows
	sums   map[cell]map[int]sum
	weight map[cell]float64
	middle map[cell]float64
}

// A sum adds up the points of answers.
type sum struct{ answers, points float64 }

func (s sum) plus(other sum) sum { return sum{s.answers + other.answers, s.points + other.points} }

// index makes the index of runs: without thin days, and without cells that then have answers on one side only.
func (w windows) index(runs []*Run, entity string) index {
	ix := index{w, map[cell]map[int]sum{}, map[cell]float64{}, map[cell]float64{}}
	for _, r := range runs {
		if r.GivenUp {
			continue
		}
		if ix.sums[r.cell()] == nil {
			ix.sums[r.cell()] = map[int]sum{}
		}
		ix.sums[r.cell()][r.Day] = ix.sums[r.cell()][r.Day].plus(sum{1, r.Points[entity]})
	}
	ix.weigh()
	whole := ix.whole()
	for _, day := range ix.days() {
		there := 0.0
		for c, sums := range ix.sums {
			if _, answered := sums[day]; answered {
				there += ix.weight[c] // a whole number
			}
		}
		if 2*there < whole {
			for c := range ix.sums {
				delete(ix.sums[c], day)
			}
		}
	}
	for _, c := range ix.cells() {
		before, after := ix.total(c, 0), ix.total(c, 1)
		if before.answers == 0 || after.answers == 0 {
			delete(ix.sums, c)
			continue
		}
		ix.middle[c] = (before.points/before.answers + after.points/after.answers) / 2
	}
	ix.weigh()
	return ix
}

func (ix index) weigh() {
	clear(ix.weight)
	for c := range ix.sums {
		ix.weight[c] = ix.total(c, 0).answers + ix.total(c, 1).answers
	}
}

// total adds up a cell's answers on a side.
func (ix index) total(c cell, side int) (total sum) {
	for _, day := range slices.Sorted(maps.Keys(ix.sums[c])) {
		if ix.side(day) == side {
			total = total.plus(ix.sums[c][day])
		}
	}
	return total
}

// whole is the weight of all cells.
func (ix index) whole() (weight float64) {
	for _, w := range ix.weight {
		weight += w
	}
	return weight
}

// cells are in order, so that sums of fractions come out the same each time.
func (ix index) cells() []cell {
	return slices.SortedFunc(maps.Keys(ix.sums), func(a, b cell) int {
		return cmp.Or(cmp.Compare(a.prompt, b.prompt), cmp.Compare(a.platform, b.platform), cmp.Compare(a.model, b.model), cmp.Compare(a.region, b.region))
	})
}

func (ix index) days() []int {
	there := map[int]bool{}
	for _, days := range ix.sums {
		for day := range days {
			there[day] = true
		}
	}
	return slices.Sorted(maps.Keys(there))
}

func (ix index) daysOfSides() (before, after int) {
	for _, day := range ix.days() {
		if ix.side(day) == 0 {
			before++
		} else {
			after++
		}
	}
	return before, after
}

func (ix index) prompts() int {
	prompts := map[string]bool{}
	for c := range ix.sums {
		prompts[c.prompt] = true
	}
	return len(prompts)
}

// level is the mean of the cells' middles.
func (ix index) level() float64 {
	level := 0.0
	for _, c := range ix.cells() {
		level += ix.weight[c] * ix.middle[c]
	}
	return level / ix.whole()
}

// A point is the index on a day.
type point struct {
	day   int
	value float64
}

// points are the index over some cells, on the days on which they have answers.
func (ix index) points(among func(cell) bool) (points []point) {
	weight, off := map[int]float64{}, map[int]float64{}
	for _, c := range ix.cells() {
		for day, s := range ix.sums[c] {
			if among(c) {
				weight[day] += ix.weight[c]
				off[day] += ix.weight[c] * (s.points/s.answers - ix.middle[c])
			}
		}
	}
	for _, day := range slices.Sorted(maps.Keys(off)) {
		points = append(points, point{day, off[day] / weight[day]})
	}
	return points
}

// clusters are the topics of prompts, or the prompts where that makes under five, and in a row of one topic.
func (ix index) clusters(topics map[string]string, oneTopic bool) map[cell]string {
	byTopic, byPrompt, count := map[cell]string{}, map[cell]string{}, map[string]bool{}
	for c := range ix.sums {
		byPrompt[c], byTopic[c] = "prompt "+c.prompt, "prompt "+c.prompt
		if topics[c.prompt] != "" {
			byTopic[c] = "topic " + topics[c.prompt]
		}
		count[byTopic[c]] = true
	}
	if oneTopic || len(count) < 5 {
		return byPrompt
	}
	return byTopic
}

// means are those of the points before a day and from it on, and their numbers.
func means(points []point, day int) (before, after, b, a float64) {
	for _, p := range points {
		if p.day < day {
			before += p.value
			b++
		} else {
			after += p.value
			a++
		}
	}
	return before / b, after / a, b, a
}
