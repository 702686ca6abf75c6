package verdict

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// The table of verdicts and episodes: what a day makes of each, and what is told.
func TestADayContinuesAnEpisode(t *testing.T) {
	t.Parallel()
	const day = 100
	openDown := Episode{Direction: MovedDown, Opened: 90, News: 90, Since: 85, BackDays: 1}
	old := openDown
	old.Opened, old.News = 72, 72
	ended := openDown
	ended.Closed = 95
	recovered := ended
	recovered.News = 95
	fresh := openDown
	fresh.BackDays = 0
	for _, c := range []struct {
		name       string
		last       *Episode
		verdict    string
		since      Day
		isBack     bool
		told       string
		direction  string // of the newest episode afterwards, "": none
		closed     Day    // of the episode before
		backDays   int
		opensAgain bool
	}{
		{"a move opens", nil, MovedDown, 97, false, MovedDown, MovedDown, 0, 0, true},
		{"up, too", nil, MovedUp, 97, false, MovedUp, MovedUp, 0, 0, true},
		{"noise opens nothing", nil, WithinNoise, 0, true, "", "", 0, 0, false},
		{"the same move is known", &openDown, MovedDown, 85, false, "", MovedDown, 0, 0, false},
		{"a further move, too", &openDown, MovedDown, 97, false, "", MovedDown, 0, 0, false},
		{"the other direction closes and opens", &openDown, MovedUp, 97, false, MovedUp, MovedUp, day, 0, true},
		{"but not by what came before", &openDown, MovedUp, 86, false, "", MovedDown, 0, 0, false},
		{"noise away from the reference is silent", &openDown, WithinNoise, 0, false, "", MovedDown, 0, 1, false},
		{"a first day back is silent", &fresh, WithinNoise, 0, true, "", MovedDown, 0, 1, false},
		{"a second one is told", &openDown, WithinNoise, 0, true, Recovered, MovedDown, day, 2, false},
		{"a move of over 28 days ago is the normal level", nil, MovedDown, 72, false, "", "", 0, 0, false},
		{"after 28 days it ends silently", &old, MovedDown, 70, false, "", MovedDown, day, 0, false},
		{"noise ends it silently, too", &old, WithinNoise, 0, true, "", MovedDown, day, 1, false},
		{"and the next move is told", &old, MovedDown, 97, false, MovedDown, MovedDown, day, 0, true},
		{"a move from before an end is known", &ended, MovedDown, 88, false, "", MovedDown, 95, 0, false},
		{"one after it is not", &ended, MovedDown, 97, false, MovedDown, MovedDown, 95, 0, true},
		{"a recovery is told once", &recovered, MovedUp, 94, false, "", MovedDown, 95, 0, false},
		{"too little data changes nothing", &openDown, TooLittleData, 0, true, "", MovedDown, 0, 1, false},
		{"nor does a changed model", &openDown, ModelChanged, 0, true, "", MovedDown, 0, 1, false},
		{"nor does an outage", &openDown, Outage, 0, true, "", MovedDown, 0, 1, false},
		{"nor do other prompts", &openDown, BasketChanged, 0, true, "", MovedDown, 0, 1, false},
		{"they open nothing", nil, Outage, 0, true, "", "", 0, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := NewWatch("brand")
			var before *Episode
			if c.last != nil {
				copied := *c.last
				before = &copied
				w.Episodes[""] = before
			}
			v := Verdict{Verdict: c.verdict}
			if v.Moved() {
				v.Since = &Since{Day: c.since, Difference: 10}
			}
			if told := w.follow("", day, &v, func(*Episode) bool { return c.isBack }); told != c.told {
				t.Errorf("told %q, want %q", told, c.told)
			}
			after := w.Episodes[""]
			switch {
			case after == nil:
				if c.direction != "" {
					t.Error("no episode")
				}
				return
			case c.opensAgain != (after != before), after.Direction != c.direction:
				t.Errorf("afterwards %+v", after)
			case c.opensAgain && (after.Opened != day || after.News != day || after.Since != c.since ||
				after.Closed != 0):
				t.Errorf("opened %+v", after)
			}
			if before != nil && (before.Closed != c.closed || !c.opensAgain && before.BackDays != c.backDays) {
				t.Errorf("the episode before: %+v", before)
			}
		})
	}
}

// A past tells of a brand of ten prompts on two platforms, with two answers a day each, day by day.
type past struct {
	days   int
	shift  func(day int, platform string) float64 // points of an answer
	out    func(day int, platform string) bool    // all runs were given up
	served func(day int, platform string) string
}

func (p past) basket(seed uint64) *Basket {
	random := rand.New(rand.NewPCG(seed, 28))
	var cells []Cell
	var served []Served
	for prompt := range 10 {
		for _, platform := range []string{"gemini", "openai"} {
			c := Cell{
				EntityID: "brand", PromptID: fmt.Sprint("prompt ", prompt), TopicID: fmt.Sprint("topic ", prompt/2),
				Platform: platform,
			}
			for day := range p.days {
				answers, points := int64(2), 80+12*(2*random.Float64()-1)
				if p.shift != nil {
					points += 2 * p.shift(day, platform)
				}
				if p.out != nil && p.out(day, platform) {
					answers, points = 0, 0
				}
				c.Days, c.Runs, c.GivenUp = append(c.Days, uint16(day)), append(c.Runs, 2), append(c.GivenUp, 2-answers)
				c.Answers, c.Points = append(c.Answers, answers), append(c.Points, points)
				if p.served != nil {
					served = append(served, Served{platform, "", p.served(day, platform), uint16(day), answers})
				}
			}
			cells = append(cells, c)
		}
	}
	return NewBasket(0, Day(p.days-1), cells, served)
}

