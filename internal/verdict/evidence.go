package verdict

import "math"

// maxEvidence bounds the e-value of a change at one day.
var maxEvidence = math.Exp(27.6)

// An evidence has the tests of a change at each position of an index that has enough days on both sides.
type evidence struct {
	comparison *comparison
	first      int // position of changes[0]
	changes    []change
}

// A change compares the index from a position on with that before it.
type change struct {
	position   int
	difference float64
	days, all  test // all takes the larger variance, of days or of clusters
}

// A test has the variance of a difference and its degrees of freedom.
type test struct{ variance, degrees, nStar float64 } // nStar: b·a/(b+a) of the days before and after

// evidence tests a change at each day. Where the earlier comparison has enough days, the variance of clusters is
// the mean of both: it shows how much they wander when nothing else happens.
func (c *comparison) evidence(earlier *comparison) evidence {
	e := evidence{comparison: c, first: minDaysBefore, changes: make([]change, 0, len(c.days))}
	for position := minDaysBefore; position <= len(c.days)-minDaysAfter; position++ {
		at := c.changeAt(position)
		variance, count := c.clusterVariance(position)
		degrees := float64(count - 1)
		if earlier.enoughDays() {
			shift := c.window.From - earlier.window.From
			v, n := earlier.clusterVariance(earlier.position(c.day(position) - shift))
			if n >= minClusters {
				variance, degrees = (variance+v)/2, degrees+float64(n-1)
			}
		}
		if variance > at.days.variance {
			at.all = test{variance, min(at.days.degrees, degrees), at.days.nStar}
		}
		e.changes = append(e.changes, at)
	}
	return e
}

// changeAt returns the change at a position, with the variance of days: the noise of the index about the mean of each
// side, never under half an answer a day, widened for autocorrelation.
func (c *comparison) changeAt(position int) change {
	m := float64(len(c.index))
	b := float64(position)
	a := m - b
	nStar := a * b / m
	mean := func(list []float64) (sum float64) {
		for _, x := range list {
			sum += x
		}
		return sum / float64(len(list))
	}
	squares, products, previous := 0.0, 0.0, 0.0
	means := [2]float64{mean(c.index[:position]), mean(c.index[position:])}
	for i, x := range c.index {
		side := before
		if i >= position {
			side = after
		}
		x -= means[side]
		squares += x * x
		if i > 0 && i != position {
			products += x * previous
		}
		previous = x
	}
	correlation := -1.0
	if squares > 1e-9 {
		correlation = products / squares
	}
	correlation = min(0.8, max(0, correlation+2*(1+3*correlation)/m))
	floor := 50 * m / c.weight
	days := test{
		variance: max(squares/(m-2), floor*floor) / nStar * (1 + correlation) / (1 - correlation),
		degrees:  m - 2, nStar: nStar,
	}
	return change{position, means[after] - means[before], days, days}
}

// eValue returns how much better a change explains the difference than noise does, by the t-mixture of Lindon et al.
func (t test) eValue(difference float64) float64 {
	square, scale := difference*difference/t.variance, 1+t.nStar
	ratio := (1 + square/t.degrees) / (1 + square/(t.degrees*scale))
	return min(maxEvidence, math.Pow(ratio, (t.degrees+1)/2)/math.Sqrt(scale))
}

// quantile returns the t at which the e-value reaches a level, squared; ok is false if no t reaches it.
func (t test) quantile(level float64) (q float64, ok bool) {
	scale := 1 + t.nStar
	k := math.Pow(level*math.Sqrt(scale), 2/(t.degrees+1))
	if k >= scale {
		return 0, false
	}
	return math.Sqrt(t.degrees * (k - 1) / (1 - k/scale)), true
}

// interval returns the changes whose e-value is under brandEvidence; nil if that is all changes.
func (t test) interval(difference float64) *Interval {
	q, ok := t.quantile(brandEvidence)
	if !ok {
		return nil
	}
	half := q * math.Sqrt(t.variance)
	return &Interval{difference - half, difference + half}
}

// normal80 is the quantile of the normal distribution for a power of 80 %.
const normal80 = 0.8416

func (t test) detectable() *float64 {
	q, ok := t.quantile(brandEvidence)
	if !ok {
		return nil
	}
	return new(math.Sqrt(t.variance) * (q + normal80))
}

// start returns the change at the window's first day.
func (e evidence) start() change { return e.changes[e.comparison.split-e.first] }

// mixed returns the e-value over the unknown day of change: half the weight is at the window's first day. A window
// under 14 days is looked at more often than it is long, and counts less.
func (e evidence) mixed(test func(change) test) float64 {
	start, others, sum := 0.0, 0.0, 0.0
	for _, c := range e.changes {
		value := test(c).eValue(c.difference)
		if c.position == e.comparison.split {
			start = value
			continue
		}
		others++
		sum += value
	}
	factor := min(1, float64(e.comparison.window.Days())/14)
	if others == 0 {
		return factor * start
	}
	return factor * (start + sum/others) / 2
}

// strongest returns the change with the most evidence.
func (e evidence) strongest(test func(change) test) change {
	best, maximum := e.changes[0], -1.0
	for _, c := range e.changes {
		if value := test(c).eValue(c.difference); value > maximum {
			best, maximum = c, value
		}
	}
	return best
}
