package demo

import (
	"math"
	"testing"
	"time"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/verdict"
	"github.com/answerscope/answerscope/pipeline/extract"
)

// promises lists the verdicts on the demo's last 30 days. ago is the day of the change, in days before the last one.
var promises = []struct {
	row            verdict.Row
	verdict, reach string
	ago            int // 0: the verdict has no day
}{
	{verdict.Row{Entity: "Fernwood"}, verdict.MovedDown, verdict.ReachBrand, 12},
	{platformRow("chatgpt-web"), verdict.MovedDown, verdict.ReachBrand, 12},
	{platformRow("perplexity-web"), verdict.WithinNoise, "", 0},
	{platformRow("gemini-web"), verdict.ModelChanged, "", 0},
	{platformRow("copilot-web"), verdict.Outage, "", 0},
	{verdict.Row{Entity: "Altrek"}, verdict.MovedUp, verdict.ReachBrand, 12},
	{verdict.Row{Entity: "Bergluft"}, verdict.MovedDown, verdict.ReachPrompts, 20},
	{verdict.Row{Entity: "Kestrel & Co"}, verdict.WithinNoise, "", 0},
	{verdict.Row{Entity: "Vandrå"}, verdict.WithinNoise, "", 0},
	{verdict.Row{Entity: "Fernwood", Dimension: verdict.ByTopic, Key: topicID("service").String()},
		verdict.TooLittleData, "", 0},
}

func platformRow(name string) verdict.Row {
	return verdict.Row{Entity: "Fernwood", Dimension: verdict.ByPlatform, Key: name}
}

// Whenever the demo is started, early on a day or late, it shows the verdicts that its help promises. Each start draws
// every answer anew. A day of change is found within two days in 9 of 10 cases.
func TestEveryVerdictIsSeen(t *testing.T) {
	late, dated := 0, 0
	for start := range 3 {
		last := today.AddDate(0, 0, 97*start).Add(time.Duration(4*start-12) * time.Hour)
		basket, window := basketOf(t, last)
		for _, p := range promises {
			got := basket.Judge(window, p.row)
			if got.Verdict != p.verdict || got.Reach != p.reach {
				t.Errorf("started on %s, %+v is %s %s, want %s %s", last, p.row, got.Verdict, got.Reach, p.verdict,
					p.reach)
			} else if p.ago > 0 {
				dated++
				if ago := int(window.To - got.Since.Day); ago < p.ago-2 || ago > p.ago+2 {
					late++
					t.Logf("started on %s, %+v moved %d days ago, want %d", last, p.row, ago, p.ago)
				}
			}
		}
	}
	if 10*late > dated {
		t.Errorf("%d of %d days are more than 2 days from the change", late, dated)
	}
}

// basketOf reads the answers of the demo as the pipeline does.
func basketOf(t *testing.T, last time.Time) (*verdict.Basket, verdict.Window) {
	t.Helper()
	s, history := open(t, "", last)
	entities := append([]event.Entity{cast().Brand}, cast().Competitors...)
	var cells []verdict.Cell
	var served []verdict.Served
	for a := range history.Answers(s) {
		day := uint16(verdict.DayOf(a.AnsweredAt.Time))
		cell := verdict.Cell{
			PromptID: a.Prompt.ID.String(), TopicID: a.Prompt.TopicID.String(), Platform: a.Platform, Model: a.Model,
			Region: a.Region,
			Days:   []uint16{day}, Runs: []int64{1}, GivenUp: []int64{1}, Answers: []int64{0},
		}
		if a.GivenUp == nil {
			cell.GivenUp, cell.Answers = cell.Answers, cell.GivenUp
			served = append(served, verdict.Served{
				Platform: a.Platform, Model: a.Model, ServedModel: a.ServedModel, Day: day, Answers: 1,
			})
		}
		reading := extract.Read(&a)
		for i, e := range append([]extract.EntityReading{reading.Brand}, reading.Competitors...) {
			cell.EntityID, cell.Points = entities[i].Name, []float64{score(e)}
			cells = append(cells, cell)
			cell.Runs, cell.GivenUp, cell.Answers = nil, nil, nil // a competitor's are the brand's
		}
	}
	to := verdict.DayOf(last)
	window := verdict.Window{From: to - 29, To: to, CompareDays: 30}
	return verdict.NewBasket(window.Earliest(), to, cells, served), window
}

// score returns the points of an answer: 60 for the name, 25 for a citation, 15 divided by the position.
func score(e extract.EntityReading) float64 {
	points := 25 * math.Min(1, float64(e.Citations))
	if e.Mentions > 0 {
		points += 60 + 15/float64(e.Position)
	}
	return points
}
