package verdict

import "math"

// A comparison has the paired index of a selection: by how many points the answers of a day differ from the mean of the
// same cells on both sides. Days without an index value are left out.
type comparison struct {
	selection
	days     []int // since selection.from
	split    int   // the position of the window's first day in days
	index    []float64
	clusters []cluster
	weight   float64 // answers
	level    float64 // mean points
	cells    []weighted
}

// A weighted cell has its number of answers on both sides, and the mean of the means of both sides.
type weighted struct {
	selected
	cluster      string
	weight, mean float64
}

// A cluster is prompts that may change together: a topic, or a prompt by itself.
type cluster struct {
	weight float64
	sums   []float64 // of the index before each position; the last is the sum of all
	counts []int     // of the days with an answer, likewise
}

// newComparison returns the index of a selection. Clusters are topics where there are enough, else prompts.
func newComparison(s selection) *comparison {
	c := &comparison{selection: s}
	for _, cell := range s.cells {
		if cell.answers != nil {
			c.cells = append(c.cells, weighted{selected: cell, cluster: "topic " + cell.topic})
			if last := &c.cells[len(c.cells)-1]; cell.topic == "" {
				last.cluster = "prompt " + cell.prompt
			}
		}
	}
	c.weigh()
	if !s.topics || c.count(func(w weighted) string { return w.cluster }) < minClusters {
		for i := range c.cells {
			c.cells[i].cluster = "prompt " + c.cells[i].prompt
		}
	}
	c.fill()
	return c
}

// earlierComparison returns the index of the current one's cells in an earlier window; nil where it has too few days.
func (b *Basket) earlierComparison(w Window, entity string, current *comparison) *comparison {
	var cells []*cell
	clusters := map[*cell]string{}
	for _, c := range current.cells {
		cells = append(cells, c.cell)
		clusters[c.cell] = c.cluster
	}
	e := comparison{selection: b.selectCells(w, entity, cells)}
	for _, c := range e.selection.cells {
		if c.answers != nil {
			e.cells = append(e.cells, weighted{selected: c, cluster: clusters[c.cell]})
		}
	}
	e.weigh()
	e.fill()
	if e.split < minDaysBefore || len(e.days)-e.split < minDaysAfter {
		return nil
	}
	return &e
}

// weigh decides which days and cells are compared: a day whose cells have under half of all answers is left out, then
// cells that have answers on one side only.
func (c *comparison) weigh() {
	if len(c.cells) == 0 {
		return
	}
	sum := func(list []float64) (total float64) {
		for _, n := range list {
			total += n
		}
		return total
	}
	total := 0.0
	for i := range c.cells {
		c.cells[i].weight = sum(c.cells[i].answers)
		total += c.cells[i].weight
	}
	for at := range c.cells[0].answers {
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
	both := c.cells[:0]
	for _, cell := range c.cells {
		s := c.daysBefore
		n := [2]float64{sum(cell.answers[:s]), sum(cell.answers[s:])}
		if n[before] > 0 && n[after] > 0 {
			cell.weight = n[before] + n[after]
			cell.mean = (sum(cell.points[:s])/n[before] + sum(cell.points[s:])/n[after]) / 2
			both = append(both, cell)
			c.weight += cell.weight
			c.level += cell.weight * cell.mean
		}
	}
	c.cells = both
	c.level /= c.weight
}

// fill computes the index of all cells and of each cluster.
func (c *comparison) fill() {
	names, clusters := map[string]int{}, []cluster{}
	for _, cell := range c.cells {
		if _, ok := names[cell.cluster]; !ok {
			names[cell.cluster] = len(clusters)
			clusters = append(clusters, cluster{sums: []float64{0}, counts: []int{0}})
		}
		clusters[names[cell.cluster]].weight += cell.weight
	}
	var days []int
	present, differences := make([]float64, len(clusters)), make([]float64, len(clusters))
	for _, at := range c.days {
		clear(present)
		clear(differences)
		for i := range c.cells {
			if cell := &c.cells[i]; cell.answers[at] > 0 {
				k := names[cell.cluster]
				present[k] += cell.weight
				differences[k] += cell.weight * (cell.points[at]/cell.answers[at] - cell.mean)
			}
		}
		weight, difference := 0.0, 0.0
		for k := range clusters {
			weight += present[k]
			difference += differences[k]
		}
		if weight == 0 {
			continue
		}
		for k := range clusters {
			value, counts := 0.0, &clusters[k].counts
			next := (*counts)[len(*counts)-1]
			if present[k] > 0 {
				value = differences[k] / present[k]
				next++
			}
			clusters[k].sums = append(clusters[k].sums, clusters[k].sums[len(clusters[k].sums)-1]+value)
			*counts = append(*counts, next)
		}
		if at < c.daysBefore {
			c.split++
		}
		days = append(days, at)
		c.index = append(c.index, difference/weight)
	}
	c.days, c.clusters = days, clusters
}

func (c *comparison) count(key func(weighted) string) int {
	keys := map[string]bool{}
	for _, cell := range c.cells {
		keys[key(cell)] = true
	}
	return len(keys)
}

func (c *comparison) prompts() int { return c.count(func(w weighted) string { return w.prompt }) }

// day returns the day at a position of the index.
func (c *comparison) day(position int) Day { return c.from + Day(c.days[position]) }

// position returns the first position of the index that is not before a day.
func (c *comparison) position(d Day) int {
	for i := range c.days {
		if c.day(i) >= d {
			return i
		}
	}
	return len(c.days)
}

// clusterVariance returns the variance of the difference at a position, if clusters change by themselves, and how many
// clusters have answers on both sides; 0 for fewer than two.
func (c *comparison) clusterVariance(position int) (variance float64, count int) {
	var weights, differences []float64
	total, mean := 0.0, 0.0
	for _, k := range c.clusters {
		last := len(k.counts) - 1
		n := [2]int{k.counts[position], k.counts[last] - k.counts[position]}
		if n[before] == 0 || n[after] == 0 {
			continue
		}
		d := (k.sums[last]-k.sums[position])/float64(n[after]) - k.sums[position]/float64(n[before])
		weights, differences = append(weights, k.weight), append(differences, d)
		total += k.weight
		mean += k.weight * d
	}
	count = len(weights)
	if count < 2 {
		return 0, count
	}
	mean /= total
	for i, d := range differences {
		variance += math.Pow(weights[i]/total*(d-mean), 2)
	}
	return variance * float64(count) / float64(count-1), count
}
