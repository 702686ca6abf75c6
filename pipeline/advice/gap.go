package advice

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// leastJudged is the number of answers to a prompt, and of prompts whose answers cite a domain, from which rules judge.
const leastJudged = 5

// Interval is a 95 % interval in per cent.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Rival is a live competitor.
type Rival struct {
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"`
}

// Comparison counts how many of some answers name the brand, and the competitor that most of them name.
type Comparison struct {
	Answers       int64    `json:"answers"`
	BrandAnswers  int64    `json:"brand_answers"`
	BrandInterval Interval `json:"brand_interval"` // to one decimal
	Rival         Rival    `json:"rival"`
	RivalAnswers  int64    `json:"rival_answers"`
	RivalInterval Interval `json:"rival_interval"`
	OnlyRivals    int64    `json:"only_rivals"` // name a competitor and not the brand
	Link
}

// Link has the parameters of GET /api/v1/answers that list the answers behind a suggestion, beside brand and window.
type Link struct {
	Open   string `json:"open,omitempty"` // "": there are none
	Listed int64  `json:"listed_answers"`
}

// GapEvidence compares the answers to a prompt. Its Link lists those that do not name the brand.
type GapEvidence struct {
	Comparison
	PromptID uuid.UUID `json:"prompt_id"`
	Topic    string    `json:"topic"` // "": none
}

// comparisons finds prompts whose answers, and domains whose citing answers, name a competitor significantly more often
// than the brand.
func comparisons(ctx context.Context, warehouse *clickhouse.Conn, brand Brand, window Window) ([]Result, error) {
	rows, err := clickhouse.AdviceNames.All(ctx, warehouse, brand.filter(window))
	if err != nil {
		return nil, err
	}
	sources := findSources(&brand, rows)
	err = sources.readPages(ctx, warehouse, brand.filter(window))
	return []Result{findGaps(&brand, rows), sources}, err
}

func (b *Brand) filter(window Window) clickhouse.ExportFilter {
	return clickhouse.ExportFilter{
		OrganizationID: clickhouse.UUID(b.OrganizationID), BrandID: clickhouse.UUID(b.BrandID),
		DateFrom: clickhouse.Day(window.From), DateTo: clickhouse.Day(window.To),
	}
}

// findGaps judges the prompts that are still asked by the rows of all answers.
func findGaps(brand *Brand, rows []clickhouse.PromptNames) Result {
	gaps := Result{Total: Total{Kind: KindGap}}
	rivals, all := brand.rivals(), answersOf(rows)
	byPrompt := map[clickhouse.UUID][]clickhouse.PromptNames{}
	for _, r := range rows {
		if r.Domain == "" {
			byPrompt[r.PromptID] = append(byPrompt[r.PromptID], r)
		}
	}
	var largest int64
	for _, prompt := range brand.Prompts {
		if !prompt.IsActive {
			continue
		}
		comparison, _ := compare(byPrompt[clickhouse.UUID(prompt.ID)], rivals)
		e := GapEvidence{comparison, prompt.ID, prompt.Topic}
		if largest = max(largest, e.Answers); e.Answers < leastJudged {
			continue
		}
		gaps.Judged++
		brandRate, rivalRate := wilson(e.BrandAnswers, e.Answers), wilson(e.RivalAnswers, e.Answers)
		if rivalRate.Low <= brandRate.High {
			continue
		}
		e.BrandInterval, e.RivalInterval = brandRate.rounded(), rivalRate.rounded()
		e.Open = "prompt_id=" + prompt.ID.String() + "&mentioned=false"
		gaps.Suggestions = append(gaps.Suggestions, e.suggestion(KindGap, prompt.ID.String(), all, e, fmt.Sprintf(
			`"%s": %s is named in %d of %d answers, %s in %d.`,
			quoted(prompt.Text), e.Rival.Name, e.RivalAnswers, e.Answers, brand.Name, e.BrandAnswers)))
	}
	return gaps.ranked(
		Reason{KindGap, "no_competitors", len(rivals), 1},
		Reason{KindGap, "too_few_answers", int(largest), leastJudged})
}

func (b *Brand) rivals() map[clickhouse.UUID]Rival {
	rivals := map[clickhouse.UUID]Rival{}
	for _, c := range b.Competitors {
		rivals[clickhouse.UUID(c.ID)] = Rival{c.ID, c.Name}
	}
	return rivals
}

func answersOf(rows []clickhouse.PromptNames) (n int64) {
	for _, r := range rows {
		if r.Domain == "" {
			n += r.Answers
		}
	}
	return n
}

// compare sums rows and chooses the rival among the competitors that they name, and counts these. Of competitors in as
// many answers, the first name in code-point order is it.
func compare(rows []clickhouse.PromptNames, rivals map[clickhouse.UUID]Rival) (c Comparison, competitors int) {
	named := map[clickhouse.UUID]int64{}
	for _, r := range rows {
		c.Answers += r.Answers
		c.BrandAnswers += r.BrandAnswers
		c.OnlyRivals += r.OnlyRivals
		c.Listed += r.Unnamed
		for i, id := range r.Rivals {
			named[id] += r.RivalAnswers[i]
		}
	}
	for id, n := range named {
		rival, isLive := rivals[id]
		if isLive && cmp.Or(cmp.Compare(n, c.RivalAnswers), cmp.Compare(c.Rival.Name, rival.Name)) > 0 {
			c.Rival, c.RivalAnswers = rival, n
		}
	}
	return c, len(named)
}

// suggestion scores a comparison by the most that the brand's mention rate over all answers could rise.
func (c *Comparison) suggestion(kind, key string, all int64, evidence any, text string) Suggestion {
	score := perCent(c.RivalAnswers-c.BrandAnswers, all)
	return Suggestion{
		Kind: kind, Key: key, Text: text, Score: score, Evidence: evidence,
		Reason: fmt.Sprintf("Named as often, your mention rate would be at most %.1f points higher.", score),
	}
}

// wilson returns the interval of a rate, as answerscope_wilson does.
func wilson(x, n int64) Interval {
	const z = 1.96
	share, total := float64(x), float64(n)
	middle, half := share+z*z/2, z*math.Sqrt(share*(total-share)/total+z*z/4)
	return Interval{100 * (middle - half) / (total + z*z), 100 * (middle + half) / (total + z*z)}
}

func (i Interval) rounded() Interval { return Interval{tenth(i.Low), tenth(i.High)} }

// tenth rounds half up to one decimal, as answerscope_round does with figures from 0 on.
func tenth(x float64) float64 { return math.Floor(10*max(0, x)+0.5+1e-8) / 10 }

func perCent(count, total int64) float64 {
	return math.Floor(1000*float64(count)/float64(total)+0.5+1e-9) / 10
}
