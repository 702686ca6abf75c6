package verdict

import "slices"

// A comparison has the paired index of a row: by how many points the answers of a day differ from the mean of the same
// cells on both sides. Days without an index value are left out.
type comparison struct {
	exclusion
	window     Window
	from       Day // the first of the days before
	daysBefore int // how many there are, as the days of cells count
	cells      []compared
	days       []int // with an index value, since from
	split      int   // the position of the window's first day in days
	index      []float64
	clusters   []cluster
	weight     float64 // answers
	level      float64 // mean points
}

// A compared cell has the answers of both sides and their points, by day since comparison.from, of which
// comparison.days count.
type compared struct {
	*cell
	answers, points []float64
	weight, mean    float64 // all answers, and the mean of the means of both sides
}

// A cluster is prompts that may change together: a topic, or a prompt by itself.
type cluster struct {
	weight float64
	sums   []float64 // of its index before each position, and of all
	counts []float64 // of the days in sums
}

// compare leaves out what cannot be compared of a row's cells, and weighs the others.
func (b *Basket) compare(w Window, entity string, cells []*cell) *comparison {
	from := max(w.First(), b.first) // the basket may begin later
	c := &comparison{window: w, from: from, daysBefore: max(0, int(w.From-from))}
	low, high := int(from-b.first), int(w.To-b.first)+1
	if low >= high {
		return c
	}
	out := outages(cells, low, high)
	changed := map[platformModel]bool{}
	c.cells = make([]compared, 0, len(cells))
	for _, cell := range cells {
		key, days := platformModel{cell.platform, cell.model}, out[cell.platform]
		if _, ok := changed[key]; !ok {
			changed[key] = b.modelChanged(key, w, low, c.daysBefore, days)
		}
		c.add(cell, entity, low, days, changed[key])
	}
	c.weigh()
	return c
}

// add adds a cell, whose days begin at low, unless it is left out.
func (c *comparison) add(cell *cell, entity string, low int, out []bool, replaced bool) {
	answers, points := cell.answers[low:low+len(out)], cell.points[entity]
	if slices.Contains(out, true) {
		answers = slices.Clone(answers)
	}
	var rest, sides [2]float64 // of runs, and of answers
	for side, days := range [2][2]int{{0, c.daysBefore}, {c.daysBefore, len(out)}} {
		runs, left, sum := 0.0, 0.0, 0.0
		for at := days[0]; at < days[1]; at++ {
			n := cell.answers[low+at] + cell.givenUp[low+at] // an observation without an answer is not compared
			runs += n
			if out[at] {
				left += n
				answers[at] = 0
			}
			sum += answers[at]
		}
		c.runs[side] += runs
		c.remove(cell.platform, outage, side, left)
		rest[side], sides[side] = runs-left, sum
	}
	switch {
	case replaced:
		c.removeAll(cell.platform, model, rest)
	case sides[before] == 0 || sides[after] == 0:
		c.removeAll(cell.platform, basket, rest)
	default:
		if points == nil {
			points = make([]float64, len(cell.answers))
		}
		c.cells = append(c.cells, compared{cell: cell, answers: answers, points: points[low : low+len(out)]})
	}
}

// weigh leaves out days whose cells have under half of all answers, then cells that have answers on one side only.
func (c *comparison) weigh() {
	total, present := 0.0, make([]float64, c.window.To-c.from+1)
	for _, cell := range c.cells {
		weight := sum(cell.answers)
		total += weight
		for at, n := range cell.answers {
			if n > 0 {
				present[at] += weight
			}
		}
	}
	for at, weight := range present {
		if weight > 0 && weight >= total/2 {
			c.days = append(c.days, at)
		}
	}
	split := c.position(c.window.From)
	cells := c.cells[:0]
	for _, cell := range c.cells {
		b, pointsBefore := cell.sums(c.days[:split])
		a, pointsAfter := cell.sums(c.days[split:])
		if b == 0 || a == 0 {
			continue
		}
		cell.weight = b + a
		cell.mean = (pointsBefore/b + pointsAfter/a) / 2
		c.weight += cell.weight
		c.level += cell.weight * cell.mean
		cells = append(cells, cell)
	}
	c.cells = cells
	c.level /= c.weight
}

// sums returns the answers and points of days.
func (c *compared) sums(days []int) (answers, points float64) {
	for _, at := range days {
		if n := c.answers[at]; n > 0 {
			answers += n
			points += c.points[at]
		}
	}
	return answers, points
}

