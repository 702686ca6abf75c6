package metrics

import (
	"context"
	"encoding/json"
	"errors"
	"math"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/pipeline/extract"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// maxThemes is the most suggestions of a kind that are kept.
const maxThemes = 50

// sentimentBody answers GET /api/v1/sentiment: how answers speak of the brand and its competitors.
type sentimentBody struct {
	sentimentFigures
	Themes []themeRow       `json:"themes"`          // of the last 90 days, by answers descending
	Method string           `json:"method"`          // that labels sentences
	Groups []sentimentGroup `json:"groups,omitzero"` // nil without group_by
}

// themeRow is a suggestion of kind theme that holds now.
type themeRow struct {
	Theme   string `json:"theme"`
	Answers int64  `json:"answers"`
}

type sentimentGroup struct {
	groupName
	sentimentFigures
}

// sentimentFigures describe the whole window or one group.
type sentimentFigures struct {
	Brand       labelledAnswers  `json:"brand"`
	Competitors []labelledEntity `json:"competitors"` // every live one, by name
}

type labelledEntity struct {
	ID   string `json:"competitor_id"`
	Name string `json:"name"`
	labelledAnswers
}

// labelledAnswers are the answers that name an entity, by label. Percentages divide by the labelled ones.
type labelledAnswers struct {
	Answers     int64     `json:"answers"` // that name it
	Positive    int64     `json:"positive"`
	Neutral     int64     `json:"neutral"`
	Negative    int64     `json:"negative"`
	Unknown     int64     `json:"unknown"`
	PositivePct *float64  `json:"positive_pct"`
	PositiveIn  *interval `json:"positive_interval"`
	NeutralPct  *float64  `json:"neutral_pct"`
	NeutralIn   *interval `json:"neutral_interval"`
	NegativePct *float64  `json:"negative_pct"`
	NegativeIn  *interval `json:"negative_interval"`
}

func (a *API) sentiment(ctx context.Context, caller identity.Identity, q *query) (any, error) {
	p, filter := q.common(a.now()), clickhouse.GroupFilter{GroupBy: q.groupBy(), Prompts: q.prompts()}
	if err := q.check(); err != nil {
		return nil, err
	}
	if _, err := a.findBrand(ctx, caller, p.brandID); err != nil {
		return nil, err
	}
	filter.Filter = p.filter(caller.OrganizationID)
	total, groups, err := totalAndGroups(ctx, a, filter, a.sentiments,
		func(name groupName, f sentimentFigures) sentimentGroup { return sentimentGroup{name, f} })
	if err != nil {
		return nil, err
	}
	themes, err := a.themes(ctx, caller, p.brandID)
	return sentimentBody{total, themes, extract.SentimentMethod, groups}, err
}

// themes returns the criticism that was computed of a brand's answers without the dismissed one.
func (a *API) themes(ctx context.Context, caller identity.Identity, brand uuid.UUID) ([]themeRow, error) {
	rows, err := a.db.Suggestions(ctx, postgres.SuggestionFilter{
		OrganizationID: caller.OrganizationID, BrandID: brand, AfterScore: math.Inf(-1), Limit: maxThemes,
		Kinds: []string{"theme"}, States: []string{"new", "added"},
	}, a.now())
	themes := make([]themeRow, len(rows))
	for i, r := range rows {
		themes[i].Theme = r.Key
		err = errors.Join(err, json.Unmarshal(r.Evidence, &themes[i]))
	}
	return themes, err
}

// sentiments returns the figures of each group.
func (a *API) sentiments(ctx context.Context, filter clickhouse.GroupFilter) ([]group[sentimentFigures], error) {
	rows, err := clickhouse.Sentiments.All(ctx, a.warehouse, filter)
	var groups []group[sentimentFigures]
	for key, rows := range rowsBy(rows, func(s clickhouse.Sentiment) string { return s.Group }) {
		figures := sentimentFigures{newLabelledAnswers(rows[0], filter.Prompts), make([]labelledEntity, len(rows)-1)}
		for i, s := range rows[1:] {
			figures.Competitors[i] = labelledEntity{s.ID.String(), s.Name, newLabelledAnswers(s, filter.Prompts)}
		}
		groups = append(groups, group[sentimentFigures]{key, rows[0].Answers, figures})
	}
	return groups, err
}

func newLabelledAnswers(s clickhouse.Sentiment, prompts []clickhouse.UUID) labelledAnswers {
	return labelledAnswers{
		Answers: s.MentionAnswers, Positive: s.Positive, Neutral: s.Neutral, Negative: s.Negative, Unknown: s.Unknown,
		PositivePct: s.PositivePct, PositiveIn: intervalOf(prompts, s.Labelled, s.PositiveLow, s.PositiveHigh),
		NeutralPct: s.NeutralPct, NeutralIn: intervalOf(prompts, s.Labelled, s.NeutralLow, s.NeutralHigh),
		NegativePct: s.NegativePct, NegativeIn: intervalOf(prompts, s.Labelled, s.NegativeLow, s.NegativeHigh),
	}
}
