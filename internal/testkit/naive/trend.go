package naive

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Trend computes /api/v1/visibility-trend of a brand, by "day", "week" or "month": a bucket for each day, ISO week or
// month that has answers, and apart from them those without: their runs were given up or not shown. Weeks and months have no score.
func Trend(readings []Reading, f Filter, granularity string, competitors []Live) Body {
	runs, platformRuns := map[string][]Reading{}, map[string][]Reading{}
	for _, r := range f.everyPrompt().runs(readings) {
		platformRuns[bucketOf(r, granularity)] = append(platformRuns[bucketOf(r, granularity)], r)
	}
	for _, r := range f.runs(readings) {
		runs[bucketOf(r, granularity)] = append(runs[bucketOf(r, granularity)], r)
	}
	buckets, unanswered := []Body{}, []Body{}
	serving := map[string][]string{} // platform and requested model → served models, of the last bucket that has any
	for _, date := range slices.Sorted(maps.Keys(platformRuns)) {
		changes := []Body{}
		serves := served(platformRuns[date])
		for _, who := range slices.Sorted(maps.Keys(serves)) {
			if before, there := serving[who]; there && !slices.Equal(before, serves[who]) {
				platform, model, _ := strings.Cut(who, "\x00")
				changes = append(changes, Body{"platform": platform, "model": model, "before": before, "now": serves[who]})
			}
			serving[who] = serves[who]
		}
		all := answers(runs[date])
		if len(all) == 0 && len(runs[date]) > 0 {
			unanswered = append(unanswered, Body{
				"date": date, "model_changes": changes, "given_up_runs": counted(runs[date], Reading.givenUp),
				"not_shown": counted(runs[date], Reading.notShown), "degraded_platforms": degraded(platformRuns[date]),
			})
		}
		if len(all) == 0 {
			continue
		}
		t := count(all, brand)
		bucket := Body{
			"date": date, "result_count": t.answers, "ai_visibility_score": t.score(), "avg_visibility_score": t.averageVisibility(),
			"total_mentions": t.mentions, "total_citations": t.citations, "interval": f.interval(t, t.points),
			"avg_competitor_score": competitorScore(all, competitors), "mention_rate_pct": t.mentionRate(),
			"mention_rate_interval": f.interval(t, t.named), "model_changed": len(changes) > 0, "model_changes": changes,
			"given_up_runs": counted(runs[date], Reading.givenUp), "not_shown": counted(runs[date], Reading.notShown), "degraded_platforms": degraded(platformRuns[date]),
		}
		if granularity != "day" {
			bucket["ai_visibility_score"] = nil
		}
		buckets = append(buckets, bucket)
	}
	return Body{"granularity": granularity, "buckets": buckets, "unanswered": unanswered}
}

// EntityTrend computes /api/v1/entity-trend: a brand and its live competitors by bucket.
func EntityTrend(readings []Reading, f Filter, granularity string, who Live, competitors []Live) Body {
	byDate := map[string][]Reading{}
	for _, r := range answers(f.runs(readings)) {
		byDate[bucketOf(r, granularity)] = append(byDate[bucketOf(r, granularity)], r)
	}
	entities := []Body{}
	for _, e := range append([]Live{who}, byName(competitors)...) {
		if len(byDate) == 0 {
			break
		}
		entity := Body{"id": e.ID, "name": e.Name, "is_brand": e.ID == who.ID, "slot": e.Slot}
		buckets := []Body{}
		for _, date := range slices.Sorted(maps.Keys(byDate)) {
			ours, theirs := mentionsOf(byDate[date], competitors)
			t := count(byDate[date], brand)
			if e.ID != who.ID {
				t = count(byDate[date], rival(e.ID))
			}
			buckets = append(buckets, Body{
				"date": date, "answers": t.answers, "mention_answers": t.mentionAnswers, "mention_rate_pct": t.mentionRate(),
				"mention_rate_interval": f.interval(t, t.named), "ai_visibility_score": t.score(), "interval": f.interval(t, t.points),
				"mentions": t.mentions, "sov_pct": rounded(rat(100*t.mentions), ours+theirs, 1), "citations": t.citations,
			})
		}
		entity["buckets"] = buckets
		entities = append(entities, entity)
	}
	return Body{"granularity": granularity, "entities": entities}
}

// bucketOf is the first day of the bucket of an answer.
func bucketOf(r Reading, granularity string) string {
	return bucketAt(r.Answer.AnsweredAt.UTC(), granularity)
}

// bucketAt is the first day of the bucket of an instant.
func bucketAt(at time.Time, granularity string) string {
	switch granularity {
	case "week":
		return monday(at)
	case "month":
		return at.Format("2006-01") + "-01"
	}
	return at.Format(time.DateOnly)
}

// competitorScore is over the pairs of an answer and a live competitor that it names.
func competitorScore(answers []Reading, competitors []Live) figure {
	pairs, intensity := 0, 0
	for _, a := range answers {
		for _, c := range competitors {
			if n := rival(c.ID)(a); n.Mentions > 0 {
				pairs++
				intensity += n.Visibility
			}
		}
	}
	return rounded(rat(intensity), pairs, 1)
}

func monday(t time.Time) string {
	return t.AddDate(0, 0, -(int(t.Weekday())+6)%7).Format(time.DateOnly)
}

// served lists what is known to have answered each platform and requested model: served models with their providers. The
// provider of a surface without an answer counts where it has none.
func served(runs []Reading) map[string][]string {
	models, answering := map[string][]string{}, map[string]bool{}
	who := func(r Reading) string { return strings.ToLower(r.Answer.Platform + "\x00" + r.Answer.Model) }
	for _, r := range answers(runs) {
		answering[who(r)+"\x00"+r.Answer.Provider] = true
	}
	for _, r := range runs {
		by, who := servedBy(r), who(r)
		if r.givenUp() || r.notShown() && answering[who+"\x00"+r.Answer.Provider] {
			continue
		}
		if by != "" && !slices.Contains(models[who], by) {
			models[who] = append(models[who], by)
		}
	}
	for _, m := range models {
		slices.Sort(m)
	}
	return models
}

// servedBy names the model that answered, and the provider that captured it.
func servedBy(r Reading) string {
	if r.Answer.Provider == "" {
		return r.Answer.ServedModel
	}
	return strings.TrimLeft(r.Answer.ServedModel+" via "+r.Answer.Provider, " ")
}
