package naive

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/gofrs/uuid/v5"
)

// An interval of 95 % holds the true figure in about 95 of 100 samples. Prompts and answers are drawn from a known
// truth: of each prompt how likely an answer names and cites the brand, and at which position. Of several prompts the
// truth is the mean over all prompts that could be drawn: the rate 50, the score 60/2 + 25/2 + 15/2 × (1/2 + 1/2/3) =
// 47.5; a third of the variance of an answer is its prompt's. With 1.96 instead of t(k−1) the interval of 10 prompts
// held the rate in 0.924 and the score in 0.917 of these samples, that of 30 prompts in 0.948 and 0.946.
func TestIntervalsHoldTheTruth(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 1))
	const draws = 2000
	held := map[string]int{}
	for range draws {
		truth := truthOf(random)
		sample := drawn(random, 5+random.IntN(40), truth)
		held["a prompt's rate"] += holds(sample.ofPrompt(sample.named[uuid.Nil]), truth.rate())
		held["a prompt's score"] += holds(sample.ofPrompt(sample.points[uuid.Nil]), truth.score())
		for _, k := range []int{10, 30} {
			prompts := make([]truths, k)
			for i := range prompts {
				prompts[i] = truthOf(random)
			}
			sample := drawn(random, 4, prompts...)
			held[fmt.Sprintf("the rate of %d prompts", k)] += holds(sample.mentionRateInterval(), 50)
			held[fmt.Sprintf("the score of %d prompts", k)] += holds(sample.interval(), 47.5)
		}
	}
	for _, c := range []struct {
		figure      string
		least, most float64
	}{
		{"a prompt's rate", 0.94, 0.97},
		{"a prompt's score", 0.95, 1}, // wider than needed: its answers vary less than zeros and hundreds
		{"the rate of 10 prompts", 0.94, 0.96},
		{"the score of 10 prompts", 0.94, 0.96},
		{"the rate of 30 prompts", 0.94, 0.96},
		{"the score of 30 prompts", 0.94, 0.96},
	} {
		if share := float64(held[c.figure]) / draws; share < c.least || share > c.most {
			t.Errorf("the interval of %s holds it in %.3f of the samples, want %.2f to %.2f", c.figure, share, c.least,
				c.most)
		} else {
			t.Logf("%s: %.3f", c.figure, share)
		}
	}
}

// The interval of a gap holds the true gap in about 95 of 100 samples. An answer names the brand as likely as its
// prompt has it, p, and a competitor as likely as p², which has prompts in common with the brand: the gap is 50 − 100/3
// points.
func TestGapsHoldTheTruth(t *testing.T) {
	random := rand.New(rand.NewPCG(17, 1))
	const draws = 1000
	other := uuid.UUID{1}
	for _, k := range []int{10, 30, 100} {
		held := 0
		for range draws {
			var all []Reading
			for i := range k {
				p := random.Float64()
				for range 4 {
					r := Reading{Competitors: []Named{{ID: other}}}
					r.Answer.Prompt.ID = uuid.UUID{byte(i)}
					if random.Float64() < p {
						r.Brand.Mentions, r.Brand.Position = 1, 1
					}
					if random.Float64() < p*p {
						r.Competitors[0].Mentions, r.Competitors[0].Position = 1, 1
					}
					all = append(all, r)
				}
			}
			found := gap(count(all, brand), count(all, rival(other))).(Body)
			held += holds(found["interval"].(*Interval), 50-100./3)
		}
		if share := float64(held) / draws; share < 0.93 || share > 0.97 {
			t.Errorf("the interval of a gap over %d prompts holds it in %.3f of the samples, want 0.93 to 0.97", k,
				share)
		} else {
			t.Logf("%d prompts: %.3f", k, share)
		}
	}
}

// truths are of one prompt.
type truths struct{ named, first, cited float64 }

func truthOf(random *rand.Rand) truths {
	return truths{random.Float64(), random.Float64(), random.Float64()}
}

func (t truths) rate() float64 { return 100 * t.named }

// score counts an answer that names the brand but not first as position 3.
func (t truths) score() float64 {
	return 60*t.named + 25*t.cited + 15*t.named*(t.first+(1-t.first)/3)
}

// drawn counts so many answers of each prompt.
func drawn(random *rand.Rand, answers int, prompts ...truths) counts {
	var all []Reading
	for i, truth := range prompts {
		for range answers {
			r := Reading{}
			r.Answer.Prompt.ID = uuid.UUID{byte(i)}
			if random.Float64() < truth.named {
				r.Brand.Mentions, r.Brand.Position = 1, 3
				if random.Float64() < truth.first {
					r.Brand.Position = 1
				}
			}
			if random.Float64() < truth.cited {
				r.Brand.Citations = 1
			}
			all = append(all, r)
		}
	}
	return count(all, brand)
}

// holds is 1 where an interval holds a figure, give or take its rounding.
func holds(within *Interval, figure float64) int {
	if *within.Low-0.05 <= figure && figure <= *within.High+0.05 {
		return 1
	}
	return 0
}

// Of 5 answers that all name the brand: (5 + 1.9208 ± 1.96·√0.9604)/(5 + 3.8416) = (6.9208 ± 1.9208)/8.8416, from
// 56.6 to 100. Of 8 with 300 points x = 3, √(3·5/8 + 0.9604) = 1.6838: (4.9208 ± 3.3003)/11.8416, from 13.7 to 69.4.
func TestIntervalOfAPromptByHand(t *testing.T) {
	for _, c := range []struct {
		answers   int
		points    int64
		low, high float64
	}{{5, 500, 56.6, 100}, {5, 0, 0, 43.4}, {8, 300, 13.7, 69.4}} {
		got := counts{answers: c.answers}.ofPrompt(big.NewRat(c.points, 1))
		if *got.Low != c.low || *got.High != c.high {
			t.Errorf("%d answers, %d points: %v to %v, want %v to %v", c.answers, c.points, *got.Low, *got.High, c.low,
				c.high)
		}
	}
	if got := (counts{answers: 4}).ofPrompt(big.NewRat(400, 1)); got != nil {
		t.Errorf("of 4 answers: %v", got)
	}
}
