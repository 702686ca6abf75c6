package naive

import (
	"math/big"
	"slices"

	"github.com/gofrs/uuid/v5"
)

// A figure is null (nil) where there is nothing to compute it from.
type figure *float64

// rounded gives top/bottom with that many decimals, half away from zero of the exact value; null for a bottom of 0.
func rounded(top *big.Rat, bottom int, decimals int) figure {
	if bottom == 0 {
		return nil
	}
	exact := new(big.Rat).Quo(top, rat(bottom))
	f, _ := new(big.Rat).SetString(exact.FloatString(decimals)) // FloatString rounds half away from zero
	v, _ := f.Float64()
	return &v
}

func rat(n int) *big.Rat { return big.NewRat(int64(n), 1) }

// counts are what a set of answers says of one entity.
type counts struct {
	answers, mentionAnswers, citationAnswers int
	mentions, citations, visibility          int
	positions                                *big.Rat               // Σ 1/position, 0 where not named
	points                                   map[uuid.UUID]*big.Rat // by prompt
	asked                                    map[uuid.UUID]int      // answers by prompt
	visible                                  map[uuid.UUID]bool
}

// count counts what of gives for each answer.
func count(answers []Reading, of func(Reading) Named) counts {
	t := counts{positions: new(big.Rat), points: map[uuid.UUID]*big.Rat{}, asked: map[uuid.UUID]int{}, visible: map[uuid.UUID]bool{}}
	for _, a := range answers {
		n, prompt := of(a), a.Answer.Prompt.ID
		if t.points[prompt] == nil {
			t.points[prompt] = new(big.Rat)
		}
		t.answers++
		t.asked[prompt]++
		t.mentions += n.Mentions
		t.citations += n.Citations
		t.visibility += n.Visibility
		if n.Mentions > 0 {
			t.mentionAnswers++
			t.positions.Add(t.positions, big.NewRat(1, int64(n.Position)))
			t.points[prompt].Add(t.points[prompt], rat(60))
			t.points[prompt].Add(t.points[prompt], big.NewRat(15, int64(n.Position)))
			t.visible[prompt] = true
		}
		if n.Citations > 0 {
			t.citationAnswers++
			t.points[prompt].Add(t.points[prompt], rat(25))
			t.visible[prompt] = true
		}
	}
	return t
}

// score is ai_visibility_score.
func (t counts) score() figure {
	s := rat(60*t.mentionAnswers + 25*t.citationAnswers)
	s.Add(s, new(big.Rat).Mul(rat(15), t.positions))
	return rounded(s, t.answers, 1)
}

func (t counts) positionFactor() figure { return rounded(t.positions, t.answers, 4) }

func (t counts) averageVisibility() figure { return rounded(rat(t.visibility), t.answers, 1) }

func (t counts) visibilityRate() figure { return rounded(rat(100*len(t.visible)), len(t.asked), 1) }

// Interval is the 95 % interval of the score, or why there is none.
type Interval struct {
	Low    figure `json:"low,omitempty"`
	High   figure `json:"high,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// interval is robust to the clustering of answers by prompt.
func (t counts) interval() *Interval {
	k := len(t.asked)
	switch {
	case t.answers == 0:
		return nil
	case k < 5:
		return &Interval{Reason: "too_few_prompts"}
	}
	total := new(big.Rat)
	for _, y := range t.points {
		total.Add(total, y)
	}
	n := rat(t.answers)
	r := new(big.Rat).Quo(total, n)
	squares := new(big.Rat) // Σ (y_p − R·n_p)², which the definition writes multiplied out
	for prompt, y := range t.points {
		off := new(big.Rat).Sub(y, new(big.Rat).Mul(r, rat(t.asked[prompt])))
		squares.Add(squares, off.Mul(off, off))
	}
	squares.Mul(squares, big.NewRat(int64(k), int64(k-1)))
	root := new(big.Float).SetPrec(200).SetRat(squares)
	root.Sqrt(root)
	margin, _ := root.Rat(nil)
	margin.Mul(margin, big.NewRat(196, 100))
	margin.Quo(margin, n)
	bound := func(at *big.Rat) figure {
		if at.Sign() < 0 {
			at = rat(0)
		} else if at.Cmp(rat(100)) > 0 {
			at = rat(100)
		}
		return rounded(at, 1, 1)
	}
	return &Interval{Low: bound(new(big.Rat).Sub(r, margin)), High: bound(new(big.Rat).Add(r, margin))}
}

func brand(r Reading) Named { return r.Brand }

// rival picks a competitor of an answer; one that its snapshot lacks is not named.
func rival(id uuid.UUID) func(Reading) Named {
	return func(r Reading) Named {
		if i := slices.IndexFunc(r.Competitors, func(n Named) bool { return n.ID == id }); i >= 0 {
			return r.Competitors[i]
		}
		return Named{ID: id}
	}
}
