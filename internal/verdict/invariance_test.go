package verdict_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit/naive"
	"github.com/answerscope/answerscope/internal/verdict"
)

// TestInvariances changes random baskets in ways that change no verdict, or turn its signs, or move its levels alone.
func TestInvariances(t *testing.T) {
	t.Parallel()
	same := func(v verdict.Verdict) verdict.Verdict { return v }
	moves := 0
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 27))
		s := randomSample(random)
		cells, served := s.cells()
		basket := s.basketOf(cells, served)
		early, late := elsewhere(cells, s.window.Earliest()-1), elsewhere(cells, s.last()+1)
		others := []struct {
			what   string
			basket *verdict.Basket
			id     func(string) string
			want   func(verdict.Verdict) verdict.Verdict
		}{
			{"rows and days in another order", s.basketOf(shuffled(random, cells), served), sameID, same},
			{"two rows for one", s.basketOf(divided(random, cells), served), sameID, same},
			{"days outside", s.basketOf(slices.Concat(early, late, cells), served), sameID, same},
			{"other ids", s.renamed().basket(random), otherID, same},
			{"points of 100 - y", s.points(func(y float64) float64 {
				return 100 - y
			}).basket(random), sameID, opposite},
			{"points of y + 7", s.points(func(y float64) float64 { return y + 7 }).basket(random), sameID, raised},
		}
		dimension := []verdict.Dimension{verdict.ByPlatform, verdict.ByTopic, verdict.ByPrompt}[random.IntN(3)]
		for _, row := range s.rows(dimension, random) {
			want := basket.Judge(s.window, row)
			if want.Moved() {
				moves++
			}
			for _, other := range others {
				request := verdict.Row{Entity: other.id(row.Entity), Dimension: dimension, Key: row.Key}
				if row.Key == "" {
					request.Dimension = verdict.All
				} else if dimension != verdict.ByPlatform {
					request.Key = other.id(row.Key)
				}
				if diff := difference(other.basket.Judge(s.window, request), other.want(want), 1e-9); diff != "" {
					t.Errorf("seed %d, %+v, %+v, %s: %s", seed, s.window, row, other.what, diff)
				}
			}
		}
	}
	if moves < 25 {
		t.Errorf("only %d rows moved", moves)
	}
}

// points returns the sample with other points.
func (s sample) points(f func(float64) float64) sample {
	return s.mapped(func(r *naive.Run) {
		for entity, y := range r.Points {
			r.Points[entity] = f(y)
		}
	})
}

// renamed returns the sample with ids in the opposite order; platforms, which reasons name, keep their own.
func (s sample) renamed() sample {
	renamed := s.mapped(func(r *naive.Run) {
		for _, id := range []*string{&r.Prompt, &r.Topic, &r.Model, &r.Region, &r.Served} {
			*id = otherID(*id)
		}
		points := map[string]float64{}
		for entity, y := range r.Points {
			points[otherID(entity)] = y
		}
		r.Points = points
	})
	renamed.entities = nil
	for _, entity := range s.entities {
		renamed.entities = append(renamed.entities, otherID(entity))
	}
	return renamed
}

func sameID(id string) string { return id }

// otherID turns each byte of an id over, so that ids sort the other way round; no id stays none.
func otherID(id string) string {
	turned := []byte(id)
	for i := range turned {
		turned[i] = 158 - turned[i]
	}
	return string(turned)
}

func (s sample) mapped(change func(*naive.Run)) sample {
	runs := s.runs
	s.runs = nil
	for _, r := range runs {
		other := *r
		other.Points = maps.Clone(r.Points)
		change(&other)
		s.runs = append(s.runs, &other)
	}
	return s
}

func opposite(v verdict.Verdict) verdict.Verdict {
	turn := func(i *verdict.Interval) *verdict.Interval {
		if i == nil {
			return nil
		}
		return &verdict.Interval{Low: -i.High, High: -i.Low}
	}
	switch v.Verdict {
	case verdict.MovedUp:
		v.Verdict = verdict.MovedDown
	case verdict.MovedDown:
		v.Verdict = verdict.MovedUp
	}
	if v.Difference != nil {
		v.Before, v.After, v.Difference = new(100-*v.Before), new(100-*v.After), new(-*v.Difference)
	}
	v.Interval = turn(v.Interval)
	if s := v.Since; s != nil {
		v.Since = &verdict.Since{Day: s.Day, Difference: -s.Difference, Interval: turn(s.Interval)}
	}
	return v
}

func raised(v verdict.Verdict) verdict.Verdict {
	if v.Difference != nil {
		v.Before, v.After = new(*v.Before+7), new(*v.After+7)
	}
	return v
}

// shuffled returns the rows in another order, each with its days in another order.
func shuffled(random *rand.Rand, cells []verdict.Cell) (rows []verdict.Cell) {
	for _, i := range random.Perm(len(cells)) {
		rows = append(rows, picked(cells[i], random.Perm(len(cells[i].Days))))
	}
	return rows
}

