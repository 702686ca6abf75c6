package naive

import (
	"math/big"
	"slices"

	"github.com/gofrs/uuid/v5"
	"gonum.org/v1/gonum/stat/distuv"
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
	places                                   int                    // Σ position where named
	positions                                *big.Rat               // Σ 1/position, 0 where not named
	points                                   map[uuid.UUID]*big.Rat // by prompt
	asked                                    map[uuid.UUID]int      // answers by prompt
	visible                                  map[uuid.UUID]bool
	named                                    map[uuid.UUID]*big.Rat // 100 for each answer that names it, by prompt
}

// count counts what of gives for each answer.
func count(answers []Reading, of func(Reading) Named) counts {
	t := counts{positions: new(big.Rat), points: map[uuid.UUID]*big.Rat{}, asked: map[uuid.UUID]int{}, visible: map[uuid.UUID]bool{}, named: map[uuid.UUID]*big.Rat{}}
	for _, a := range answers {
		n, prompt := of(a), a.Answer.Prompt.ID
		if t.points[prompt] == nil {
			t.points[prompt], t.named[prompt] = new(big.Rat), new(big.Rat)
		}
		t.answers++
		t.asked[prompt]++
		t.mentions += n.Mentions
		t.citations += n.Citations
		t.visibility += n.Visibility
		if n.Mentions > 0 {
			t.mentionAnswers++
			t.places += n.Position
			t.named[prompt].Add(t.named[prompt], rat(100))
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

func (t counts) mentionRate() figure { return rounded(rat(100*t.mentionAnswers), t.answers, 1) }

// Interval is the 95 % interval of a score or rate, or why there is none.
type Interval struct {
	Low    figure `json:"low,omitempty"`
	High   figure `json:"high,omitempty"`
	Reason string `json:"reason,omitempty"`
}

func (t counts) interval() *Interval { return t.clustered(t.points, 0) }

func (t counts) mentionRateInterval() *Interval { return t.clustered(t.named, 0) }

// clustered is the interval of the mean of the answers' points, robust to their clustering by prompt. An answer has
// from least to 100 points.
func (t counts) clustered(points map[uuid.UUID]*big.Rat, least int) *Interval {
	k := len(t.asked)
	switch {
	case t.answers == 0:
		return nil
	case k < 5:
		return &Interval{Reason: "too_few_prompts"}
	}
	total := new(big.Rat)
	for _, y := range points {
		total.Add(total, y)
	}
	n := rat(t.answers)
	r := new(big.Rat).Quo(total, n)
	squares := new(big.Rat) // Σ (y_p − R·n_p)², which the definition writes multiplied out
	for prompt, y := range points {
		off := new(big.Rat).Sub(y, new(big.Rat).Mul(r, rat(t.asked[prompt])))
		squares.Add(squares, off.Mul(off, off))
	}
	squares.Mul(squares, big.NewRat(int64(k), int64(k-1)))
	quantile := new(big.Rat).SetFloat64(Student(k - 1))
	margin := new(big.Rat).Mul(root(squares), quantile)
	margin.Quo(margin, n)
	return &Interval{Low: bound(new(big.Rat).Sub(r, margin), least), High: bound(new(big.Rat).Add(r, margin), least)}
}

// Student is the quantile of Student's t that 2.5 % exceed.
func Student(degrees int) float64 {
	return distuv.StudentsT{Sigma: 1, Nu: float64(degrees)}.Quantile(0.975)
}

// ofPrompt is the interval of the mean of one prompt's answers, each of which has 0 to 100 of the points: where the
// mean of independent zeros and hundreds may lie (Wilson). None under 5 answers.
func (t counts) ofPrompt(points *big.Rat) *Interval {
	if t.answers < 5 {
		return nil
	}
	n, x, z := rat(t.answers), new(big.Rat).Quo(points, rat(100)), big.NewRat(196, 100)
	zz := new(big.Rat).Mul(z, z)
	spread := new(big.Rat).Mul(x, new(big.Rat).Sub(n, x))
	spread.Quo(spread, n).Add(spread, new(big.Rat).Quo(zz, rat(4)))
	half := new(big.Rat).Mul(z, root(spread))
	middle := new(big.Rat).Add(x, new(big.Rat).Quo(zz, rat(2)))
	end := func(at *big.Rat) figure {
		return bound(at.Mul(at, rat(100)).Quo(at, new(big.Rat).Add(n, zz)), 0)
	}
	return &Interval{Low: end(new(big.Rat).Sub(middle, half)), High: end(new(big.Rat).Add(middle, half))}
}

// root is a square root to 200 bits.
func root(of *big.Rat) *big.Rat {
	f := new(big.Float).SetPrec(200).SetRat(of)
	r, _ := f.Sqrt(f).Rat(nil)
	return r
}

// bound is an end of an interval as it is shown, from least to 100.
func bound(at *big.Rat, least int) figure {
	if at.Cmp(rat(least)) < 0 {
		at = rat(least)
	} else if at.Cmp(rat(100)) > 0 {
		at = rat(100)
	}
	return rounded(at, 1, 1)
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
