// Package formula has the formulas of metrics over sums, as functions of function/ have them in SQL: analysts' views
// compute with those, the API with these, since the server takes longer to plan formulas than to compute the sums. Both
// give the same numbers, which a test compares. nil is SQL's NULL.
package formula

import "math"

// Ratio is part / total, nil where total is 0 (answerscope_ratio).
func Ratio(part, total float64) *float64 {
	if total == 0 {
		return nil
	}
	return new(part / total)
}

// Percent is part of total in per cent.
func Percent[N int64 | uint64](part, total N) *float64 {
	return Ratio(float64(100*part), float64(total))
}

// Round rounds half away from zero, as figures are shown (answerscope_round). Like the engine it rounds a float half to
// even, so the number grows by a hundred-billionth before; adding 0 makes -0 to 0.
func Round(x *float64, digits int) *float64 {
	if x == nil {
		return nil
	}
	scale := math.Pow10(digits)
	return new(math.RoundToEven(*x*1.00000000001*scale)/scale + 0)
}

// InverseDivisor is what sums of inverse positions are divided by.
const InverseDivisor = 5354228880

// Points is the sum of answers' points (answerscope_points).
func Points(mentionAnswers, citationAnswers, inversePosition int64) float64 {
	return float64(60*mentionAnswers+25*citationAnswers) + float64(15*inversePosition)/InverseDivisor
}

// A Mean is the mean of points of n answers to k prompts, from 0 to 100, or from -100 of a gap. YY, YN and NN are the
// sums over prompts of y^2, y x n and n^2, y being a prompt's points and n its answers.
type Mean struct {
	Prompts    uint64
	Answers    int64
	Points     float64
	YY, YN, NN float64
	Lowest     float64
}

// Value is the mean, nil without answers.
func (m Mean) Value() *float64 { return Ratio(m.Points, float64(m.Answers)) }

// Interval returns the ends of the mean's 95 % interval, rounded, of at least 5 prompts: answerscope_margin on either
// side of the mean.
func (m Mean) Interval() (low, high *float64) {
	if m.Prompts < 5 {
		return nil, nil
	}
	mean, k, n := *m.Value(), float64(m.Prompts), float64(m.Answers)
	spread := m.YY - 2*mean*m.YN + mean*mean*m.NN - 1e-12*m.YY
	margin := criticalT(m.Prompts-1) * math.Sqrt(k/(k-1)*max(0, spread)) / n
	end := func(side float64) *float64 { return Round(new(min(100, max(m.Lowest, mean+side*margin))), 1) }
	return end(-1), end(1)
}

// PromptInterval returns the ends of the mean's 95 % interval, rounded, of at least 5 answers to one prompt.
func (m Mean) PromptInterval() (low, high *float64) { return Wilson(m.Points/100, m.Answers) }

// Wilson returns the ends of the 95 % interval of the mean of n independent answers, in per cent and rounded, nil under
// 5 of them; x is their sum, each from 0 to 1 (answerscope_wilson).
func Wilson(x float64, answers int64) (low, high *float64) {
	if answers < 5 {
		return nil, nil
	}
	n := float64(answers)
	end := func(z float64) *float64 {
		return Round(new(100*(x+1.9208+z*math.Sqrt(x*(n-x)/n+0.9604))/(n+3.8416)), 1)
	}
	return end(-1.96), end(1.96)
}

// GapVerdict compares the brand with another by the ends of the interval of its rate less the other's
// (answerscope_gap_verdict).
func GapVerdict(low, high *float64) string {
	switch {
	case low == nil:
		return "too_little_data"
	case *low > 0:
		return "ahead"
	case *high < 0:
		return "behind"
	}
	return "level"
}

// quantiles has Student's t that 2.5 % exceed, of 1 to 29 degrees of freedom.
var quantiles = []float64{
	12.706204736, 4.302652730, 3.182446305, 2.776445105, 2.570581836, 2.446911851, 2.364624252, 2.306004135,
	2.262157163, 2.228138852, 2.200985160, 2.178812830, 2.160368656, 2.144786688, 2.131449546, 2.119905299,
	2.109815578, 2.100922040, 2.093024054, 2.085963447, 2.079613845, 2.073873068, 2.068657610, 2.063898562,
	2.059538553, 2.055529439, 2.051830516, 2.048407142, 2.045229642,
}

// criticalT is answerscope_critical_t: from 30 degrees on the expansion about the normal quantile (Abramowitz and
// Stegun, 26.7.5).
func criticalT(degrees uint64) float64 {
	if degrees <= uint64(len(quantiles)) {
		return quantiles[degrees-1]
	}
	d := float64(degrees)
	return 1.959963985 + (2.372271230+(2.822498616+(2.555849680+1.589534053/d)/d)/d)/d
}
