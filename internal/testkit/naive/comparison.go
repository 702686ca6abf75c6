package naive

import (
	"cmp"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/gofrs/uuid/v5"
)

// Comparison computes /api/v1/competitor-comparison: a brand beside its live competitors.
func Comparison(readings []Reading, f Filter, who Live, competitors []Live) Body {
	all := answers(f.runs(readings))
	main := f.compared(who.Name, count(all, brand))
	main["id"] = who.ID
	others := []Body{}
	for _, c := range byName(competitors) {
		row := f.compared(c.Name, count(all, rival(c.ID)))
		row["competitor_id"], row["slot"], row["gap"] = c.ID, c.Slot, nil
		if f.Prompt == nil {
			row["gap"] = gap(count(all, brand), count(all, rival(c.ID)))
		}
		others = append(others, row)
	}
	rank(append([]Body{main}, others...))
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

func byName(competitors []Live) []Live {
	return slices.SortedFunc(slices.Values(competitors), func(a, b Live) int { return cmp.Compare(a.Name, b.Name) })
}

// rank adds to each row its place by the answers that name it, and its share of all mentions.
func rank(rows []Body) {
	mentions := 0
	for _, r := range rows {
		mentions += r["total_mentions"].(int)
	}
	for _, r := range rows {
		place := 1
		for _, other := range rows {
			if other["appearance_count"].(int) > r["appearance_count"].(int) {
				place++
			}
		}
		r["rank"], r["sov_pct"] = &place, rounded(rat(100*r["total_mentions"].(int)), mentions, 1)
		if r["result_count"] == 0 {
			r["rank"] = nil
		}
	}
}

// gap is how far the rate of one entity is ahead of that of another over the same answers. Its interval is that of a
// mean of differences, answer by answer, clustered by prompt.
func gap(ours, theirs counts) any {
	if ours.answers == 0 {
		return nil
	}
	differences := map[uuid.UUID]*big.Rat{}
	for prompt := range ours.asked {
		differences[prompt] = new(big.Rat).Sub(ours.named[prompt], theirs.named[prompt])
	}
	interval, verdict := ours.clustered(differences, -100), "level"
	switch {
	case interval.Reason != "":
		verdict = "too_little_data"
	case *interval.Low > 0:
		verdict = "ahead"
	case *interval.High < 0:
		verdict = "behind"
	}
	return Body{
		"difference": rounded(rat(100*(ours.mentionAnswers-theirs.mentionAnswers)), ours.answers, 1),
		"interval":   interval, "verdict": verdict,
	}
}

func (f Filter) compared(name string, c counts) Body {
	return Body{
		"name": name, "result_count": c.answers, "avg_visibility_score": c.averageVisibility(), "total_mentions": c.mentions, "total_citations": c.citations,
		"appearance_count": c.mentionAnswers, "visible_prompts": len(c.visible), "prompt_count": len(c.asked),
		"visibility_rate_pct": c.visibilityRate(), "ai_visibility_score": c.score(), "interval": f.interval(c, c.points),
		"mention_rate_pct": c.mentionRate(), "mention_rate_interval": f.interval(c, c.named), "avg_position": rounded(rat(c.places), c.mentionAnswers, 1),
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
