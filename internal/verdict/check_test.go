package verdict

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// wave returns a basket of 10 prompts, each a topic for two of them, on two platforms: points 40 ± 6 in an order that
// looks like noise, from a day on plus shift.
func wave(days int, shift func(day int) float64) *Basket {
	random := rand.New(rand.NewPCG(5, 9))
	var cells []Cell
	for prompt := range 10 {
		for _, platform := range []string{"gemini", "openai"} {
			c := Cell{
				EntityID: "brand", PromptID: fmt.Sprint("prompt ", prompt), TopicID: fmt.Sprint("topic ", prompt/2),
				Platform: platform,
			}
			for day := range days {
				c.Days, c.Runs, c.GivenUp = append(c.Days, uint16(day)), append(c.Runs, 2), append(c.GivenUp, 0)
				c.Answers, c.Points = append(c.Answers, 2), append(c.Points, 80+12*(2*random.Float64()-1)+2*shift(day))
			}
			cells = append(cells, c)
		}
	}
	return NewBasket(0, Day(days-1), cells, nil)
}

func steady(int) float64 { return 0 }

// Of five topics two are turned over with both of their prompts, about the mean of each cell, which stays.
func TestSignsTurnHalfOfTheClusters(t *testing.T) {
	t.Parallel()
	b := wave(60, steady)
	cells := b.row(Row{})
	relabelled := b.relabelSigns(cells, "brand", rand.New(rand.NewPCG(1, 1)))
	turned := map[string]int{}
	for i, c := range relabelled.cells {
		came, points := cells[i].points["brand"], c.points["brand"]
		if slices.Equal(came, points) {
			continue
		}
		turned[c.topic]++
		middle := sum(came) / 60
		for day := range came {
			if math.Abs(points[day]-(2*middle-came[day])) > 1e-9 {
				t.Fatalf("%s on day %d: %v, was %v about %v", c.prompt, day, points[day], came[day], middle)
			}
		}
	}
	if !slices.Equal(slices.Collect(maps.Values(turned)), []int{4, 4}) {
		t.Errorf("turned cells by topic %v, want all 4 of two topics", turned)
	}
}

// An outage's points, which count nowhere, do not shift the mean: the points 0 of day 3 were all given up but one.
func TestSignsTurnAtTheMeanWithoutOutages(t *testing.T) {
	t.Parallel()
	c := &cell{answers: []float64{1, 1, 1, 0}}
	if got := c.turn([]float64{10, 30, 100, 0},
		[]bool{false, false, true, false}); !slices.Equal(got, []float64{30, 10, -60, 0}) {
		t.Errorf("turned to %v about 20", got)
	}
}

// Each day of all cells is found again as a whole; days without answers stay where they are.
func TestDaysStayTogether(t *testing.T) {
	t.Parallel()
	b := wave(60, steady)
	cells := b.row(Row{})
	for _, c := range cells {
		c.answers[7], c.points["brand"][7] = 0, 0
	}
	vector := func(cells []*cell, day int) string {
		text := ""
		for _, c := range cells {
			text += fmt.Sprint(c.runs[day], c.answers[day], c.points["brand"][day], " ")
		}
		return text
	}
	relabelled := b.relabelDays(cells, "brand", answeredDays(cells), rand.New(rand.NewPCG(1, 1)))
	var came, days []string
	moved := 0
	for day := range 60 {
		came, days = append(came, vector(cells, day)), append(days, vector(relabelled.cells, day))
		if came[day] != days[day] {
			moved++
		}
	}
	if came[7] != days[7] || moved < 50 {
		t.Errorf("%d of 60 days moved, day 7 to %s", moved, days[7])
	}
	slices.Sort(came)
	slices.Sort(days)
	if !slices.Equal(came, days) {
		t.Error("days were not moved as wholes")
	}
}

// 65 days have 10 looks; a platform that began 20 days later has 45 days, and is left out. Both of its draws repeat.
func TestCheckCountsLooksOfRows(t *testing.T) {
	t.Parallel()
	count := func() Check {
		b := wave(65, steady)
		for _, c := range b.cells {
			if c.platform == "openai" {
				clear(c.answers[:20])
			}
		}
		check := Check{}
		check.Add(b, 64, "brand")
		return check
	}
	check := count()
	for kind, n := range check {
		if n.Rows != 2 || n.Looks != 20 {
			t.Errorf("%v: %+v, want 10 looks of the brand and of gemini", kind, n)
		}
	}
	if len(check) != 5 || !reflect.DeepEqual(check, count()) {
		t.Errorf("%v, and again %v", check, count())
	}
	empty := Check{}
	empty.Add(NewBasket(0, 64, nil, nil), 64, "brand")
	if len(empty) != 0 {
		t.Errorf("of no cells: %v", empty)
	}
}

// A brand of 4 prompts is never said to have moved, only its prompts are: its looks do not count where they cannot
// alarm.
func TestCheckCountsLooksThatCanAlarm(t *testing.T) {
	t.Parallel()
	b := wave(65, steady)
	b.cells = slices.DeleteFunc(b.cells, func(c *cell) bool { return c.prompt >= "prompt 4" })
	check := Check{}
	check.Add(b, 64, "brand")
	for kind, n := range check {
		want := map[string]int{ReachBrand: 0, ReachPrompts: 30}[kind.Reach]
		if n.Rows != 3 || n.Looks != want {
			t.Errorf("%v: %+v, want %d looks at 3 rows", kind, n, want)
		}
	}
}

// A drop of 10 points on day 100 is seen on day 101, of the brand and both platforms. If it ends on day 105, 3 of the
// 14 days after it was seen still differ: about a fifth of it, under half. What was first seen within the last 28 of
// 173 days is no move yet.
func TestHeldMoves(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		from, to    int
		moves, held int
	}{
		{"stays", 100, 999, 3, 3},
		{"goes", 100, 105, 3, 0},
		{"too young", 150, 999, 0, 0},
		{"never", 999, 999, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := wave(CheckedDays, func(day int) float64 {
				if day >= c.from && day < c.to {
					return -10
				}
				return 0
			})
			check := Check{}
			check.Add(b, CheckedDays-1, "brand")
			n := check[CheckKind{NotRelabelled, ReachBrand}]
			if prompts := check[CheckKind{NotRelabelled, ReachPrompts}]; n.Moves+prompts.Moves != c.moves ||
				n.HeldMoves+prompts.HeldMoves != c.held {
				t.Errorf("brand %+v, prompts %+v; want %d of %d moves held", n, prompts, c.held, c.moves)
			}
			if signs := check[CheckKind{RelabelSigns, ReachBrand}]; signs.AlarmedLooks > 0 {
				t.Errorf("signs: %+v", signs)
			}
		})
	}
}

// Wilson's interval of 9 of 360: (0.025 + 3.8415/720 ± 1.96·√(0.025·0.975/360 + 3.8415/518,400)) / 1.01067.
func TestWilson(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ k, n, low, high float64 }{
		{9, 360, 0.0132, 0.0468}, {0, 10, 0, 0.2775}, {10, 10, 0.7225, 1}, {0, 0.5, 0, 0.8848},
	} {
		if got := Wilson(c.k, c.n); math.Abs(got.Low-c.low) > 1e-4 || math.Abs(got.High-c.high) > 1e-4 {
			t.Errorf("%v of %v: %+v, want %v to %v", c.k, c.n, got, c.low, c.high)
		}
	}
}
