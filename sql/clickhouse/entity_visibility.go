package clickhouse

import "github.com/answerscope/answerscope/sql/clickhouse/formula"

// EntityVisibility returns, for each group, the brand's row, then a row for each live competitor by name in code-point
// order.
var EntityVisibility = EntityFigures[GroupFilter, entitySums, Entity]{
	sumsOf[GroupFilter, entitySums]("entity_visibility"), entityRows,
}

// Entity is the brand or a live competitor over the window, all over the same answers. The brand's row has no name.
type Entity struct {
	Group   string `ch:"group_key"`
	ID      UUID   `ch:"entity_id"`
	IsBrand bool   `ch:"is_brand"`
	Name    string `ch:"name"`
	Visibility
	ShownPct    *float64 `ch:"shown_pct"` // nil: every platform always answered
	ShownLow    *float64 `ch:"shown_low"` // nil under 5 of them
	ShownHigh   *float64 `ch:"shown_high"`
	AvgPosition *float64 `ch:"avg_position"` // over answers that mention it
	Rank        *uint64  `ch:"rank"`         // by mention rate; entities with the same rate share it
	VoicePct    *float64 `ch:"sov_pct"`      // of all mentions
	RateGap
	Labelled    int64    `ch:"labelled"`     // answers that mention it and have a label; the tones are shares of them
	PositivePct *float64 `ch:"positive_pct"` // nil without labels
	NeutralPct  *float64 `ch:"neutral_pct"`
	NegativePct *float64 `ch:"negative_pct"`
}

// RateGap is the mention rate of the brand minus the rate of another entity over the same answers, in points. The gap
// is nil without answers and for one prompt; its ends are nil under 5 prompts.
type RateGap struct {
	Gap        *float64 `ch:"rate_gap"`
	GapLow     *float64 `ch:"rate_gap_low"`
	GapHigh    *float64 `ch:"rate_gap_high"`
	GapVerdict string   `ch:"rate_gap_verdict"` // the brand is ahead, behind, level, or there is too_little_data
}

// entitySums has the sums of an entity over the answers of a group. Only the brand's row has the sums of all answers.
type entitySums struct {
	Group       string `ch:"group_key"`
	ID          UUID   `ch:"entity_id"`
	Answers     int64  `ch:"answers"`
	NotShown    int64  `ch:"not_shown"`
	Seen        int64  `ch:"seen"`
	PromptCount uint64 `ch:"prompt_count"`
	NN          int64  `ch:"nn"`

	MB int64 `ch:"mb"` // of mm, mn and mb: see pointSums

	pointSums
	Positions int64 `ch:"positions"`
	Positive  int64 `ch:"positive_answers"`
	Neutral   int64 `ch:"neutral_answers"`
	Negative  int64 `ch:"negative_answers"`
}

// entityRows computes the figures of each group; without groups they exist also without answers.
func entityRows(filter GroupFilter, sums []entitySums, entities []entity) (rows []Entity) {
	groups := byEntity(sums, func(s entitySums) (string, UUID) { return s.Group, s.ID })
	for _, key := range groupKeys(filter.GroupBy, groups) {
		if brand := groups[key][filter.BrandID]; filter.GroupBy == NoGroups || brand.Answers+brand.NotShown > 0 {
			rows = append(rows, entitiesOf(filter, key, groups[key], entities)...)
		}
	}
	return rows
}

// entitiesOf computes the figures of a group's entities; one without a row has zeros.
func entitiesOf(filter GroupFilter, key string, sums map[UUID]entitySums, entities []entity) (rows []Entity) {
	brand, mentions := sums[filter.BrandID], int64(0)
	for _, c := range entities {
		s := sums[c.ID]
		mentions += s.Mentions
		e := newEntity(brand, s, len(filter.Prompts) > 0)
		e.Group, e.ID, e.IsBrand, e.Name = key, c.ID, c.ID == filter.BrandID, c.Name
		rows = append(rows, e)
	}
	for i := range rows {
		rows[i].VoicePct = formula.Round(formula.Percent(rows[i].Mentions, mentions), 1)
		if brand.Answers > 0 {
			rank := uint64(1)
			for _, other := range rows {
				if other.MentionAnswers > rows[i].MentionAnswers {
					rank++
				}
			}
			rows[i].Rank = &rank
		}
	}
	return rows
}

// newEntity computes what needs no other entity but the brand. ofPrompt: all answers are to one prompt, so that there
// are no clusters, and nothing is paired.
func newEntity(brand, s entitySums, ofPrompt bool) (e Entity) {
	mean := formula.Mean{Prompts: brand.PromptCount, Answers: brand.Answers, NN: float64(brand.NN)}
	e.Visibility = s.figures(mean, ofPrompt)
	e.NotShown, e.Labelled = brand.NotShown, s.Positive+s.Neutral+s.Negative
	e.ShownPct = formula.Round(formula.Percent(brand.Seen, brand.Seen+brand.NotShown), 1)
	e.ShownLow, e.ShownHigh = formula.Wilson(float64(brand.Seen), brand.Seen+brand.NotShown)
	e.AvgPosition = formula.Round(formula.Ratio(float64(s.Positions), float64(s.MentionAnswers)), 1)
	e.PositivePct = formula.Round(formula.Percent(s.Positive, e.Labelled), 1)
	e.NeutralPct = formula.Round(formula.Percent(s.Neutral, e.Labelled), 1)
	e.NegativePct = formula.Round(formula.Percent(s.Negative, e.Labelled), 1)
	e.GapVerdict = formula.GapVerdict(nil, nil)
	if !ofPrompt {
		e.RateGap = brand.gap(s.pointSums, s.MB, mean)
	}
	return e
}
