package naive

import (
	"cmp"
	"slices"

	"github.com/gofrs/uuid/v5"
)

// ComparisonBody is the body of /api/v1/competitor-comparison.
type ComparisonBody struct {
	Brand        BrandRow        `json:"brand"`
	Competitors  []CompetitorRow `json:"competitors"`
	ShareOfVoice ShareOfVoice    `json:"share_of_voice"`
}

// BrandRow is the brand's.
type BrandRow struct {
	ID uuid.UUID `json:"id"`
	Compared
}

// CompetitorRow is one of each live competitor.
type CompetitorRow struct {
	ID uuid.UUID `json:"competitor_id"`
	Compared
}

// Compared is an entity over the window's answers.
type Compared struct {
	Name               string    `json:"name"`
	AvgVisibilityScore figure    `json:"avg_visibility_score"`
	TotalMentions      int       `json:"total_mentions"`
	TotalCitations     int       `json:"total_citations"`
	AppearanceCount    int       `json:"appearance_count"`
	VisiblePrompts     int       `json:"visible_prompts"`
	PromptCount        int       `json:"prompt_count"`
	VisibilityRatePct  figure    `json:"visibility_rate_pct"`
	AIVisibilityScore  figure    `json:"ai_visibility_score"`
	Interval           *Interval `json:"interval"`
}

// ShareOfVoice is the brand's part of the mentions of it and its live competitors.
type ShareOfVoice struct {
	OverallPct         figure          `json:"overall_sov_pct"`
	BrandMentions      int             `json:"total_brand_mentions"`
	CompetitorMentions int             `json:"total_competitor_mentions"`
	ByPlatform         []PlatformVoice `json:"by_platform"`
}

// PlatformVoice is the same of the answers of one platform and requested model.
type PlatformVoice struct {
	Platform           string `json:"platform"`
	Model              string `json:"model_used"`
	BrandMentions      int    `json:"brand_mentions"`
	CompetitorMentions int    `json:"competitor_mentions"`
	Pct                figure `json:"sov_pct"`
}

// Comparison computes the comparison of a brand with its live competitors.
func Comparison(readings []Reading, f Filter, who Live, competitors []Live) ComparisonBody {
	all := answers(f.runs(readings))
	body := ComparisonBody{Brand: BrandRow{who.ID, compared(who.Name, count(all, brand))}, Competitors: []CompetitorRow{}}
	for _, c := range competitors {
		body.Competitors = append(body.Competitors, CompetitorRow{c.ID, compared(c.Name, count(all, rival(c.ID)))})
	}
	slices.SortFunc(body.Competitors, func(a, b CompetitorRow) int { return cmp.Compare(a.Name, b.Name) })

	ours, theirs := said(all, competitors)
	body.ShareOfVoice = ShareOfVoice{rounded(rat(100*ours), ours+theirs, 1), ours, theirs, []PlatformVoice{}}
	of := map[[2]string][]Reading{}
	for _, r := range all {
		key := [2]string{r.Answer.Platform, r.Answer.Model}
		of[key] = append(of[key], r)
	}
	for key, some := range of {
		ours, theirs := said(some, competitors)
		body.ShareOfVoice.ByPlatform = append(body.ShareOfVoice.ByPlatform, PlatformVoice{key[0], key[1], ours, theirs, rounded(rat(100*ours), ours+theirs, 1)})
	}
	slices.SortFunc(body.ShareOfVoice.ByPlatform, func(a, b PlatformVoice) int {
		return cmp.Or(cmp.Compare(a.Platform, b.Platform), cmp.Compare(a.Model, b.Model))
	})
	return body
}

func compared(name string, t tally) Compared {
	return Compared{
		Name: name, AvgVisibilityScore: t.averageVisibility(), TotalMentions: t.mentions, TotalCitations: t.citations, AppearanceCount: t.mentionAnswers,
		VisiblePrompts: len(t.visible), PromptCount: len(t.asked), VisibilityRatePct: t.visibilityRate(), AIVisibilityScore: t.score(), Interval: t.interval(),
	}
}

// said counts the mentions of the brand and of its live competitors.
func said(answers []Reading, competitors []Live) (ours, theirs int) {
	for _, r := range answers {
		ours += r.Brand.Mentions
		for _, c := range competitors {
			theirs += rival(c.ID)(r).Mentions
		}
	}
	return ours, theirs
}
