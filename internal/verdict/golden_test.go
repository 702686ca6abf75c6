package verdict_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/testkit/naive"
	"github.com/answerscope/answerscope/internal/verdict"
)

// goldenCases are verdicts of another program that follows the same formulas.
const goldenCases = "../../../shared/data/verdict-cases.json"

type goldenCase struct {
	Name            string
	Start, From, To string
	Options         struct {
		GroupBy verdict.Dimension `json:"group_by"`
		Changed []string
	}
	Cells []goldenCell
	Want  goldenVerdict
}

// A goldenCell has a character a day: 0 to 9 and A for one answer with 0 to 100 points, x: the run was given up, .: no
// run.
type goldenCell struct{ Prompt, Topic, Platform, Model, Points, Served string }

type goldenVerdict struct {
	Key, Verdict, Reach       string
	Prompts                   int
	DaysBefore                int                `json:"days_before"`
	DaysAfter                 int                `json:"days_after"`
	LeftOut                   map[string]float64 `json:"left_out"`
	Before, After, Difference *float64
	EValue                    *float64 `json:"e_value"`
	EDays                     *float64 `json:"e_days"`
	Interval                  []float64
	Detectable                *float64
	Since                     *goldenSince
	Unadjusted                string
	Groups                    []goldenVerdict
}

type goldenSince struct {
	Day        string
	Difference float64
	Interval   []float64
}

func TestGoldenCases(t *testing.T) {
	t.Parallel()
	for _, c := range readGolden(t) {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			s := c.sample(t)
			basket, window := s.basketOf(s.cells()), s.window
			got := basket.Judge(window, verdict.Row{Entity: "brand"})
			compareGolden(t, got, c.Want)
			if c.Options.GroupBy == verdict.All {
				return
			}
			var rows []*verdict.Verdict
			for _, key := range basket.Keys(c.Options.GroupBy) {
				row := basket.Judge(window, verdict.Row{Entity: "brand", Dimension: c.Options.GroupBy, Key: key})
				rows = append(rows, &row)
			}
			verdict.Adjust(rows)
			if len(rows) != len(c.Want.Groups) {
				t.Fatalf("%d rows, want %d", len(rows), len(c.Want.Groups))
			}
			for i, row := range rows {
				t.Run(c.Want.Groups[i].Key, func(t *testing.T) { compareGolden(t, *row, c.Want.Groups[i]) })
			}
		})
	}
}

func readGolden(t *testing.T) []goldenCase {
	t.Helper()
	text, err := os.ReadFile(goldenCases)
	if errors.Is(err, fs.ErrNotExist) {
		t.Logf("left out: %s is not there", goldenCases)
		return nil
	}
	var golden struct{ Cases []goldenCase }
	if err := errors.Join(err, json.Unmarshal(text, &golden)); err != nil {
		t.Fatal(err)
	}
	if len(golden.Cases) != 12 {
		t.Errorf("%d cases, want 12", len(golden.Cases))
	}
	return golden.Cases
}

func (c goldenCase) sample(t *testing.T) sample {
	t.Helper()
	start := day(t, c.Start)
	window := verdict.Window{From: day(t, c.From), To: day(t, c.To), CompareDays: 28}
	s := sample{entities: []string{"brand"}, window: window, changed: map[string][]int{}}
	for _, g := range c.Cells {
		for i, p := range g.Points {
			r := &naive.Run{Prompt: g.Prompt, Topic: g.Topic, Platform: g.Platform, Model: g.Model, Day: int(start) + i}
			switch {
			case p == '.':
				continue
			case p == 'x':
				r.GivenUp = true
			case p == 'A':
				r.Points = map[string]float64{"brand": 100}
			default:
				r.Points = map[string]float64{"brand": 10 * float64(p-'0')}
			}
			if g.Served != "" {
				r.Served = g.Served[i : i+1]
			}
			s.runs = append(s.runs, r)
		}
	}
	for _, platform := range c.Options.Changed {
		s.changed[platform] = []int{int(s.window.From)}
	}
	return s
}

func day(t *testing.T, text string) verdict.Day {
	t.Helper()
	at, err := time.Parse(time.DateOnly, text)
	if err != nil {
		t.Fatal(err)
	}
	return verdict.DayOf(at)
}

func compareGolden(t *testing.T, got verdict.Verdict, want goldenVerdict) {
	t.Helper()
	var interval, since []float64
	if got.Interval != nil {
		interval = []float64{got.Interval.Low, got.Interval.High}
	}
	check := func(name string, got, want any) {
		t.Helper()
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s %v, want %v", name, got, want)
		}
	}
	check("verdict", got.Verdict, want.Verdict)
	check("reach", got.Reach, want.Reach)
	check("unadjusted", got.Unadjusted, want.Unadjusted)
	check("prompts, days", []int{got.Prompts, got.DaysBefore, got.DaysAfter}, []int{
		want.Prompts, want.DaysBefore, want.DaysAfter,
	})
	check("left out", decimals(got.LeftOut.Outage, got.LeftOut.ModelChanged, got.LeftOut.BasketChanged),
		decimals(want.LeftOut["outage"], want.LeftOut["model_changed"], want.LeftOut["basket_changed"]))
	check("before", pointer(got.Before, 4), pointer(want.Before, 4))
	check("after", pointer(got.After, 4), pointer(want.After, 4))
	check("difference", pointer(got.Difference, 4), pointer(want.Difference, 4))
	check("e_value", pointer(got.EValue, 0), pointer(want.EValue, 0))
	check("e_days", pointer(got.EDays, 0), pointer(want.EDays, 0))
	check("detectable", pointer(got.Detectable, 4), pointer(want.Detectable, 4))
	check("interval", decimals(interval...), decimals(want.Interval...))
	if got.Since == nil || want.Since == nil {
		check("since", got.Since == nil, want.Since == nil)
		return
	}
	if got.Since.Interval != nil {
		since = []float64{got.Since.Interval.Low, got.Since.Interval.High}
	}
	check("since", got.Since.Day.Time().Format(time.DateOnly), want.Since.Day)
	check("since difference", decimals(got.Since.Difference), decimals(want.Since.Difference))
	check("since interval", decimals(since...), decimals(want.Since.Interval...))
}

func decimals(figures ...float64) (texts []string) {
	for _, f := range figures {
		texts = append(texts, fmt.Sprintf("%.4f", math.Round(f*1e4)/1e4))
	}
	return texts
}

// pointer writes a figure with a number of decimals, or with 4 significant digits for 0.
func pointer(figure *float64, places int) string {
	switch {
	case figure == nil:
		return "null"
	case places == 0:
		return fmt.Sprintf("%.4g", *figure)
	}
	return decimals(*figure)[0]
}
