package verdict

import "math"

// Wilson returns the 95 % score interval of a rate, 0 to 1, of k among n (Wilson 1927). n need not be whole.
func Wilson(k, n float64) Interval {
	const z = 1.959964 // the quantile of the normal distribution for 97.5 %
	rate := k / n
	scale := 1 + z*z/n
	middle := (rate + z*z/(2*n)) / scale
	half := z / scale * math.Sqrt(rate*(1-rate)/n+z*z/(4*n*n))
	return Interval{max(0, middle-half), min(1, middle+half)}
}
