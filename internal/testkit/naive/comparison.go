package naive

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Comparison computes /api/v1/competitor-comparison: a brand beside its live competitors.
func Comparison(readings []Reading, f Filter, who Live, competitors []Live) Body {
	all := answers(f.runs(readings))
	main := compared(who.Name, count(all, brand))
	main["id"] = who.ID
	others := []Body{}
	for _, c := range slices.SortedFunc(slices.Values(competitors), func(a, b Live) int { return cmp.Compare(a.Name, b.Name) }) {
		row := compared(c.Name, count(all, rival(c.ID)))
		row["competitor_id"] = c.ID
		others = append(others, row)
	}
	type source struct{ platform, model string }
	of := map[source][]Reading{}
	for _, r := range all {
		key := source{strings.ToLower(r.Answer.Platform), strings.ToLower(r.Answer.Model)}
		of[key] = append(of[key], r)
	}
	byPlatform := []Body{}
	for _, key := range slices.SortedFunc(maps.Keys(of), func(a, b source) int {
		return cmp.Or(cmp.Compare(a.platform, b.platform), cmp.Compare(a.model, b.model))
	}) {
		own, others := mentionsOf(of[key], competitors)
		byPlatform = append(byPlatform, Body{
			"platform": key.platform, "model_used": key.model, "brand_mentions": own, "competitor_mentions": others,
			"sov_pct": rounded(rat(100*own), own+others, 1),
		})
	}
	ownMentions, otherMentions := mentionsOf(all, competitors)
	return Body{"brand": main, "competitors": others, "share_of_voice": Body{
		"overall_sov_pct":           rounded(rat(100*ownMentions), ownMentions+otherMentions, 1),
		"total_brand_mentions":      ownMentions,
		"total_competitor_mentions": otherMentions,
		"by_platform":               byPlatform,
	}}
}

func compared(name string, c counts) Body {
	return Body{
		"name": name, "result_count": c.answers, "avg_visibility_score": c.averageVisibility(), "total_mentions": c.mentions, "total_citations": c.citations,
		"appearance_count": c.mentionAnswers, "visible_prompts": len(c.visible), "prompt_count": len(c.asked),
		"visibility_rate_pct": c.visibilityRate(), "ai_visibility_score": c.score(), "interval": c.interval(),
		"mention_rate_pct": c.mentionRate(), "mention_rate_interval": c.mentionRateInterval(), "avg_position": rounded(rat(c.places), c.mentionAnswers, 1),
	}
}

// mentionsOf counts the mentions of the brand and of its live competitors.
func mentionsOf(answers []Reading, competitors []Live) (own, others int) {
	for _, r := range answers {
		own += r.Brand.Mentions
		for _, c := range competitors {
			others += rival(c.ID)(r).Mentions
		}
	}
	return own, others
}