// divided returns two rows for each one: days go to either, and at times to both with their half of the sums.
func divided(random *rand.Rand, cells []verdict.Cell) (rows []verdict.Cell) {
	for _, c := range cells {
		var places [2][]int
		for i := range c.Days {
			side := random.IntN(2)
			places[side] = append(places[side], i)
		}
		for _, side := range places {
			row := picked(c, side)
			if len(side) > 1 && row.Points[0] > 0 { // a day twice in a row
				row.Days, row.Points = append(row.Days, row.Days[0]), append(row.Points, row.Points[0]/2)
				row.Points[0] /= 2
				if len(row.Runs) > 0 {
					row.Runs, row.GivenUp, row.Answers = append(row.Runs, 0), append(row.GivenUp, 0),
						append(row.Answers, 0)
				}
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// elsewhere returns the rows with all their answers on one day.
func elsewhere(cells []verdict.Cell, day verdict.Day) (rows []verdict.Cell) {
	for _, c := range cells {
		row := picked(c, []int{0})
		row.Days[0] = uint16(day)
		rows = append(rows, row)
	}
	return rows
}

// picked returns a row with the days at some places.
func picked(c verdict.Cell, places []int) verdict.Cell {
	row := c
	row.Days, row.Runs, row.GivenUp, row.Answers, row.Points = nil, nil, nil, nil, nil
	for _, i := range places {
		row.Days, row.Points = append(row.Days, c.Days[i]), append(row.Points, c.Points[i])
		if len(c.Runs) > 0 {
			row.Runs, row.GivenUp, row.Answers = append(row.Runs, c.Runs[i]), append(row.GivenUp, c.GivenUp[i]),
				append(row.Answers, c.Answers[i])
		}
	}
	return row
}

// In a balanced basket all cells rise by 8 points with the window and swing together over the week, by 0 points on the
// days on which something is missing, and by 0 on average: m of each cell stays what it is, and the difference stays 8.
func TestMissingAnswersLeaveTheDifference(t *testing.T) {
	t.Parallel()
	const from, days = 20_000, 28
	window := verdict.Window{From: from, To: from + days - 1, CompareDays: days}
	swing := []float64{5, -5, 0, 0, 0, 3, -3}
	balanced := func(with func(r naive.Run) []naive.Run) verdict.Verdict {
		s := sample{entities: []string{"brand"}, window: window}
		for prompt := range 8 {
			for platform := range 3 {
				for day := from - 2*days; day < from+days; day++ {
					y := 5*float64(prompt) + 10*float64(platform) + swing[(day-from+7*days)%7]
					if day >= from {
						y += 8
					}
					r := naive.Run{
						Prompt: fmt.Sprint(prompt), Platform: fmt.Sprint(platform), Day: day,
						Points: map[string]float64{"brand": y},
					}
					for _, r := range with(r) {
						s.runs = append(s.runs, &r)
					}
				}
			}
		}
		return s.basket(rand.New(rand.NewPCG(1, 1))).Judge(window, verdict.Row{Entity: "brand"})
	}
	without := func(missing func(naive.Run) bool) func(naive.Run) []naive.Run {
		return func(r naive.Run) []naive.Run {
			if missing(r) {
				return nil
			}
			return []naive.Run{r}
		}
	}
	quietDays := func(r naive.Run) bool { return r.Day >= from+9 && r.Day < from+12 }
	for what, with := range map[string]func(naive.Run) []naive.Run{
		"nothing":                  without(func(naive.Run) bool { return false }),
		"a platform on three days": without(func(r naive.Run) bool { return r.Platform == "1" && quietDays(r) }),
		"a prompt on three days":   without(func(r naive.Run) bool { return r.Prompt == "7" && quietDays(r) }),
		"a cell":                   without(func(r naive.Run) bool { return r.Platform == "2" && r.Prompt == "7" }),
		"a cell before": without(func(r naive.Run) bool {
			return r.Platform == "2" && r.Prompt == "7" && r.Day < from
		}),
		"a prompt that came with it": without(func(r naive.Run) bool { return r.Prompt == "7" && r.Day < from+5 }),
		"a platform that gave up on three days": func(r naive.Run) []naive.Run {
			if r.Platform == "1" && quietDays(r) {
				r.GivenUp, r.Points = true, nil
			}
			return []naive.Run{r}
		},
		"nothing, and a prompt has more": func(r naive.Run) []naive.Run {
			if r.Prompt != "3" {
				return []naive.Run{r}
			}
			return []naive.Run{r, r}
		},
	} {
		v := balanced(with)
		if v.Difference == nil || math.Abs(*v.Difference-8) > 1e-9 {
			t.Errorf("missing is %s: %+v, difference %s", what, v, text(v.Difference))
		}
	}
}
