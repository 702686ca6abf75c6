package verdict

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// A simulation draws the answers of a brand: an answer a cell and day, whose points are the score. A prompt's level is
// Beta distributed about Mean with correlation 0.7, a platform's level of a prompt differs from it on the logit.
type simulation struct {
	prompts, platforms int
	days               int
	mean               float64
	weather            float64 // deviation of a platform's day on the logit
	jumps              float64 // days between two levels of a prompt; 0: none
	drop               float64 // points that the brand loses from dropDay on
	dropDay            int
	random             *rand.Rand
}

// cells returns the cells of prompts, a topic each or none.
func (s *simulation) cells(entity string) []Cell {
	weather := make([][]float64, s.platforms)
	for p := range weather {
		for range s.days {
			weather[p] = append(weather[p], s.weather*s.random.NormFloat64())
		}
	}
	var cells []Cell
	for prompt := range s.prompts {
		levels := s.levels()
		for platform := range s.platforms {
			c := Cell{EntityID: entity, PromptID: fmt.Sprint(prompt), Platform: fmt.Sprint("platform ", platform)}
			own := s.random.NormFloat64()
			for day := range s.days {
				rate := 1 / (1 + math.Exp(-levels[day]-own-weather[platform][day]))
				c.Days, c.Runs = append(c.Days, uint16(day)), append(c.Runs, 1)
				c.GivenUp, c.Answers = append(c.GivenUp, 0), append(c.Answers, 1)
				c.Points = append(c.Points, s.points(rate))
			}
			cells = append(cells, c)
		}
	}
	s.lose(cells)
	return cells
}

// lose takes so many answers' points away from dropDay on, at random, that the mean of all falls by drop.
func (s *simulation) lose(cells []Cell) {
	mean := 0.0
	for _, c := range cells {
		mean += sum(c.Points) / float64(s.days*len(cells))
	}
	for _, c := range cells {
		for day := s.dropDay; day < s.days; day++ {
			if s.random.Float64() < s.drop/mean {
				c.Points[day] = 0
			}
		}
	}
}

// levels returns a prompt's logit on each day.
func (s *simulation) levels() (levels []float64) {
	level := s.level()
	for range s.days {
		if s.jumps > 0 && s.random.Float64() < 1/s.jumps {
			level = s.level()
		}
		levels = append(levels, level)
	}
	return levels
}

// level draws from Beta(0.43·mean, 0.43·(1 − mean)), and returns the logit, which is held within ±6.
func (s *simulation) level() float64 {
	a, b := s.logGamma(0.43*s.mean), s.logGamma(0.43*(1-s.mean))
	return max(-6, min(6, a-b))
}

// logGamma returns the logarithm of a Gamma(shape) draw, shape under 1, by Johnk's way through Gamma(shape + 1)
// (Marsaglia and Tsang 2000).
func (s *simulation) logGamma(shape float64) float64 {
	d := shape + 1 - 1.0/3
	for {
		x := s.random.NormFloat64()
		v := math.Pow(1+x/math.Sqrt(9*d), 3)
		if v > 0 && math.Log(s.random.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return math.Log(d*v) + math.Log(s.random.Float64())/shape
		}
	}
}

// points draws the score of an answer: 60 where it names the brand, 25 where it cites it too, 15 by position.
func (s *simulation) points(rate float64) float64 {
	if s.random.Float64() >= rate {
		return 0
	}
	points := 60 + 15/float64(1+s.random.IntN(5))
	if s.random.Float64() < 0.3 {
		points += 25
	}
	return points
}

func (s *simulation) basket(entity string) *Basket {
	return NewBasket(0, Day(s.days-1), s.cells(entity), nil)
}
