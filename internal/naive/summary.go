package naive

import (
	"cmp"
	"slices"

	"github.com/gofrs/uuid/v5"
)

// Live is a brand or competitor that exists now, under its present name.
type Live struct {
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"`
}

// SummaryBody is the body of /api/v1/visibility-summary.
type SummaryBody struct {
	Brand             Live            `json:"brand"`
	Window            Window          `json:"window"`
	Totals            Totals          `json:"totals"`
	TopCompetitors    []TopCompetitor `json:"topCompetitors"`
	DegradedPlatforms []string        `json:"degraded_platforms"`
}

// Window is inclusive UTC days.
type Window struct {
	From string `json:"date_from"`
	To   string `json:"date_to"`
}

// Totals are the brand's figures over the window.
type Totals struct {
	ResultCount       int       `json:"resultCount"`
	AvgVisibility     figure    `json:"avgVisibility"`
	TotalMentions     int       `json:"totalMentions"`
	TotalCitations    int       `json:"totalCitations"`
	VisiblePrompts    int       `json:"visiblePrompts"`
	PromptCount       int       `json:"promptCount"`
	VisibilityRatePct figure    `json:"visibilityRatePct"`
	AIVisibilityScore figure    `json:"aiVisibilityScore"`
	MentionAnswers    int       `json:"mentionAnswers"`
	CitationAnswers   int       `json:"citationAnswers"`
	PositionFactor    figure    `json:"positionFactor"`
	Interval          *Interval `json:"interval"`
}

// TopCompetitor is one of at most five.
type TopCompetitor struct {
	Name          string `json:"name"`
	Mentions      int    `json:"mentions"`
	AvgVisibility figure `json:"avgVisibility"`
	Score         figure `json:"score"`
}

// Summary computes the summary of a brand over all its readings. competitors are those that live.
func Summary(readings []Reading, f Filter, who Live, competitors []Live) SummaryBody {
	runs := f.runs(readings)
	t := count(answers(runs), brand)
	return SummaryBody{
		Brand: who, Window: Window{f.From, f.To},
		Totals: Totals{
			ResultCount: t.answers, AvgVisibility: t.averageVisibility(), TotalMentions: t.mentions, TotalCitations: t.citations,
			VisiblePrompts: len(t.visible), PromptCount: len(t.asked), VisibilityRatePct: t.visibilityRate(),
			AIVisibilityScore: t.score(), MentionAnswers: t.mentionAnswers, CitationAnswers: t.citationAnswers,
			PositionFactor: t.positionFactor(), Interval: t.interval(),
		},
		TopCompetitors:    top(answers(runs), competitors),
		DegradedPlatforms: degraded(runs),
	}
}

func top(answers []Reading, competitors []Live) []TopCompetitor {
	named := []TopCompetitor{}
	for _, c := range competitors {
		if t := count(answers, rival(c.ID)); t.mentions > 0 {
			named = append(named, TopCompetitor{c.Name, t.mentions, t.averageVisibility(), t.score()})
		}
	}
	slices.SortFunc(named, func(a, b TopCompetitor) int {
		return cmp.Or(cmp.Compare(b.Mentions, a.Mentions), cmp.Compare(a.Name, b.Name))
	})
	return named[:min(len(named), 5)]
}

// degraded names the platforms of which over 20 % of the runs were given up.
func degraded(runs []Reading) []string {
	all, lost := map[string]int{}, map[string]int{}
	for _, r := range runs {
		all[r.Answer.Platform]++
		if r.givenUp() {
			lost[r.Answer.Platform]++
		}
	}
	platforms := []string{}
	for platform, n := range lost {
		if 5*n > all[platform] {
			platforms = append(platforms, platform)
		}
	}
	slices.Sort(platforms)
	return platforms
}
