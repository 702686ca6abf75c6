package verdict

import "math"

// PlanDays is the number of days from whose answers a plan is made.
const PlanDays = 28

// A Plan has how many answers a day would show a change within some days with power 80 %.
type Plan struct {
	AnswersPerDay   float64  // now
	AnswerShare     float64  // of the runs that were not given up: in the others the surface had no answer
	AnswerDeviation float64  // of an answer's points about the mean of its cell
	DayDeviation    float64  // of the index, beyond that of its answers: no number of answers lessens it
	Needed          *float64 // answers a day, for a move of reach prompts; nil: no number suffices
	Clusters        int      // topics or prompts
	NeededClusters  *int     // for a move of reach brand; nil: it has no points yet
}

// Plan returns the plan for a change of so many points within so many days, from 3 to 49, from a row's answers of the
// PlanDays days that end with to; ok is false if the answers are too few to tell: then only AnswersPerDay is set.
func (b *Basket) Plan(to Day, r Row, difference float64, days int) (p Plan, ok bool) {
	cells := b.row(r)
	p.AnswersPerDay, p.AnswerShare = b.answersPerDay(cells, to)
	c := b.compare(Window{From: to - PlanDays/2 + 1, To: to, CompareDays: PlanDays / 2}, r.Entity, cells)
	clusters := clusterOf(c.basis(), r.Dimension != ByTopic)
	c.fill(clusters)
	squares, degrees := c.withinCells()
	if !c.enoughDays() || degrees <= 0 {
		return p, false
	}
	answerVariance := squares / degrees
	dayVariance := max(0, variance(c.index)-answerVariance/p.AnswersPerDay)
	p.AnswerDeviation, p.DayDeviation = math.Sqrt(answerVariance), math.Sqrt(dayVariance)
	p.Needed = neededAnswers(answerVariance, dayVariance, difference, days)
	p.Clusters = len(c.clusters)
	earlier := b.compare(Window{to - PlanDays + 1, to, PlanDays}.earlier(), r.Entity, c.basis())
	earlier.fill(clusters)
	p.NeededClusters = c.neededClusters(clusters, earlier.enoughDays())
	return p, true
}

// answersPerDay returns the mean of the days that have answers, and the share of runs that have one.
func (b *Basket) answersPerDay(cells []*cell, to Day) (mean, share float64) {
	answers, runs, days := 0.0, 0.0, 0.0
	for at := int(max(0, to-PlanDays+1-b.first)); at <= int(to-b.first); at++ {
		n := 0.0
		for _, c := range cells {
			n += c.answers[at]
			runs += c.runs[at] - c.givenUp[at]
		}
		if answers += n; n > 0 {
			days++
		}
	}
	return answers / max(1, days), answers / max(1, runs)
}

// neededAnswers returns how many answers a day show a change; nil if no number does.
func neededAnswers(answerVariance, dayVariance, difference float64, days int) *float64 {
	b, k := float64(2*PlanDays-days), float64(days)
	evidence := 9200.0 // the weight of one day among the days on which a change may begin
	if days >= PlanDays {
		evidence = 200
	}
	quantile, _ := test{degrees: b + k - 2, nStar: b * k / (b + k)}.quantile(evidence)
	q := difference / ((quantile + normal80) * math.Sqrt(1/b+1/k))
	if q*q <= dayVariance {
		return nil
	}
	return new(max(answerVariance/(q*q-dayVariance), 50/q))
}

// withinCells returns the sum of the squared deviations of answers from the mean of their cell, and its degrees.
func (c *comparison) withinCells() (squares, degrees float64) {
	for _, cell := range c.cells {
		for _, at := range c.days {
			if n := cell.answers[at]; n > 0 {
				squares += cell.points[at] * cell.points[at] / n
				degrees++
			}
		}
		_, points := cell.sums(c.days)
		squares -= points * points / cell.weight
		degrees--
	}
	return max(0, squares), degrees // floats leave less than 0 of equal answers
}

func variance(list []float64) float64 {
	n := float64(len(list))
	mean, squares := sum(list)/n, 0.0
	for _, x := range list {
		squares += (x - mean) * (x - mean)
	}
	return squares / (n - 1)
}

// clusterQuantile is the t by which a plan expects clusters to reach brandEvidence.
const clusterQuantile = 3.44

// neededClusters returns how many clusters would show that a change is not one of a few prompts: the more their levels
// differ, the more. An earlier comparison halves the number.
func (c *comparison) neededClusters(clusterOf map[*cell]int, hasEarlier bool) *int {
	levels := make([]float64, len(c.clusters))
	for _, cell := range c.cells {
		k := clusterOf[cell.cell]
		levels[k] += cell.weight * cell.mean / c.clusters[k].weight
	}
	mean := sum(levels) / float64(len(levels))
	if mean == 0 || len(levels) < 2 {
		return nil
	}
	needed := math.Pow(math.Sqrt(variance(levels))/mean*(clusterQuantile+normal80), 2)
	if hasEarlier {
		needed /= 2
	}
	return new(max(minClusters, int(math.Ceil(needed))))
}
