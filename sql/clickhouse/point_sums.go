package clickhouse

import "github.com/answerscope/answerscope/sql/clickhouse/formula"

// pointSums has the sums over an entity's prompts that score and mention rate are computed from. Of a prompt's
// mentioning answers m, answers n and points y, MM is the sum of m^2, MN of m x n, YY of y^2, and YN of y x n.
type pointSums struct {
	VisiblePrompts  uint64  `ch:"visible_prompts"`
	MentionAnswers  int64   `ch:"mention_answers"`
	CitationAnswers int64   `ch:"citation_answers"`
	InversePosition int64   `ch:"inverse_position"`
	Mentions        int64   `ch:"mentions"`
	Citations       int64   `ch:"citations"`
	Visibility      int64   `ch:"visibility"`
	MM              int64   `ch:"mm"`
	MN              int64   `ch:"mn"`
	YY              float64 `ch:"yy"`
	YN              float64 `ch:"yn"`
}

// score is the mean of points over the answers and prompts of mean.
func (s pointSums) score(mean formula.Mean) formula.Mean {
	mean.Points = formula.Points(s.MentionAnswers, s.CitationAnswers, s.InversePosition)
	mean.YY, mean.YN = s.YY, s.YN
	return mean
}

// mentionRate is the mean over the same, where an answer that mentions the entity has 100 points.
func (s pointSums) mentionRate(mean formula.Mean) formula.Mean {
	mean.Points, mean.YY, mean.YN = float64(100*s.MentionAnswers), float64(10000*s.MM), float64(100*s.MN)
	return mean
}

// gap is the mention rate less another entity's over the same answers; mb is the sum over prompts of the answers
// that mention the one x those that mention the other.
func (s pointSums) gap(other pointSums, mb int64, mean formula.Mean) (g RateGap) {
	mean.Lowest, mean.Points = -100, float64(100*(s.MentionAnswers-other.MentionAnswers))
	mean.YY, mean.YN = float64(10000*(s.MM-2*mb+other.MM)), float64(100*(s.MN-other.MN))
	g.Gap = formula.Round(mean.Value(), 1)
	g.GapLow, g.GapHigh = mean.Interval()
	g.GapVerdict = formula.GapVerdict(g.GapLow, g.GapHigh)
	return g
}

// intervalOf returns the ends of a mean's interval. ofPrompt: all answers are to one prompt, so there are no clusters.
func intervalOf(mean formula.Mean, ofPrompt bool) (low, high *float64) {
	if ofPrompt {
		return mean.PromptInterval()
	}
	return mean.Interval()
}

// figures computes the figures over the answers and prompts of mean.
func (s pointSums) figures(mean formula.Mean, ofPrompt bool) Visibility {
	score, rate, answers := s.score(mean), s.mentionRate(mean), float64(mean.Answers)
	v := Visibility{
		Answers: mean.Answers, MentionAnswers: s.MentionAnswers, CitationAnswers: s.CitationAnswers,
		Mentions: s.Mentions, Citations: s.Citations,
		PromptCount: mean.Prompts, VisiblePrompts: s.VisiblePrompts,
		VisibilityRatePct: formula.Round(formula.Percent(s.VisiblePrompts, mean.Prompts), 1),
		AvgVisibility:     formula.Round(formula.Ratio(float64(s.Visibility), answers), 1),
		PositionFactor:    formula.Round(formula.Ratio(float64(s.InversePosition)/formula.InverseDivisor, answers), 4),
		Score:             formula.Round(score.Value(), 1),
		MentionRatePct:    formula.Round(rate.Value(), 1),
	}
	v.IntervalLow, v.IntervalHigh = intervalOf(score, ofPrompt)
	v.MentionRateLow, v.MentionRateHigh = intervalOf(rate, ofPrompt)
	return v
}
