package naive

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Trend computes /api/v1/visibility-trend of a brand, by "day" or "week": a bucket for each day, or ISO week, that has
// answers. Weeks have no score.
func Trend(readings []Reading, f Filter, granularity string, competitors []Live) Body {
	runs, byDate := map[string][]Reading{}, map[string][]Reading{}
	for _, r := range f.runs(readings) {
		date := r.day()
		if granularity == "week" {
			date = monday(r.Answer.AnsweredAt.UTC())
		}
		runs[date] = append(runs[date], r)
		if !r.givenUp() {
			byDate[date] = append(byDate[date], r)
		}
	}
	buckets := []Body{}
	serving := map[string][]string{} // platform and requested model → served models, of the last bucket that has any
	for _, date := range slices.Sorted(maps.Keys(byDate)) {
		t := count(byDate[date], brand)
		bucket := Body{
			"date": date, "result_count": t.answers, "ai_visibility_score": t.score(), "avg_visibility_score": t.averageVisibility(),
			"total_mentions": t.mentions, "total_citations": t.citations, "interval": t.interval(),
			"avg_competitor_score": competitorScore(byDate[date], competitors), "mention_rate_pct": t.mentionRate(), "mention_rate_interval": t.mentionRateInterval(), "model_changed": false,
			"given_up_runs": len(runs[date]) - t.answers, "degraded_platforms": degraded(runs[date]),
		}
		if granularity == "week" {
			bucket["ai_visibility_score"] = nil
		}
		for who, models := range served(byDate[date]) {
			if before, known := serving[who]; known && !slices.Equal(before, models) {
				bucket["model_changed"] = true
			}
			serving[who] = models
		}
		buckets = append(buckets, bucket)
	}
	return Body{"granularity": granularity, "buckets": buckets}
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

// served lists the distinct non-empty served models of each platform and requested model.
func served(answers []Reading) map[string][]string {
	models := map[string][]string{}
	for _, r := range answers {
		a := r.Answer
		who := strings.ToLower(a.Platform + "\x00" + a.Model)
		if a.ServedModel != "" && !slices.Contains(models[who], a.ServedModel) {
			models[who] = append(models[who], a.ServedModel)
		}
	}
	for _, m := range models {
		slices.Sort(m)
	}
	return models
}
