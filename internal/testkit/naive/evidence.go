package naive

import (
	"maps"
	"math"
	"slices"
)

// A curve is the index over the cells of a cluster, which has a share of the weight of all cells.
type curve struct {
	share  float64
	points []point
}

// curves are those of the clusters.
func (ix index) curves(clusterOf map[cell]string) (curves []curve) {
	for _, k := range slices.Compact(slices.Sorted(maps.Values(clusterOf))) {
		inside := func(c cell) bool { return clusterOf[c] == k }
		weight := 0.0
		for _, c := range ix.cells() {
			if inside(c) {
				weight += ix.weight[c]
			}
		}
		curves = append(curves, curve{weight / ix.whole(), ix.points(inside)})
	}
	return curves
}

// wander is the variance of a difference at a split if clusters change by themselves, and how many clusters have both
// sides.
func wander(curves []curve, day int) (variance float64, clusters int) {
	var shares, differences []float64
	for _, k := range curves {
		if before, after, b, a := means(k.points, day); a > 0 && b > 0 {
			shares, differences = append(shares, k.share), append(differences, after-before)
		}
	}
	total := 0.0
	for _, w := range shares {
		total += w
	}
	for k := range shares {
		shares[k] /= total
	}
	middle := 0.0
	for k, d := range differences {
		middle += shares[k] * d
	}
	for k, d := range differences {
		variance += shares[k] * shares[k] * (d - middle) * (d - middle)
	}
	if clusters = len(differences); clusters < 2 {
		return 0, clusters
	}
	return variance * float64(clusters) / float64(clusters-1), clusters
}

// A split is the evidence of a change on a day: the variances by days and by clusters, each with its degrees.
type split struct {
	day                            int
	difference, effective          float64 // effective is n*
	varianceDays, varianceClusters float64
	degrees, degreesClusters       float64
}

// A past is an earlier comparison, which shows how much clusters wander by themselves.
type past struct {
	index
	curves []curve
	shift  int // days by which it is earlier
	usable bool
}

// split computes the evidence of a change on a day.
func (ix index) split(day int, points []point, curves []curve, earlier past) split {
	before, after, b, a := means(points, day)
	s := split{day: day, difference: after - before, effective: a * b / (a + b), degrees: a + b - 2}

	var squares, products, last float64
	for i, p := range points {
		e := p.value - before
		if p.day >= day {
			e = p.value - after
		}
		if i > 0 && float64(i) != b {
			products += last * e
		}
		squares += e * e
		last = e
	}
	variance := max(squares/s.degrees, math.Pow(50*(a+b)/ix.whole(), 2))
	phi := -1.0
	if squares > 1e-9 {
		phi = products / squares
	}
	phi = min(max(phi+2*(1+3*phi)/(a+b), 0), 0.8)
	s.varianceDays = variance / s.effective * (1 + phi) / (1 - phi)

	variance, clusters := wander(curves, day)
	s.varianceClusters, s.degreesClusters = variance, float64(clusters-1)
	if variance, clusters := wander(earlier.curves, day-earlier.shift); earlier.usable && clusters >= 5 {
		s.varianceClusters = (s.varianceClusters + variance) / 2
		s.degreesClusters += float64(clusters - 1)
	}
	return s
}

// chosen is the larger variance and its degrees.
func (s split) chosen() (variance, degrees float64) {
	if s.varianceClusters > s.varianceDays {
		return s.varianceClusters, min(s.degrees, s.degreesClusters)
	}
	return s.varianceDays, s.degrees
}

func (s split) eDays() float64 { return s.evidence(s.varianceDays, s.degrees) }

func (s split) eAll() float64 { return s.evidence(s.chosen()) }

func (s split) evidence(variance, degrees float64) float64 {
	t2, n1 := s.difference*s.difference/variance, 1+s.effective
	e := math.Pow((1+t2/degrees)/(1+t2/(degrees*n1)), (degrees+1)/2) / math.Sqrt(n1)
	return min(e, math.Exp(27.6))
}

func (s split) intervalDays() *Range { return s.interval(s.varianceDays, s.degrees) }

func (s split) intervalAll() *Range { return s.interval(s.chosen()) }

func (s split) interval(variance, degrees float64) *Range {
	t := s.critical(degrees)
	if t == nil {
		return nil
	}
	half := math.Sqrt(variance) * *t
	return &Range{s.difference - half, s.difference + half}
}

// detectable is the least change that is seen with power 80 %.
func (s split) detectable() figure {
	variance, degrees := s.chosen()
	t := s.critical(degrees)
	if t == nil {
		return nil
	}
	least := math.Sqrt(variance) * (*t + 0.8416)
	return &least
}

// critical is the t below which the evidence is under 20; nil if it always is.
func (s split) critical(degrees float64) figure {
	n1 := 1 + s.effective
	k := math.Pow(20*math.Sqrt(n1), 2/(degrees+1))
	if k >= n1 {
		return nil
	}
	t := math.Sqrt(degrees * (k - 1) / (1 - k/n1))
	return &t
}
