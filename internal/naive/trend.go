package naive

import (
	"maps"
	"slices"
	"time"
)

// TrendBody is the body of /api/v1/visibility-trend.
type TrendBody struct {
	Granularity string   `json:"granularity"`
	Buckets     []Bucket `json:"buckets"`
}

// Bucket is a day, or the ISO week that begins on its date, that has answers.
type Bucket struct {
	Date               string    `json:"date"`
	ResultCount        int       `json:"result_count"`
	AIVisibilityScore  figure    `json:"ai_visibility_score"` // null for weeks
	AvgVisibilityScore figure    `json:"avg_visibility_score"`
	TotalMentions      int       `json:"total_mentions"`
	TotalCitations     int       `json:"total_citations"`
	AvgCompetitorScore figure    `json:"avg_competitor_score"`
	Interval           *Interval `json:"interval"` // null for weeks
	ModelChanged       bool      `json:"model_changed"`
}

// Trend computes the trend of a brand, by "day" or "week".
func Trend(readings []Reading, f Filter, granularity string, competitors []Live) TrendBody {
	body := TrendBody{Granularity: granularity, Buckets: []Bucket{}}
	byDate := map[string][]Reading{}
	for _, r := range answers(f.runs(readings)) {
		date := r.day()
		if granularity == "week" {
			date = monday(r.Answer.AnsweredAt.UTC())
		}
		byDate[date] = append(byDate[date], r)
	}
	serving := map[string][]string{} // platform and requested model → served models, of the last bucket that has any
	for _, date := range slices.Sorted(maps.Keys(byDate)) {
		b := bucket(date, byDate[date], competitors)
		if granularity == "week" {
			b.AIVisibilityScore, b.Interval = nil, nil
		}
		for who, models := range served(byDate[date]) {
			if before, known := serving[who]; known && !slices.Equal(before, models) {
				b.ModelChanged = true
			}
			serving[who] = models
		}
		body.Buckets = append(body.Buckets, b)
	}
	return body
}

func bucket(date string, answers []Reading, competitors []Live) Bucket {
	t := count(answers, brand)
	return Bucket{
		Date: date, ResultCount: t.answers, AIVisibilityScore: t.score(), AvgVisibilityScore: t.averageVisibility(),
		TotalMentions: t.mentions, TotalCitations: t.citations, AvgCompetitorScore: competitorScore(answers, competitors), Interval: t.interval(),
	}
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
		who := a.Platform + "\x00" + a.Model
		if a.ServedModel != "" && !slices.Contains(models[who], a.ServedModel) {
			models[who] = append(models[who], a.ServedModel)
		}
	}
	for _, m := range models {
		slices.Sort(m)
	}
	return models
}
