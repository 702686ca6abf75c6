package verdict

import (
	"maps"
	"slices"
	"sync"
)

// A Cell has the daily sums of a brand or competitor over the runs of a prompt, platform, requested model, region and
// topic (the one when it was asked). The lists are parallel to Days, in any order of days. Runs, GivenUp and Answers
// are the brand's: a competitor's cell has Points alone, and is measured over the answers of the brand's. Runs whose
// surface had no answer are in Runs alone: they show that the platform was there.
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
	first   Day // of the lists of cells
	cells   []*cell
	topics  func() []*cell                         // the cells, also divided by the topic when they were asked
	served  map[platformModel]map[string][]float64 // answers by served model and day
	changed map[string][]Day                       // by platform
}

// A cell has the sums of a Cell by day since Basket.first.
type cell struct {
	prompt, topic, platform, model string
	runs, givenUp, answers         []float64
	points                         map[string][]float64 // by entity
}

// NewBasket returns the basket of the brand's cells and of its competitors. Days before first and after last are
// ignored. served has the answers that name the model that served them.
func NewBasket(first, last Day, cells []Cell, served []Served) *Basket {
	days := int(last-first) + 1
	return &Basket{first, merge(cells, first, days, newestTopics(cells, first, days)),
		sync.OnceValue(func() []*cell { return merge(cells, first, days, nil) }), // few requests need them
		servedByDay(served, first, days), map[string][]Day{}}
}

// AddPlatformChange adds a day on which a platform changed as a whole: windows with that day leave the platform out.
func (b *Basket) AddPlatformChange(platform string, day Day) {
	b.changed[platform] = append(b.changed[platform], day)
}

// newestTopics returns the topic of each prompt when it was last asked, of several on one day the greatest id.
func newestTopics(rows []Cell, first Day, days int) map[string]string {
	topics, newest, runs := map[string]string{}, map[string]int{}, make([]int64, days)
	for _, row := range rows {
		clear(runs)
		for i, n := range row.Runs {
			if at := int(Day(row.Days[i]) - first); at >= 0 && at < days {
				runs[at] += n
			}
		}
		last := days - 1
		for last >= 0 && runs[last] <= 0 { // an answer that was taken back leaves 0
			last--
		}
		before, seen := newest[row.PromptID]
		if last >= 0 && (!seen || last > before || last == before && row.TopicID > topics[row.PromptID]) {
			topics[row.PromptID], newest[row.PromptID] = row.TopicID, last
		}
	}
	return topics
}

// merge adds up the cells of a prompt, platform, model and region; without topics, also of a topic.
func merge(rows []Cell, first Day, days int, topics map[string]string) (cells []*cell) {
	byKey := map[[5]string]*cell{}
	for _, row := range rows {
		key := [5]string{row.PromptID, row.Platform, row.Model, row.Region, row.TopicID}
		if topics != nil {
			key[4] = topics[row.PromptID]
		}
		c := byKey[key]
		if c == nil {
			c = &cell{prompt: row.PromptID, topic: key[4], platform: row.Platform, model: row.Model,
				runs: make([]float64, days), givenUp: make([]float64, days), answers: make([]float64, days),
				points: map[string][]float64{}}
			byKey[key], cells = c, append(cells, c)
		}
		c.add(row, first)
	}
	return cells
}

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
	}
}

// Keys returns the values of a dimension that have runs, sorted, without "".
func (b *Basket) Keys(d Dimension) []string {
	keys := map[string]bool{}
	for _, c := range b.dividedBy(d) {
		if slices.ContainsFunc(c.runs, func(n float64) bool { return n > 0 }) {
			keys[c.key(d)] = true
		}
	}
	delete(keys, "")
	return slices.Sorted(maps.Keys(keys))
}

func (b *Basket) dividedBy(d Dimension) []*cell {
	if d == ByTopic {
		return b.topics()
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

// row returns the cells of a row.
func (b *Basket) row(r Row) (cells []*cell) {
	for _, c := range b.dividedBy(r.Dimension) {
		if c.key(r.Dimension) == r.Key {
			cells = append(cells, c)
		}
	}
	return cells
}
