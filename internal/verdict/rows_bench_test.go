package verdict_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/answerscope/answerscope/internal/verdict"
)

// BenchmarkBasket measures what one request needs: the basket, and the verdicts on all its rows, which are all answers
// of the brand and of ten rivals, and each platform, topic and prompt. 90 days, one answer a cell and day.
func BenchmarkBasket(b *testing.B) {
	for _, size := range []struct{ prompts, platforms int }{{25, 3}, {50, 6}} {
		const first, days = 20_000, 90
		window := verdict.Window{From: first + days - 28, To: first + days - 1, CompareDays: 28}
		cells, served := wideCells(size.prompts, size.platforms, first, days)
		newBasket := func() *verdict.Basket {
			return verdict.NewBasket(window.Earliest(), window.To, cells, served)
		}
		name := fmt.Sprintf("%d×%d", size.prompts, size.platforms)
		b.Run(name+"/new", func(b *testing.B) {
			for b.Loop() {
				newBasket()
			}
		})
		b.Run(name+"/judge", func(b *testing.B) {
			basket, rows := newBasket(), 0
			for b.Loop() {
				rows = judgeAll(basket, window)
			}
			b.ReportMetric(float64(rows), "rows")
		})
		b.Run(name+"/headline", func(b *testing.B) {
			basket := newBasket()
			for b.Loop() {
				basket.Judge(window, verdict.Row{Entity: "0"})
			}
		})
	}
}

func judgeAll(basket *verdict.Basket, w verdict.Window) int {
	var list []*verdict.Verdict
	judge := func(row verdict.Row) {
		v := basket.Judge(w, row)
		list = append(list, &v)
	}
	for entity := range 11 {
		judge(verdict.Row{Entity: fmt.Sprint(entity)})
	}
	for _, dimension := range []verdict.Dimension{verdict.ByPlatform, verdict.ByTopic, verdict.ByPrompt} {
		for _, key := range basket.Keys(dimension) {
			judge(verdict.Row{Entity: "0", Dimension: dimension, Key: key})
		}
	}
	verdict.Adjust(list)
	return len(list)
}

// wideCells are the cells of a brand and ten rivals, prompts in topics of five.
func wideCells(prompts, platforms int, first uint16, days int) (cells []verdict.Cell, served []verdict.Served) {
	random := rand.New(rand.NewPCG(3, 26))
	for entity := range 11 {
		for prompt := range prompts {
			for platform := range platforms {
				c := verdict.Cell{
					EntityID: fmt.Sprint(entity), PromptID: fmt.Sprint(prompt), TopicID: fmt.Sprint(prompt / 5),
					Platform: fmt.Sprint(platform), Model: "model",
				}
				for day := range days {
					c.Days, c.Points = append(c.Days, first+uint16(day)), append(c.Points, float64(random.IntN(101)))
					if entity == 0 {
						c.Runs, c.GivenUp, c.Answers = append(c.Runs, 1), append(c.GivenUp, 0), append(c.Answers, 1)
					}
				}
				cells = append(cells, c)
			}
		}
	}
	for platform := range platforms {
		for day := range days {
			served = append(served, verdict.Served{
				Platform: fmt.Sprint(platform), Model: "model", ServedModel: "v1", Day: first + uint16(day),
				Answers: int64(prompts),
			})
		}
	}
	return cells, served
}
