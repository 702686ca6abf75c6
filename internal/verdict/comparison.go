package verdict

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

// A compared cell has the answers of both sides and their points, by day since comparison.from.
type compared struct {
	*cell
	answers, points []float64
	weight, mean    float64 // all answers, and the mean of the means of both sides
}

// A cluster is prompts that may change together: a topic, or a prompt by itself.
type cluster struct {
	weight float64
	sums   []float64 // of its index before each position, and of all
	counts []int     // of the days in sums
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
	changed := b.changedModels(w, from, out)
	for _, cell := range cells {
		replaced := changed[platformModel{cell.platform, cell.model}] || changed[platformModel{cell.platform, anyModel}]
		c.add(cell, entity, low, out[cell.platform], replaced)
	}
	c.weigh()
	return c
}

// add adds a cell, whose days begin at low, unless it is left out.
func (c *comparison) add(cell *cell, entity string, low int, out []bool, replaced bool) {
	answers, points := make([]float64, len(out)), make([]float64, len(out))
	var runs, sides [2]float64
	for at := range out {
		side, n := c.side(at), cell.runs[low+at]
		c.runs[side] += n
		switch {
		case out[at]:
			c.remove(cell.platform, outage, side, n)
		case replaced:
			c.remove(cell.platform, model, side, n)
		default:
			runs[side] += n
			answers[at] = cell.answers[low+at]
			sides[side] += answers[at]
		}
	}
	if sides[before] == 0 || sides[after] == 0 {
		c.remove(cell.platform, basket, before, runs[before])
		c.remove(cell.platform, basket, after, runs[after])
		return
	}
	if list := cell.points[entity]; list != nil {
		for at, n := range answers {
			if n > 0 {
				points[at] = list[low+at]
			}
		}
	}
	c.cells = append(c.cells, compared{cell: cell, answers: answers, points: points})
}

func (c *comparison) side(at int) int {
	if at < c.daysBefore {
		return before
	}
	return after
}

// weigh leaves out days whose cells have under half of all answers, then cells that have answers on one side only.
func (c *comparison) weigh() {
	total := 0.0
	for i := range c.cells {
		c.cells[i].weight = sum(c.cells[i].answers)
		total += c.cells[i].weight
	}
	for at := 0; len(c.cells) > 0 && at < len(c.cells[0].answers); at++ {
		present := 0.0
		for _, cell := range c.cells {
			if cell.answers[at] > 0 {
				present += cell.weight
			}
		}
		if present >= total/2 {
			c.days = append(c.days, at)
			continue
		}
		for _, cell := range c.cells {
			cell.answers[at], cell.points[at] = 0, 0
		}
	}
	cells := c.cells[:0]
	for _, cell := range c.cells {
		b, a := sum(cell.answers[:c.daysBefore]), sum(cell.answers[c.daysBefore:])
		if b == 0 || a == 0 {
			continue
		}
		cell.weight = b + a
		cell.mean = (sum(cell.points[:c.daysBefore])/b + sum(cell.points[c.daysBefore:])/a) / 2
		c.weight += cell.weight
		c.level += cell.weight * cell.mean
		cells = append(cells, cell)
	}
	c.cells = cells
	c.level /= c.weight
}

// clusterOf returns a number for each cell: its topic's, or its prompt's if it has none or topics are too few.
func (c *comparison) clusterOf(byTopic bool) map[*cell]int {
	numbers, clusters := map[[2]string]int{}, map[*cell]int{}
	for _, cell := range c.cells {
		key := [2]string{cell.topic, ""}
		if !byTopic || cell.topic == "" {
			key = [2]string{"", cell.prompt}
		}
		if _, ok := numbers[key]; !ok {
			numbers[key] = len(numbers)
		}
		clusters[cell.cell] = numbers[key]
	}
	if byTopic && len(numbers) < minClusters {
		return c.clusterOf(false)
	}
	return clusters
}

// fill computes the index of all cells and of each cluster.
func (c *comparison) fill(clusterOf map[*cell]int) {
	for _, cell := range c.cells {
		for len(c.clusters) <= clusterOf[cell.cell] {
			c.clusters = append(c.clusters, cluster{sums: []float64{0}, counts: []int{0}})
		}
		c.clusters[clusterOf[cell.cell]].weight += cell.weight
	}
	days := c.days
	c.days = nil
	weights, differences := make([]float64, len(c.clusters)), make([]float64, len(c.clusters))
	for _, at := range days {
		clear(weights)
		clear(differences)
		for i := range c.cells {
			if cell := &c.cells[i]; cell.answers[at] > 0 {
				k := clusterOf[cell.cell]
				weights[k] += cell.weight
				differences[k] += cell.weight * (cell.points[at]/cell.answers[at] - cell.mean)
			}
		}
		weight := sum(weights)
		if weight == 0 {
			continue
		}
		for k := range c.clusters {
			c.clusters[k].add(weights[k], differences[k])
		}
		if at < c.daysBefore {
			c.split++
		}
		c.days = append(c.days, at)
		c.index = append(c.index, sum(differences)/weight)
	}
}

// add adds a day to a cluster: no value where its cells have no answers.
func (k *cluster) add(weight, difference float64) {
	value, last := 0.0, len(k.sums)-1
	count := k.counts[last]
	if weight > 0 {
		value = difference / weight
		count++
	}
	k.sums, k.counts = append(k.sums, k.sums[last]+value), append(k.counts, count)
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
	for _, k := range c.clusters {
		last := len(k.counts) - 1
		b, a := k.counts[position], k.counts[last]-k.counts[position]
		if b == 0 || a == 0 {
			continue
		}
		d := (k.sums[last]-k.sums[position])/float64(a) - k.sums[position]/float64(b)
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
