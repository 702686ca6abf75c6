package clickhouse

import "github.com/answerscope/answerscope/sql/clickhouse/formula"

// MatrixFilter is a ListFilter of prompts whose answers are summed by group.
type MatrixFilter struct {
	ListFilter
	GroupBy  GroupBy `ch:"group_by"`
	AfterRow string  `ch:"after_row"` // SortKey of the last row before; "": the start
}

// PromptMatrix returns the prompts that have answers in the window, those that name the brand last, by topic, then by
// rate ascending.
var PromptMatrix = Figures[MatrixFilter, PromptCells, PromptCells]{
	sumsOf[MatrixFilter, PromptCells]("prompt_matrix"), cellRows,
}

// PromptCells has the rate of answers to a prompt that name the brand: over all answers, and by group in lists of the
// same length. Percentages have one decimal; ends of intervals are nil under 5 answers.
type PromptCells struct {
	ID             UUID     `ch:"prompt_id"`
	Text           string   `ch:"prompt_text"`
	TopicID        UUID     `ch:"topic_id"`   // of the prompt's present topic; nil: none, or deleted
	TopicName      *string  `ch:"topic_name"` // likewise
	Branded        bool     `ch:"branded"`    // an answer was asked for while the prompt named the brand
	Answers        int64    `ch:"answers"`
	MentionAnswers int64    `ch:"mention_answers"`
	Rate           *float64 `ch:"rate"`
	Low            *float64 `ch:"low"`
	High           *float64 `ch:"high"`

	Groups              []string   `ch:"groups"` // keys, ascending
	GroupAnswers        []int64    `ch:"group_answers"`
	GroupMentionAnswers []int64    `ch:"group_mention_answers"`
	GroupRates          []*float64 `ch:"group_rates"`
	GroupLows           []*float64 `ch:"group_lows"`
	GroupHighs          []*float64 `ch:"group_highs"`

	SortKey string `ch:"sort_key"`
}

// cellRows adds what the sums lack: the rates of groups, and intervals.
func cellRows(_ MatrixFilter, rows []PromptCells) []PromptCells {
	for i := range rows {
		r := &rows[i]
		r.Low, r.High = formula.Wilson(float64(r.MentionAnswers), r.Answers)
		for j, answers := range r.GroupAnswers {
			named := r.GroupMentionAnswers[j]
			low, high := formula.Wilson(float64(named), answers)
			r.GroupRates = append(r.GroupRates, formula.Round(formula.Percent(named, answers), 1))
			r.GroupLows, r.GroupHighs = append(r.GroupLows, low), append(r.GroupHighs, high)
		}
	}
	return rows
}
