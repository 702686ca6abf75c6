package verdict

import (
	"maps"
	"slices"
)

// A Cell has the daily sums of a brand or competitor over the runs of a prompt, platform, requested model, region and
// topic (the one when it was asked). The lists are parallel to Days, in any order of days. Runs, GivenUp and Answers are
// the brand's: a competitor's cell has Points alone, and is measured over the answers of the brand's.
type Cell struct {
	EntityID, PromptID, TopicID string // TopicID "": none
	Platform, Model, Region     string
	Days                        []uint16 // since 1970-01-01, as ClickHouse's Date
	Runs, GivenUp, Answers      []int64
	Points                      []float64 // sum over the answers, each 0 to 100
}

// Served counts the answers by which a platform served a model for a requested one on a day.
type Served struct {
	Platform, Model, ServedModel string
	Day                          uint16
	Answers                      int64
}

// A Basket holds the cells of a brand and its competitors, from which rows are judged.
type Basket struct {
	first     Day // of all lists
	cells     []*cell
	topics    []*cell // the cells by the topic when it was asked
	served    []Served
	platforms map[string][]Day // on which a platform changed
}

// A cell has the sums of a Cell by day since Basket.first.
type cell struct {
	prompt, topic, platform, model string
	newest                         uint16
	runs, givenUp, answers         []float64
	points                         map[string][]float64 // by entity
}

// NewBasket returns the basket of the brand's cells and of its competitors. Cells outside first to last are
// ignored. served has the answers that name the model that served them; changed has the days on which platforms changed
// as a whole.
func NewBasket(first, last Day, cells []Cell, served []Served, changed map[string][]Day) *Basket {
	b := &Basket{first: first, served: served, platforms: changed}
	days := int(last-first) + 1
	all, byTopic := map[[4]string]*cell{}, map[[5]string]*cell{}
	for _, row := range cells {
		key := [4]string{row.PromptID, row.Platform, row.Model, row.Region}
		topicKey := [5]string{row.PromptID, row.Platform, row.Model, row.Region, row.TopicID}
		if all[key] == nil {
			all[key] = newCell(row, days)
			b.cells = append(b.cells, all[key])
		}
		if byTopic[topicKey] == nil {
			byTopic[topicKey] = newCell(row, days)
			b.topics = append(b.topics, byTopic[topicKey])
		}
		all[key].add(row, first)
		byTopic[topicKey].add(row, first)
	}
	return b
}

func newCell(row Cell, days int) *cell {
	return &cell{prompt: row.PromptID, platform: row.Platform, model: row.Model, points: map[string][]float64{},
		runs: make([]float64, days), givenUp: make([]float64, days), answers: make([]float64, days)}
}

// add adds the sums of a row. The newest day decides the topic.
func (c *cell) add(row Cell, first Day) {
	points := c.points[row.EntityID]
	if points == nil {
		points = make([]float64, len(c.runs))
		c.points[row.EntityID] = points
	}
	for i, day := range row.Days {
		at := int(Day(day) - first)
		if at < 0 || at >= len(points) {
			continue
		}
		points[at] += row.Points[i]
		if len(row.Runs) == 0 {
			continue
		}
		c.runs[at] += float64(row.Runs[i])
		c.givenUp[at] += float64(row.GivenUp[i])
		c.answers[at] += float64(row.Answers[i])
		if day >= c.newest {
			c.topic, c.newest = row.TopicID, day
		}
	}
}

// Keys returns the values that a dimension has, sorted.
func (b *Basket) Keys(d Dimension) []string {
	keys := map[string]bool{}
	for _, c := range b.dimensionCells(d) {
		if key := c.key(d); key != "" {
			keys[key] = true
		}
	}
	return slices.Sorted(maps.Keys(keys))
}

func (b *Basket) dimensionCells(d Dimension) []*cell {
	if d == ByTopic {
		return b.topics
	}
	return b.cells
}

func (c *cell) key(d Dimension) string {
	switch d {
	case ByPlatform:
		return c.platform
	case ByTopic:
		return c.topic
	case ByPrompt:
		return c.prompt
	}
	return ""
}

const (
	before = 0 // the side of CompareDays
	after  = 1 // the side of the window
)

// A reason takes runs out of a comparison. Runs to which several apply count for the first.
type reason int

const (
	outage reason = iota
	model
	basket
	reasons // how many there are
)

// A selection is the runs of a row that are compared, by cell.
type selection struct {
	window     Window
	from       Day // the first of the days before
	daysBefore int // how many there are before the window
	cells      []selected
	topics     bool // clusters are topics, where there are enough
	runs       [2]float64
	removed    [2][reasons]float64
}

// A selected cell has the answers that are compared, by day since selection.from; without any it is left out.
type selected struct {
	*cell
	answers, points []float64
	left            [reasons]float64 // runs of both sides
}

// selection takes the runs of a row and leaves out those that would make the windows differ for another reason.
func (b *Basket) selection(w Window, r Row) selection {
	var cells []*cell
	for _, c := range b.dimensionCells(r.Dimension) {
		if c.key(r.Dimension) == r.Key {
			cells = append(cells, c)
		}
	}
	s := b.selectCells(w, r.Entity, cells)
	s.topics = r.Dimension != ByTopic
	return s
}

