package verdict_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/answerscope/answerscope/internal/testkit/naive"
	"github.com/answerscope/answerscope/internal/verdict"
)

// A sample is a basket as its runs, and the window that is asked about.
type sample struct {
	runs     []*naive.Run
	entities []string // the brand first
	window   verdict.Window
	changed  map[string][]int
}

func (s sample) question(row verdict.Row) naive.Question {
	return naive.Question{
		Entity: row.Entity, Dimension: string(row.Dimension), Key: row.Key,
		From: int(s.window.From), To: int(s.window.To), CompareDays: s.window.CompareDays, Changed: s.changed,
	}
}

// rows are all answers, and the list of a dimension, six of its values at most; the brand or a competitor has them.
func (s sample) rows(dimension verdict.Dimension, random *rand.Rand) []verdict.Row {
	entity := s.entities[random.IntN(len(s.entities))]
	rows := []verdict.Row{{Entity: entity}}
	for i, key := range s.keys(dimension) {
		if i < 6 {
			rows = append(rows, verdict.Row{Entity: entity, Dimension: dimension, Key: key})
		}
	}
	return rows
}

func (s sample) keys(dimension verdict.Dimension) []string {
	values := map[string]bool{}
	for _, r := range s.runs {
		value := map[verdict.Dimension]string{
			verdict.ByPlatform: r.Platform, verdict.ByTopic: r.Topic, verdict.ByPrompt: r.Prompt,
		}
		values[value[dimension]] = true
	}
	delete(values, "")
	return slices.Sorted(maps.Keys(values))
}

// basket gives the sample to the package as the warehouse does: daily sums, in random order; a competitor has points
// alone.
func (s sample) basket(random *rand.Rand) *verdict.Basket {
	cells, served := s.cells()
	random.Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
	random.Shuffle(len(served), func(i, j int) { served[i], served[j] = served[j], served[i] })
	return s.basketOf(cells, served)
}

func (s sample) basketOf(cells []verdict.Cell, served []verdict.Served) *verdict.Basket {
	basket := verdict.NewBasket(s.window.Earliest(), s.last(), cells, served)
	for platform, days := range s.changed {
		for _, d := range days {
			basket.AddPlatformChange(platform, verdict.Day(d))
		}
	}
	return basket
}

func (s sample) last() verdict.Day {
	last := s.window.To
	for _, r := range s.runs {
		last = max(last, verdict.Day(r.Day))
	}
	return last
}

func (s sample) cells() (cells []verdict.Cell, served []verdict.Served) {
	type key struct{ entity, prompt, topic, platform, model, region string }
	type sums struct {
		runs, givenUp, answers int64
		points                 float64
	}
	byKey := map[key]map[int]sums{}
	byServed := map[verdict.Served]int64{}
	for _, r := range s.runs {
		for i, entity := range s.entities {
			if i > 0 && r.Points[entity] == 0 {
				continue
			}
			k := key{entity, r.Prompt, r.Topic, r.Platform, r.Model, r.Region}
			if byKey[k] == nil {
				byKey[k] = map[int]sums{}
			}
			sum := byKey[k][r.Day]
			if i == 0 {
				sum.runs++
				if r.GivenUp {
					sum.givenUp++
				} else {
					sum.answers++
				}
			}
			sum.points += r.Points[entity]
			byKey[k][r.Day] = sum
		}
		if !r.GivenUp && r.Served != "" {
			byServed[verdict.Served{Platform: r.Platform, Model: r.Model, ServedModel: r.Served, Day: uint16(r.Day)}]++
		}
	}
	for _, k := range slices.SortedFunc(maps.Keys(byKey), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.entity, b.entity), cmp.Compare(a.prompt, b.prompt), cmp.Compare(a.topic, b.topic),
			cmp.Compare(a.platform, b.platform), cmp.Compare(a.model, b.model), cmp.Compare(a.region, b.region))
	}) {
		c := verdict.Cell{
			EntityID: k.entity, PromptID: k.prompt, TopicID: k.topic, Platform: k.platform, Model: k.model,
			Region: k.region,
		}
		for _, d := range slices.Sorted(maps.Keys(byKey[k])) {
			sum := byKey[k][d]
			c.Days, c.Points = append(c.Days, uint16(d)), append(c.Points, sum.points)
			if k.entity == s.entities[0] {
				c.Runs, c.GivenUp, c.Answers = append(c.Runs, sum.runs), append(c.GivenUp, sum.givenUp),
					append(c.Answers, sum.answers)
			}
		}
		cells = append(cells, c)
	}
	for _, k := range slices.SortedFunc(maps.Keys(byServed), func(a, b verdict.Served) int {
		return cmp.Or(cmp.Compare(a.Platform, b.Platform), cmp.Compare(a.Model, b.Model),
			cmp.Compare(a.ServedModel, b.ServedModel), cmp.Compare(a.Day, b.Day))
	}) {
		n := byServed[k]
		k.Answers = n
		served = append(served, k)
	}
	return cells, served
}

// A draw makes a random sample: prompts that come, go and change their topics, platforms that fail, models that
// change, levels that move.
type draw struct {
	*rand.Rand
	sample
	first, last int // days with answers
	platforms   []string
	channels    []channel
	outages     []outage
	thin        map[int]bool // days with answers of one platform only
	weekly      bool
	samples     int
	lost        float64 // share of runs given up on any day
	noise       float64 // points by which an answer deviates
	move        move    // of all prompts
	topics      int
}