// Each history of 300 days is told as it should be: once, soon, and not again while it is known. Days are compared with
// those before, so the first that can alarm is the 60th.
func TestHistories(t *testing.T) {
	t.Parallel()
	collectRarely(t)
	drops := func(from, to int, platforms ...string) func(int, string) float64 {
		return func(day int, platform string) float64 {
			if day >= from && day < to && (platforms == nil || slices.Contains(platforms, platform)) {
				return -8
			}
			return 0
		}
	}
	const ever = 1000
	down := []string{MovedDown, "gemini " + MovedDown, "openai " + MovedDown}
	up := []string{MovedUp, "gemini " + MovedUp, "openai " + MovedUp}
	back := []string{Recovered, "gemini " + Recovered, "openai " + Recovered}
	for _, c := range []struct {
		name string
		past past
		want []string
		days []int // on which each of them began, the last for all that follow
	}{
		{"constant", past{}, []string{}, nil},
		{"drop", past{shift: drops(150, ever)}, down, []int{150}},
		{"drop of a platform", past{shift: drops(150, ever, "gemini")}, down[:2], []int{150}},
		{"drop in an outage", past{shift: drops(150, 156), out: func(day int, _ string) bool {
			return day >= 150 && day < 156
		}}, []string{}, nil},
		{"drop of a platform, whose model has changed",
			past{shift: drops(150, ever, "gemini"), served: func(day int, platform string) string {
				if platform == "gemini" && day >= 140 {
					return "next"
				}
				return "first"
			}}, []string{}, nil},
		{"drop and recovery", past{shift: drops(150, 164)}, slices.Concat(down, back), []int{150, 150, 150, 164}},
		{"drop and recovery, of a platform by another model",
			past{shift: drops(150, 164), served: func(day int, platform string) string {
				if platform == "gemini" && day >= 164 {
					return "next"
				}
				return "first"
			}}, slices.Concat(down, back[2:]), []int{150, 150, 150, 164}},
		{"large drop and recovery", past{shift: func(day int, platform string) float64 {
			return 5 * drops(150, 159)(day, platform)
		}},
			slices.Concat(down, back), []int{150, 150, 150, 159}},
		{"drop and rise", past{shift: drops(150, 190)}, slices.Concat(down, up), []int{150, 150, 150, 190}},
		{"two drops", past{shift: func(day int, platform string) float64 {
			return drops(120, ever)(day, platform) + drops(200, ever)(day, platform)
		}},
			slices.Concat(down, down), []int{120, 120, 120, 200}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.past.days = 300
			alarms, err := c.past.basket(1).Alarms(t.Context(), "brand", 60, 299)
			if err != nil {
				t.Fatal(err)
			}
			got := []string{}
			for _, a := range alarms {
				for _, n := range a.News {
					got = append(got, strings.TrimSpace(n.Platform+" "+n.Verdict))
					if late := int(a.Day) - c.days[min(len(got)-1, len(c.days)-1)]; late < 0 || late > 14 {
						t.Errorf("%s was told on day %d", got[len(got)-1], a.Day)
					}
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("told %q, want %q", got, c.want)
			}
		})
	}
}

// A platform that changed is not compared, from the first day that is compared to the last, and is on the days beside.
func TestAChangedPlatformIsNotCompared(t *testing.T) {
	t.Parallel()
	w := WindowTo(110)
	for day, isCompared := range map[Day]bool{
		w.First() - 1: true, w.First(): false, w.From: false, w.To: false, w.To + 1: true,
	} {
		b := past{days: 120}.basket(1)
		b.AddPlatformChange("gemini", day)
		v := b.Judge(w, Row{"brand", ByPlatform, "gemini"})
		if (v.Verdict != ModelChanged) != isCompared || v.Verdict == ModelChanged && v.Reason != "gemini" {
			t.Errorf("changed on day %d of %d to %d: %s, %s", day, w.First(), w.To, v.Verdict, v.Reason)
		}
	}
}

// Brands that do not change for a year are told of as rarely as the check of verdicts allows: of 20 (-quarters 80)
// twice.
func TestAConstantBrandIsHardlyToldOf(t *testing.T) {
	t.Parallel()
	collectRarely(t)
	s := simulation{prompts: 10, platforms: 2, days: WatchedDays + 365, mean: 0.5, random: rand.New(rand.NewPCG(28, 1))}
	s.dropDay = s.days
	messages, brands := 0, quarters(12)/4
	for range brands {
		alarms, err := s.basket("brand").Alarms(t.Context(), "brand", WatchedDays, Day(s.days-1))
		if err != nil {
			t.Fatal(err)
		}
		messages += len(alarms)
	}
	t.Logf("%d messages in %d brand-years", messages, brands)
	if 100*messages > 4*3*brands+100 {
		t.Errorf("%d messages in %d brand-years", messages, brands)
	}
}