func (b *Basket) selectCells(w Window, entity string, cells []*cell) selection {
	// The basket may begin later than the days before, and never ends earlier than the window.
	from := max(w.First(), b.first)
	s := selection{window: w, from: from, daysBefore: max(0, int(w.From-from))}
	low, high := int(from-b.first), int(w.To-b.first)+1
	if high <= low {
		return s
	}
	out := outages(cells, low, high)
	changed := b.changedModels(w, out)
	for _, c := range cells {
		choice := selected{cell: c}
		answers, points := make([]float64, high-low), make([]float64, high-low)
		var sides [2]float64
		replaced := changed[platformModel{c.platform, c.model}]
		entityPoints := c.points[entity]
		var runs [2]float64
		for at := range answers {
			side := s.side(at)
			n := c.runs[low+at]
			s.runs[side] += n
			switch {
			case out[c.platform][at]:
				s.leave(&choice, outage, side, n)
			case replaced:
				s.leave(&choice, model, side, n)
			default:
				runs[side] += n
				answers[at] = c.answers[low+at]
				sides[side] += answers[at]
				if entityPoints != nil {
					points[at] = entityPoints[low+at]
				}
			}
		}
		if sides[before] == 0 || sides[after] == 0 {
			s.leave(&choice, basket, before, runs[before])
			s.leave(&choice, basket, after, runs[after])
		} else {
			choice.answers, choice.points = answers, points
		}
		s.cells = append(s.cells, choice)
	}
	return s
}

func (s *selection) leave(c *selected, r reason, side int, runs float64) {
	s.removed[side][r] += runs
	c.left[r] += runs
}

func (s *selection) side(at int) int {
	if at < s.daysBefore {
		return before
	}
	return after
}

// outages returns, by platform, the days on which over a fifth of the runs were given up.
func outages(cells []*cell, low, high int) map[string][]bool {
	type sums struct{ runs, givenUp []float64 }
	platforms := map[string]sums{}
	for _, c := range cells {
		p, ok := platforms[c.platform]
		if !ok {
			p = sums{make([]float64, high-low), make([]float64, high-low)}
			platforms[c.platform] = p
		}
		for at := range p.runs {
			p.runs[at] += c.runs[low+at]
			p.givenUp[at] += c.givenUp[low+at]
		}
	}
	out := map[string][]bool{}
	for platform, p := range platforms {
		out[platform] = make([]bool, high-low)
		for at := range p.runs {
			out[platform][at] = 5*p.givenUp[at] > p.runs[at]
		}
	}
	return out
}

type platformModel struct{ platform, model string }

// changedModels returns the platforms and requested models whose answers before and after come from different models.
func (b *Basket) changedModels(w Window, out map[string][]bool) map[platformModel]bool {
	from := max(w.First(), b.first)
	shares, totals := map[platformModel]map[string][2]float64{}, map[platformModel][2]float64{}
	for _, row := range b.served {
		at := int(Day(row.Day) - from)
		if at < 0 || Day(row.Day) > w.To || out[row.Platform] == nil || out[row.Platform][at] {
			continue
		}
		side, key := before, platformModel{row.Platform, row.Model}
		if Day(row.Day) >= w.From {
			side = after
		}
		if shares[key] == nil {
			shares[key] = map[string][2]float64{}
		}
		counts, total := shares[key][row.ServedModel], totals[key]
		counts[side] += float64(row.Answers)
		total[side] += float64(row.Answers)
		shares[key][row.ServedModel], totals[key] = counts, total
	}
	changed := map[platformModel]bool{}
	for key, models := range shares {
		total, distance := totals[key], 0.0
		if total[before] == 0 || total[after] == 0 {
			continue
		}
		for _, counts := range models {
			distance += max(0, counts[after]/total[after]-counts[before]/total[before])
		}
		changed[key] = distance > modelShift+1e-9
	}
	for _, c := range b.cells {
		for _, day := range b.platforms[c.platform] {
			if day >= w.First() && day <= w.To {
				changed[platformModel{c.platform, c.model}] = true
			}
		}
	}
	return changed
}

// leftOut returns the share of the runs that each reason takes, of both sides the larger.
func (s selection) leftOut() LeftOut {
	share := func(r reason) (larger float64) {
		for side, runs := range s.runs {
			if runs > 0 {
				larger = max(larger, s.removed[side][r]/runs)
			}
		}
		return larger
	}
	return LeftOut{share(outage), share(model), share(basket)}
}

// majorReason returns the reason that takes the most runs, and whether the reasons take over half of a side.
func (s selection) majorReason() (major reason, over bool) {
	left := s.leftOut()
	for r, share := range [reasons]float64{left.Outage, left.ModelChanged, left.BasketChanged} {
		if share > [reasons]float64{left.Outage, left.ModelChanged, left.BasketChanged}[major] {
			major = reason(r)
		}
	}
	for side, runs := range s.runs {
		sum := 0.0
		for _, removed := range s.removed[side] {
			sum += removed
		}
		over = over || 2*sum > runs
	}
	return major, over
}
