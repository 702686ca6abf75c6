package clickhouse

import "github.com/answerscope/answerscope/sql/clickhouse/formula"

// Sentiments returns, for each group, the brand's row, then a row for each live competitor by name.
var Sentiments = EntityFigures[GroupFilter, sentimentSums, Sentiment]{
	sumsOf[GroupFilter, sentimentSums]("sentiment"), sentimentRows,
}

// Sentiment counts the answers that name the brand or a live competitor by label. The brand's row has no name.
// Percentages divide by Labelled, and are nil without any; ends of intervals are nil under 5 prompts.
type Sentiment struct {
	Group          string   `ch:"group_key"`
	ID             UUID     `ch:"entity_id"`
	IsBrand        bool     `ch:"is_brand"`
	Name           string   `ch:"name"`
	Answers        int64    `ch:"answers"` // all of the group
	MentionAnswers int64    `ch:"mention_answers"`
	Labelled       int64    `ch:"labelled"`
	Unknown        int64    `ch:"unknown"`
	Positive       int64    `ch:"positive"`
	Neutral        int64    `ch:"neutral"`
	Negative       int64    `ch:"negative"`
	PositivePct    *float64 `ch:"positive_pct"`
	PositiveLow    *float64 `ch:"positive_low"`
	PositiveHigh   *float64 `ch:"positive_high"`
	NeutralPct     *float64 `ch:"neutral_pct"`
	NeutralLow     *float64 `ch:"neutral_low"`
	NeutralHigh    *float64 `ch:"neutral_high"`
	NegativePct    *float64 `ch:"negative_pct"`
	NegativeLow    *float64 `ch:"negative_low"`
	NegativeHigh   *float64 `ch:"negative_high"`
}

// sentimentSums has the sums of an entity over the answers of a group that name it; only the brand's row has the
// answers of all. Of a prompt's labelled answers n, of which y have a label, YY is the sum of y^2 and YN of y x n.
type sentimentSums struct {
	Group          string `ch:"group_key"`
	ID             UUID   `ch:"entity_id"`
	Answers        int64  `ch:"answers"`
	MentionAnswers int64  `ch:"mention_answers"`
	Positive       int64  `ch:"positive"`
	Neutral        int64  `ch:"neutral"`
	Negative       int64  `ch:"negative"`
	PromptCount    uint64 `ch:"prompt_count"` // with labelled answers
	NN             int64  `ch:"nn"`
	PositiveYY     int64  `ch:"positive_yy"`
	NeutralYY      int64  `ch:"neutral_yy"`
	NegativeYY     int64  `ch:"negative_yy"`
	PositiveYN     int64  `ch:"positive_yn"`
	NeutralYN      int64  `ch:"neutral_yn"`
	NegativeYN     int64  `ch:"negative_yn"`
}

// sentimentRows computes the shares of each group; without groups they exist also without answers, and an entity
// without a row has zeros.
func sentimentRows(filter GroupFilter, sums []sentimentSums, entities []entity) (rows []Sentiment) {
	groups := byEntity(sums, func(s sentimentSums) (string, UUID) { return s.Group, s.ID })
	for _, key := range groupKeys(filter.GroupBy, groups) {
		answers := groups[key][filter.BrandID].Answers
		if filter.GroupBy != NoGroups && answers == 0 {
			continue
		}
		for _, entity := range entities {
			row := groups[key][entity.ID].shares(len(filter.Prompts) > 0)
			row.Group, row.ID, row.IsBrand, row.Name = key, entity.ID, entity.ID == filter.BrandID, entity.Name
			row.Answers = answers
			rows = append(rows, row)
		}
	}
	return rows
}

func (s sentimentSums) shares(ofPrompt bool) Sentiment {
	labelled := s.Positive + s.Neutral + s.Negative
	row := Sentiment{
		MentionAnswers: s.MentionAnswers, Labelled: labelled, Unknown: s.MentionAnswers - labelled,
		Positive: s.Positive, Neutral: s.Neutral, Negative: s.Negative,
	}
	share := func(y, yy, yn int64) (pct, low, high *float64) { // an answer of the label has 100 points
		mean := formula.Mean{
			Prompts: s.PromptCount, Answers: labelled, NN: float64(s.NN),
			Points: float64(100 * y), YY: float64(10000 * yy), YN: float64(100 * yn),
		}
		low, high = intervalOf(mean, ofPrompt)
		return formula.Round(mean.Value(), 1), low, high
	}
	row.PositivePct, row.PositiveLow, row.PositiveHigh = share(s.Positive, s.PositiveYY, s.PositiveYN)
	row.NeutralPct, row.NeutralLow, row.NeutralHigh = share(s.Neutral, s.NeutralYY, s.NeutralYN)
	row.NegativePct, row.NegativeLow, row.NegativeHigh = share(s.Negative, s.NegativeYY, s.NegativeYN)
	return row
}
