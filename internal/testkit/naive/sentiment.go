package naive

import (
	"slices"
	"strings"
)

// Labels computes /api/v1/sentiment but its themes and method. competitors are those that live.
func Labels(readings []Reading, f Filter, competitors []Live) Body {
	all := answers(f.runs(readings))
	rivals := []Body{}
	for _, c := range competitors {
		row := f.labels(all, rival(c.ID))
		row["competitor_id"], row["name"] = c.ID, c.Name
		rivals = append(rivals, row)
	}
	slices.SortFunc(rivals, func(a, b Body) int { return strings.Compare(a["name"].(string), b["name"].(string)) })
	return Body{"brand": f.labels(all, brand), "competitors": rivals}
}

// labels are the shares of each label among the answers that name an entity and have one.
func (f Filter) labels(all []Reading, entity func(Reading) Named) Body {
	naming := slices.DeleteFunc(slices.Clone(all), func(r Reading) bool { return entity(r).Mentions == 0 })
	labelled := slices.DeleteFunc(slices.Clone(naming), func(r Reading) bool { return entity(r).Sentiment == "unknown" })
	row := Body{"answers": len(naming), "unknown": len(naming) - len(labelled)}
	for _, label := range []string{"positive", "neutral", "negative"} {
		// An answer of the label counts as one that names someone.
		t := count(labelled, func(r Reading) Named {
			if entity(r).Sentiment == label {
				return Named{Mentions: 1, Position: 1}
			}
			return Named{}
		})
		row[label], row[label+"_pct"], row[label+"_interval"] = t.mentionAnswers, t.mentionRate(), f.interval(t, t.named)
	}
	return row
}

// tones are the labels as the summary has them.
func (f Filter) tones(all []Reading) Body {
	row := f.labels(all, brand)
	return Body{
		"positivePct": row["positive_pct"], "neutralPct": row["neutral_pct"], "negativePct": row["negative_pct"],
		"labelled": row["answers"].(int) - row["unknown"].(int),
	}
}
