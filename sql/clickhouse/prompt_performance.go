package clickhouse

import "github.com/answerscope/answerscope/sql/clickhouse/formula"

// PromptFilter is a ListFilter of sorted prompts, after a cursor.
type PromptFilter struct {
	ListFilter
	PromptCursor
	SortBy string `ch:"sort_by"` // visibility, mentions, citations, appearances, rate, change
	Order  string `ch:"order"`   // desc, asc

	Moved   []UUID    `ch:"moved"`   // if sorted by change: the prompts that moved
	Changes []float64 `ch:"changes"` // by so many points, in the order of Moved; other prompts by 0
}

// PromptCursor is the position of a prompt in a list; the zero value is the start.
type PromptCursor struct {
	SortedBy float64 `ch:"after"`
	ID       string  `ch:"after_prompt"` // lower-case text
}

// PromptPerformance returns the prompts that have answers in the window.
var PromptPerformance = Figures[PromptFilter, promptSums, Prompt]{
	sumsOf[PromptFilter, promptSums]("prompt_performance"), promptRows,
}

// Prompt has the brand's figures over the answers to one prompt. SortedBy is the figure by which the list is sorted.
type Prompt struct {
	ID                 UUID     `ch:"prompt_id"`
	Text               string   `ch:"prompt_text"`
	TopicName          *string  `ch:"topic_name"` // of the prompt's present topic
	Answers            int64    `ch:"answers"`
	MentionAnswers     int64    `ch:"mention_answers"`
	Mentions           int64    `ch:"mentions"`
	Citations          int64    `ch:"citations"`
	AvgVisibility      *float64 `ch:"avg_visibility"`
	AvgCompetitorScore *float64 `ch:"avg_competitor_score"`
	Score              *float64 `ch:"ai_visibility_score"`
	IntervalLow        *float64 `ch:"interval_low"` // nil under 5 answers, like all ends of intervals
	IntervalHigh       *float64 `ch:"interval_high"`
	MentionRatePct     *float64 `ch:"mention_rate_pct"`
	MentionRateLow     *float64 `ch:"mention_rate_low"`
	MentionRateHigh    *float64 `ch:"mention_rate_high"`
	Branded            bool     `ch:"branded"`      // an answer was asked for while the prompt named the brand
	AvgPosition        *float64 `ch:"avg_position"` // over answers that mention it
	SortedBy           *float64 `ch:"sorted_by"`
}

// promptSums has the sums over the answers to a prompt; rivals are the live competitors.
type promptSums struct {
	ID               UUID     `ch:"prompt_id"`
	Text             string   `ch:"prompt_text"`
	TopicName        *string  `ch:"topic_name"`
	Answers          int64    `ch:"answers"`
	Branded          bool     `ch:"branded"`
	Positions        int64    `ch:"positions"`
	RivalsNamed      int64    `ch:"rivals_named"`
	RivalsVisibility int64    `ch:"rivals_visibility"`
	SortedBy         *float64 `ch:"sorted_by"`
	pointSums
}

func promptRows(_ PromptFilter, sums []promptSums) []Prompt {
	return mapSlice(sums, func(s promptSums) Prompt {
		v := s.figures(formula.Mean{Answers: s.Answers}, true)
		return Prompt{
			ID: s.ID, Text: s.Text, TopicName: s.TopicName, Answers: s.Answers, MentionAnswers: s.MentionAnswers,
			Mentions: s.Mentions, Citations: s.Citations, AvgVisibility: v.AvgVisibility, Score: v.Score,
			AvgCompetitorScore: formula.Round(formula.Ratio(float64(s.RivalsVisibility), float64(s.RivalsNamed)), 1),
			IntervalLow:        v.IntervalLow, IntervalHigh: v.IntervalHigh, MentionRatePct: v.MentionRatePct,
			MentionRateLow: v.MentionRateLow, MentionRateHigh: v.MentionRateHigh, Branded: s.Branded,
			AvgPosition: formula.Round(formula.Ratio(float64(s.Positions), float64(s.MentionAnswers)), 1),
			SortedBy:    s.SortedBy,
		}
	})
}
