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
