package canary

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/verdict"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

const changeDay = 84

// drawn returns the days of a platform on which features rise by some deviations of an answer from changeDay on: the
// names alone, or all four.
func drawn(random *rand.Rand, deviations float64, all bool) (rows []clickhouse.PanelDay) {
	const deviation = 15
	first := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	for day := range changeDay + windowDays {
		for prompt := range 10 {
			row := clickhouse.PanelDay{
				Platform: "openai", Model: "m", ServedModel: "m-1", PromptID: clickhouse.UUID{byte(prompt)},
				Day: first.AddDate(0, 0, day), Runs: 3, Answers: 3,
			}
			for i, sum := range []*float64{&row.Names, &row.Citations, &row.Length, &row.Cites} {
				for range 3 {
					*sum += 30 + 4*float64(prompt) + deviation*random.NormFloat64()
					if day >= changeDay && (i == 0 || all) {
						*sum += deviations * deviation
					}
				}
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// The power of the panel: how many of 100 platforms are found 7, 14 and 28 days after all ten prompts changed. 200
// platforms a row, looked at on every day, were found as the comments say.
func TestPower(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		deviations  float64
		all         bool
		least, most [3]int
	}{
		{0, false, [3]int{0, 0, 0}, [3]int{3, 3, 3}},             // 0, 0.5, 0.5 %
		{0.25, false, [3]int{0, 12, 65}, [3]int{12, 45, 92}},     // 4, 28, 78 %
		{0.25, true, [3]int{4, 60, 95}, [3]int{30, 92, 100}},     // 14, 78, 100 %
		{0.5, false, [3]int{55, 94, 99}, [3]int{88, 100, 100}},   // 72, 99, 100 %
		{0.5, true, [3]int{96, 99, 99}, [3]int{100, 100, 100}},   // 100 %
		{1, false, [3]int{100, 100, 100}, [3]int{100, 100, 100}}, // 100 %
	}[:testkit.Draws(2, 6)] {
		random, found := rand.New(rand.NewPCG(1, 2)), [3]int{}
		for range 100 {
			rows := drawn(random, c.deviations, c.all)
			first := verdict.DayOf(rows[0].Day)
			for i, days := range []int{7, 14, 28} {
				last := first + changeDay + verdict.Day(days) - 1
				w := verdict.Window{From: last - windowDays + 1, To: last, CompareDays: windowDays}
				if f := judge(w, rows[10*days:10*(changeDay+days)]); f[0].EValue >= enough {
					found[i]++
				}
			}
		}
		for i, n := range found {
			if n < c.least[i] || n > c.most[i] {
				t.Errorf("%v deviations, all features %t: found %v, want %v to %v", c.deviations, c.all, found, c.least,
					c.most)
				break
			}
		}
		t.Logf("%v deviations, all features %t: found %v", c.deviations, c.all, found)
	}
}
