package naive

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gofrs/uuid/v5"
)

// Live is a brand or competitor that exists now, under its present name.
type Live struct {
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"`
	Slot *int16    `json:"-"` // of a competitor, its colour in charts
}

// Summary computes /api/v1/visibility-summary of a brand over all its readings. competitors are those that live.
func Summary(readings []Reading, f Filter, who Live, competitors []Live) Body {
	runs := f.runs(readings)
	t := count(answers(runs), brand)
	if f.Hiding == nil {
		f = f.WithHiding(readings)
	}
	notShown := counted(runs, Reading.notShown)
	seen := counted(answers(runs), func(r Reading) bool { return slices.Contains(f.Hiding, strings.ToLower(r.Answer.Platform)) })
	both := counts{answers: seen + notShown}
	return Body{
		"brand": who, "window": Body{"date_from": f.From, "date_to": f.To},
		"totals": Body{
			"resultCount": t.answers, "avgVisibility": t.averageVisibility(), "totalMentions": t.mentions, "totalCitations": t.citations,
			"visiblePrompts": len(t.visible), "promptCount": len(t.asked), "visibilityRatePct": t.visibilityRate(),
			"aiVisibilityScore": t.score(), "mentionAnswers": t.mentionAnswers, "citationAnswers": t.citationAnswers,
			"positionFactor": t.positionFactor(), "interval": t.interval(),
			"mentionRatePct": t.mentionRate(), "mentionRateInterval": t.mentionRateInterval(), "notShown": notShown, "shownRatePct": rounded(rat(100*seen), both.answers, 1),
			"shownRateInterval": both.ofPrompt(rat(100 * seen)), "sentiment": f.tones(answers(runs)),
		},
		"topCompetitors": top(answers(runs), competitors), "degraded_platforms": degraded(runs),
	}
}

// top are at most five competitors, of the most mentions first, then by name.
func top(answers []Reading, competitors []Live) []Body {
	type figures struct {
		name string
		counts
	}
	var named []figures
	for _, c := range competitors {
		if t := count(answers, rival(c.ID)); t.mentions > 0 {
			named = append(named, figures{c.Name, t})
		}
	}
	slices.SortFunc(named, func(a, b figures) int {
		return cmp.Or(cmp.Compare(b.mentions, a.mentions), cmp.Compare(a.name, b.name))
	})
	rows := []Body{}
	for _, t := range named[:min(len(named), 5)] {
		rows = append(rows, Body{"name": t.name, "mentions": t.mentions, "avgVisibility": t.averageVisibility(), "score": t.score()})
	}
	return rows
}

// degraded names the platforms of which over 20 % of the runs were given up.
func degraded(runs []Reading) []string {
	all, lost := map[string]int{}, map[string]int{}
	for _, r := range runs {
		platform := strings.ToLower(r.Answer.Platform)
		all[platform]++
		if r.givenUp() {
			lost[platform]++
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