// clusterOf returns a number for each cell: its topic's, or its prompt's if it has none or topics are too few.
func clusterOf(cells []*cell, byTopic bool) map[*cell]int {
	numbers, clusters := map[[2]string]int{}, map[*cell]int{}
	for _, cell := range cells {
		key := [2]string{cell.topic, ""}
		if !byTopic || cell.topic == "" {
			key = [2]string{"", cell.prompt}
		}
		if _, ok := numbers[key]; !ok {
			numbers[key] = len(numbers)
		}
		clusters[cell] = numbers[key]
	}
	if byTopic && len(numbers) < minClusters {
		return clusterOf(cells, false)
	}
	return clusters
}

// fill computes the index of all cells and of each cluster.
func (c *comparison) fill(clusters map[*cell]int) {
	days, all := c.days, newCluster(len(c.days))
	for i := range c.cells {
		k := clusters[c.cells[i].cell]
		for len(c.clusters) <= k {
			c.clusters = append(c.clusters, newCluster(len(days)))
		}
		c.clusters[k].add(&c.cells[i], days)
	}
	for _, k := range c.clusters {
		for i, weight := range k.counts {
			all.counts[i] += weight
			all.sums[i] += k.sums[i]
		}
	}
	c.days, c.index = make([]int, 0, len(days)), make([]float64, 0, len(days))
	for i, weight := range all.counts[1:] {
		if weight > 0 {
			c.days, c.index = append(c.days, days[i]), append(c.index, all.sums[i+1]/weight)
		}
	}
	c.split = c.position(c.window.From)
	for k := range c.clusters {
		c.clusters[k].sumUp(all.counts)
	}
}

// newCluster returns a cluster without answers on any of the days.
func newCluster(days int) cluster {
	list := make([]float64, 2*(days+1))
	return cluster{sums: list[:days+1], counts: list[days+1:]}
}

// add adds a cell's weighted differences from its mean to sums, and its weight to counts, after each of the days.
func (k *cluster) add(c *compared, days []int) {
	k.weight += c.weight
	for i, at := range days {
		if n := c.answers[at]; n > 0 {
			k.sums[i+1] += c.weight * (c.points[at]/n - c.mean)
			k.counts[i+1] += c.weight
		}
	}
}

// sumUp turns what add has left at each day into the sum and the count after its position. Days without weight in all
// clusters have no position.
func (k *cluster) sumUp(weights []float64) {
	sum, count, position := 0.0, 0.0, 0
	for i, weight := range weights[1:] {
		if weight == 0 {
			continue
		}
		if k.counts[i+1] > 0 {
			sum += k.sums[i+1] / k.counts[i+1]
			count++
		}
		position++
		k.sums[position], k.counts[position] = sum, count
	}
}

func sum(list []float64) (total float64) {
	for _, x := range list {
		total += x
	}
	return total
}

// basis returns the cells that are compared.
func (c *comparison) basis() (cells []*cell) {
	for _, compared := range c.cells {
		cells = append(cells, compared.cell)
	}
	return cells
}

func (c *comparison) prompts() int {
	prompts := map[string]bool{}
	for _, cell := range c.cells {
		prompts[cell.prompt] = true
	}
	return len(prompts)
}

func (c *comparison) day(position int) Day { return c.from + Day(c.days[position]) }

// position returns the position of the first day of the index that is not before a day.
func (c *comparison) position(d Day) int {
	position := 0
	for position < len(c.days) && c.day(position) < d {
		position++
	}
	return position
}

func (c *comparison) enoughDays() bool {
	return c.split >= minDaysBefore && len(c.days)-c.split >= minDaysAfter
}

// clusterVariance returns the variance of the difference at a position if clusters change by themselves, and the number
// of clusters that have answers on both sides. The variance is 0 under two.
func (c *comparison) clusterVariance(position int) (variance float64, count int) {
	var squares, weighted, means, total float64 // sums of W², W²·d, W·d and W
	var products float64                        // sum of W²·d²
	last := len(c.days)
	for _, k := range c.clusters {
		b, a := k.counts[position], k.counts[last]-k.counts[position]
		if b == 0 || a == 0 {
			continue
		}
		d := (k.sums[last]-k.sums[position])/a - k.sums[position]/b
		total += k.weight
		means += k.weight * d
		squares += k.weight * k.weight
		weighted += k.weight * k.weight * d
		products += k.weight * k.weight * d * d
		count++
	}
	if count < 2 {
		return 0, count
	}
	mean, n := means/total, float64(count)
	return max(0, products-2*mean*weighted+mean*mean*squares) / (total * total) * n / (n - 1), count
}