// A channel is where prompts are asked; another model answers from a day on.
type channel struct {
	platform, model, region string
	served, later           string
	change                  int
}

type outage struct {
	platform    string
	first, last int
	share       float64 // of the runs
}

// A move shifts levels from a day on.
type move struct {
	day    int
	points float64
}

func (m move) on(day int) float64 {
	if day < m.day {
		return 0
	}
	return m.points
}

func randomSample(random *rand.Rand) sample {
	d := draw{Rand: random, thin: map[int]bool{}}
	length, compare, history := 3+d.IntN(58), 7+d.IntN(84), 30+d.IntN(241)
	if d.chance(0.5) {
		length = 7 + d.IntN(24)
	}
	d.last = 20_000 + history
	to := d.last
	if d.chance(0.3) {
		to -= d.IntN(20) // a look at a day that is over
	}
	d.sample = sample{
		entities: []string{"brand", "rival one", "rival two"}[:1+d.IntN(3)],
		window:   verdict.Window{From: verdict.Day(to - length + 1), To: verdict.Day(to), CompareDays: compare},
		changed:  map[string][]int{},
	}
	d.first = max(20_000, int(d.window.Earliest()))
	d.weekly, d.samples, d.topics = d.chance(0.1), 1+d.IntN(3), d.IntN(9)
	d.noise, d.lost = []float64{2, 10, 30}[d.IntN(3)], []float64{0, 0.02, 0.06}[d.IntN(3)]
	d.move = d.drawMove(0.6, 30)
	for i := range 1 + d.IntN(3) {
		d.drawPlatform(fmt.Sprintf("platform %d", i))
	}
	for range d.IntN(4) {
		d.thin[d.day()] = true
	}
	for i := range 1 + d.IntN(12) {
		d.drawPrompt(fmt.Sprintf("prompt %02d", i))
	}
	return d.sample
}

func (d *draw) chance(p float64) bool { return d.Float64() < p }

// day is mostly one of both windows.
func (d *draw) day() int {
	if d.chance(0.3) {
		return d.first + d.IntN(d.last-d.first+1)
	}
	return int(d.window.First()) + d.IntN(d.window.CompareDays+d.window.Days())
}

func (d *draw) drawMove(probability, most float64) move {
	m := move{day: d.day()}
	if d.chance(probability) {
		m.points = most * (2*d.Float64() - 1)
	}
	return m
}

func (d *draw) drawPlatform(platform string) {
	d.platforms = append(d.platforms, platform)
	for range d.IntN(3) {
		first := d.day()
		d.outages = append(d.outages, outage{platform, first, first + d.IntN(1+d.IntN(25)), d.Float64()})
	}
	if d.chance(0.08) {
		d.changed[platform] = []int{d.day(), d.day()}
	}
	for model := range 1 + d.IntN(2)*d.IntN(2) {
		c := channel{platform: platform, model: fmt.Sprintf("model %d", model), change: d.day()}
		if d.chance(0.7) {
			c.served, c.later = "v1", "v1"
		}
		if d.chance(0.15) {
			c.later = "v2"
		}
		for _, region := range []string{"", "de"}[:1+d.IntN(2)*d.IntN(2)*d.IntN(2)] {
			c.region = region
			d.channels = append(d.channels, c)
		}
	}
}

func (d *draw) drawTopic() string {
	if d.topics == 0 || d.chance(0.2) {
		return ""
	}
	return fmt.Sprintf("topic %d", d.IntN(d.topics))
}

func (d *draw) drawPrompt(prompt string) {
	topic, moved := d.drawTopic(), d.day()
	later := topic
	if d.chance(0.2) {
		later = d.drawTopic()
	}
	born, dead, slot, jump := d.first, d.last, d.IntN(7), d.drawMove(0.2, 50)
	if d.chance(0.1) {
		born = d.day()
	}
	if d.chance(0.05) {
		dead = d.day()
	}
	for _, c := range d.channels {
		gap, length := d.day(), 0
		if d.chance(0.15) {
			length = 1 + d.IntN(12)
		}
		levels := map[string]float64{}
		for _, entity := range d.entities {
			levels[entity] = 100 * d.Float64()
		}
		for day := born; day <= dead; day++ {
			absent := gap <= day && day < gap+length
			if absent || d.weekly && day%7 != slot || d.thin[day] && c.platform != d.platforms[0] {
				continue
			}
			r := naive.Run{
				Prompt: prompt, Topic: topic, Platform: c.platform, Model: c.model, Region: c.region, Day: day,
			}
			if day >= moved {
				r.Topic = later
			}
			for range d.samples {
				d.runs = append(d.runs, d.drawRun(r, c, levels, d.move.on(day)+jump.on(day)))
			}
		}
	}
}

func (d *draw) drawRun(r naive.Run, c channel, levels map[string]float64, shift float64) *naive.Run {
	r.Served = c.served
	if r.Day >= c.change && d.chance(0.7) {
		r.Served = c.later
	}
	r.GivenUp = d.chance(d.lost)
	for _, o := range d.outages {
		r.GivenUp = r.GivenUp || o.platform == r.Platform && o.first <= r.Day && r.Day <= o.last && d.chance(o.share)
	}
	if !r.GivenUp {
		r.Points = map[string]float64{}
		for _, entity := range d.entities {
			r.Points[entity] = min(max(levels[entity]+shift+d.noise*d.NormFloat64(), 0), 100)
		}
	}
	return &r
}
