package verdict_test

import (
	"slices"
	"testing"

	"github.com/answerscope/answerscope/internal/verdict"
)

// An answer that was taken back leaves rows whose sums are 0: it has no row of its own, and its topic, later than the
// prompt's, is not the prompt's.
func TestAnAnswerTakenBackChangesNothing(t *testing.T) {
	t.Parallel()
	window := verdict.Window{From: 20, To: 39, CompareDays: 20}
	var cells []verdict.Cell
	for prompt := range 6 {
		c := verdict.Cell{
			EntityID: "brand", PromptID: string(rune('a' + prompt)),
			TopicID: string(rune('t' + prompt%5)), Platform: "p",
		}
		for day := range uint16(39) {
			c.Days, c.Runs, c.GivenUp, c.Answers = append(c.Days, day), append(c.Runs, 1), append(c.GivenUp, 0),
				append(c.Answers, 1)
			c.Points = append(c.Points, float64((int(day)*7+prompt*13)%11)*10)
		}
		cells = append(cells, c)
	}
	before := verdict.NewBasket(0, 39, cells, nil)
	gone := verdict.Cell{EntityID: "brand", PromptID: "a", TopicID: "z", Platform: "p", Days: []uint16{39, 39},
		Runs: []int64{1, -1}, GivenUp: []int64{0, 0}, Answers: []int64{1, -1}, Points: []float64{50, -50}}
	cells = append(cells, gone)
	gone.PromptID, gone.Platform = "gone", "q"
	after := verdict.NewBasket(0, 39, append(cells, gone), nil)
	for _, d := range []verdict.Dimension{verdict.ByPlatform, verdict.ByTopic, verdict.ByPrompt} {
		if got, want := after.Keys(d), before.Keys(d); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
	row := verdict.Row{Entity: "brand"}
	got, want := after.Judge(window, row), before.Judge(window, row)
	if *got.EValue != *want.EValue || *got.Difference != *want.Difference || got.Prompts != want.Prompts {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
