package verdict

import (
	"math"
	"testing"
)

// The table of the answers a day that show a change within 7, 14 and 28 days, for answers that deviate by 15 (the APIs
// of the large platforms), 25 and 35 points, and no noise of days.
func TestNeededAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		deviation, difference float64
		want                  [3]float64
	}{
		{15, 5, [3]float64{59, 33, 16}}, {15, 10, [3]float64{15, 10, 7}}, {15, 20, [3]float64{7, 5, 4}},
		{25, 5, [3]float64{164, 91, 43}}, {25, 10, [3]float64{41, 23, 11}}, {25, 20, [3]float64{11, 6, 4}},
		{35, 5, [3]float64{321, 177, 83}}, {35, 10, [3]float64{81, 45, 21}}, {35, 20, [3]float64{21, 12, 6}},
	} {
		for i, days := range []int{7, 14, 28} {
			if n := math.Ceil(*neededAnswers(c.deviation*c.deviation, 0, c.difference, days)); n != c.want[i] {
				t.Errorf("deviation %v, %v points in %d days: %v answers a day, want %v", c.deviation, c.difference,
					days, n, c.want[i])
			}
		}
	}
}

// Days that differ by 5 points hide a change of 5 points from any number of answers.
func TestNoNumberOfAnswersSuffices(t *testing.T) {
	t.Parallel()
	if n := neededAnswers(625, 25, 5, 14); n != nil {
		t.Errorf("%v answers a day, want none", *n)
	}
}

// A brand that is named in 15 % of the answers, by prompts that deviate by 1.6 times that, needs 24 prompts: half of
// (1.6 × (3.44 + 0.8416))², 23.5.
func TestNeededClusters(t *testing.T) {
	t.Parallel()
	c := comparison{}
	clusterOf := map[*cell]int{}
	for k, level := range []float64{39, 15, -9, 15} { // the variance is 2 × 24² / 3, the deviation 1.306 × 15
		x := &cell{}
		clusterOf[x] = k
		c.cells = append(c.cells, compared{cell: x, weight: 2, mean: level})
		c.clusters = append(c.clusters, cluster{weight: 2})
	}
	for hasEarlier, want := range map[bool]int{false: 32, true: 16} { // (1.306 × 4.2816)² is 31.3
		if n := c.neededClusters(clusterOf, hasEarlier); *n != want {
			t.Errorf("%d clusters, want %d", *n, want)
		}
	}
}

// 10 prompts with an answer a day, alternately 0 and 100 points: an answer deviates by 50.9 points (28 × 50² over 27
// degrees of freedom). Half of them begin with 0, so that the days do not differ.
func TestPlanOfABasket(t *testing.T) {
	t.Parallel()
	var cells []Cell
	for prompt := range 10 {
		c := Cell{EntityID: "b", PromptID: string(rune('a' + prompt)), Platform: "p"}
		for day := range 28 {
			c.Days, c.Runs, c.GivenUp, c.Answers = append(c.Days, uint16(day)), append(c.Runs, 1), append(c.GivenUp, 0),
				append(c.Answers, 1)
			c.Points = append(c.Points, float64((day+prompt)%2*100))
		}
		cells = append(cells, c)
	}
	p, ok := NewBasket(0, 27, cells, nil).Plan(27, Row{Entity: "b"}, 10, 14)
	if !ok || p.AnswersPerDay != 10 || p.AnswerShare != 1 || math.Abs(p.AnswerDeviation-50*math.Sqrt(28.0/27)) > 1e-9 ||
		p.DayDeviation != 0 ||
		p.Clusters != 10 || *p.NeededClusters != 5 ||
		math.Abs(*p.Needed-*neededAnswers(2500*28.0/27, 0, 10, 14)) > 1e-9 {
		t.Errorf("%+v, %v", p, ok)
	}
	if _, ok := NewBasket(0, 35, cells, nil).Plan(35, Row{Entity: "b"}, 10, 14); !ok {
		t.Error("no plan, although only the last week has no answers")
	}
	if _, ok := NewBasket(0, 45, cells, nil).Plan(45, Row{Entity: "b"}, 10, 14); ok {
		t.Error("a plan from answers on one side of the middle")
	}
	for i := range cells { // of ten runs one was given up, and eight had no answer
		for at := range cells[i].Runs {
			cells[i].Runs[at], cells[i].GivenUp[at] = 10, 1
		}
	}
	if p, _ := NewBasket(0, 27, cells, nil).Plan(27, Row{Entity: "b"}, 10, 14); p.AnswersPerDay != 10 ||
		math.Abs(p.AnswerShare-1./9) > 1e-9 {
		t.Errorf("a ninth is answered: %+v", p)
	}
}
