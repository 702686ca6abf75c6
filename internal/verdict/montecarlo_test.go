package verdict

import (
	"flag"
	"math/rand/v2"
	"runtime/debug"
	"testing"
)

var manyQuarters = flag.Int("quarters", 0,
	"simulated quarters of each Monte Carlo test (0: as many as a short test needs)")

func quarters(usual int) int {
	if *manyQuarters > 0 {
		return *manyQuarters
	}
	return usual
}

// A verdict allocates 50 kB in a heap of 4 MB: without this the collector takes half of the time.
func collectRarely(t *testing.T) {
	before := debug.SetGCPercent(1000)
	t.Cleanup(func() { debug.SetGCPercent(before) })
}

// daysAlone is a bad rule: it takes single prompts that come and go for moves of the brand.
func daysAlone(v *Verdict) string {
	if v.EDays != nil && *v.EDays >= brandEvidence {
		return ReachBrand
	}
	return ""
}

// A brand that did not change is looked at on each day of a quarter: it is rarely said to have moved. The check says
// the same of the same answers, or more, and it finds a bad rule. Alarms in 100 quarters, of 1,000 with -quarters 1000,
// with Wilson's interval where it matters; a test without it has 25 to 100:
//
//	                        truth          check by days  check by signs
//	quiet 10x3   brand      0.2 (0.1–0.7)  1.2 (0.7–2.1)  0.2
//	             prompts    0.7            1.1
//	             days at 20 4.0            5.6            3.3
//	weather 25x3 brand      2.8 (1.9–4.0)  2.7 (1.9–3.9)  0.9
//	             prompts    0.3            0.4
//	             days at 20 3.9            4.1            3.6
//	jumps 25x3   brand      0.8 (0.4–1.6)  1.2 (0.7–2.1)  0.5
//	             prompts    86.4           0.8                           (prompts did jump)
//	             days at 20 94.5           4.6            95.3           (the bad rule is found)
func TestFalseAlarms(t *testing.T) {
	collectRarely(t)
	for _, c := range []struct {
		name           string
		brand          simulation
		quarters       int
		brands, prompt float64 // alarms of 100 quarters, at most
		bad            float64 // what the check finds of the bad rule, at least
	}{
		{"quiet 10x3", simulation{prompts: 10, platforms: 3}, 100, 3, 2, 0},
		{"weather 25x3", simulation{prompts: 25, platforms: 3, weather: 0.6}, 30, 8, 2, 0},
		{"jumps 25x3", simulation{prompts: 25, platforms: 3, jumps: 180}, 25, 8, 100, 60},
	} {
		t.Run(c.name, func(t *testing.T) {
			checks := c.brand.checks(quarters(c.quarters), published, daysAlone)
			truth := checks[0].rate(t, "truth", NotRelabelled, ReachBrand)
			days := checks[0].rate(t, "check by days", RelabelDays, ReachBrand)
			signs := checks[0].rate(t, "check by signs", RelabelSigns, ReachBrand)
			prompts := checks[0].rate(t, "truth", NotRelabelled, ReachPrompts)
			checks[0].rate(t, "check by days", RelabelDays, ReachPrompts)
			if truth.pct > c.brands || prompts.pct > c.prompt {
				t.Errorf("alarms in %.1f %% and %.1f %% of quarters, want at most %v and %v", truth.pct, prompts.pct,
					c.brands, c.prompt)
			}
			larger := days
			if signs.pct > days.pct {
				larger = signs
			}
			if larger.High < truth.Low || larger.Low > truth.High || larger.pct > c.brands {
				t.Errorf("the check says %.1f %%, the truth is %.1f %%", larger.pct, truth.pct)
			}
			checks[1].rate(t, "days alone at 20: truth", NotRelabelled, ReachBrand)
			days = checks[1].rate(t, "days alone at 20: check by days", RelabelDays, ReachBrand)
			signs = checks[1].rate(t, "days alone at 20: check by signs", RelabelSigns, ReachBrand)
			if max(days.pct, signs.pct) < c.bad {
				t.Errorf("the check does not find the bad rule: %.1f %% and %.1f %%", days.pct, signs.pct)
			}
		})
	}
}

// checks returns the check of each rule on the whole answers of brands, one after the other with other answers.
func (s simulation) checks(quarters int, rules ...rule) []Check {
	s.mean, s.days, s.dropDay = 0.5, CheckedDays, CheckedDays
	s.random = rand.New(rand.NewPCG(26, 7))
	last, row := Day(s.days-1), Row{Entity: "brand"}
	checks := make([]Check, len(rules))
	for i := range checks {
		checks[i] = Check{}
	}
	for range quarters {
		b := s.basket("brand")
		signs := b.relabelSigns(b.cells, "brand", s.random)
		days := b.relabelDays(b.cells, "brand", answeredDays(b.cells), s.random)
		for relabelling, relabelled := range map[string]*Basket{
			NotRelabelled: b, RelabelSigns: signs, RelabelDays: days,
		} {
			verdicts := relabelled.look(row, last-checkLooks+1, last)
			for i, rule := range rules {
				checks[i].count(relabelling, verdicts, rule)
			}
		}
	}
	return checks
}

type rate struct {
	pct float64
	Interval
}

func (c Check) rate(t *testing.T, name, relabelling, reach string) rate {
	t.Helper()
	n := c[CheckKind{relabelling, reach}]
	w := Wilson(float64(n.AlarmedRows), float64(n.Rows))
	r := rate{100 * float64(n.AlarmedRows) / float64(n.Rows), Interval{100 * w.Low, 100 * w.High}}
	t.Logf("%-32s reach %-7s %4d of %d quarters %5.1f %% (%.1f–%.1f)", name, reach, n.AlarmedRows, n.Rows, r.pct, r.Low,
		r.High)
	return r
}

// A brand of 10 prompts on 3 platforms that loses 10 points is seen to move within 14 days: 975 of 1,000, of which 479
// with reach brand.
func TestDropsAreSeen(t *testing.T) {
	collectRarely(t)
	s := simulation{
		prompts: 10, platforms: 3, days: 144, mean: 0.5, drop: 10, dropDay: 130, random: rand.New(rand.NewPCG(26, 8)),
	}
	seen, brand, brands := 0, 0, quarters(150)
	for range brands {
		b := s.basket("brand")
		var moved [2]bool
		for _, v := range b.look(Row{Entity: "brand"}, 130, 143) {
			moved[0] = moved[0] || v.Verdict == MovedDown
			moved[1] = moved[1] || v.Verdict == MovedDown && v.Reach == ReachBrand
		}
		if moved[0] {
			seen++
		}
		if moved[1] {
			brand++
		}
	}
	t.Logf("seen %d of %d drops within 14 days, %d as moves of the brand", seen, brands, brand)
	if 10*seen < 9*brands {
		t.Error("want at least 90 %")
	}
}

// Of 40 rows 10 lost 10 points 20 days ago, and e-BH keeps the share of false moves in the list low: in 100 lists it is
// 0.14 %, and 62 % of the drops are found.
func TestListsHaveFewFalseMoves(t *testing.T) {
	collectRarely(t)
	s := simulation{prompts: 10, platforms: 3, days: 84, mean: 0.5, drop: 10, random: rand.New(rand.NewPCG(26, 9))}
	lists, found, share := max(12, *manyQuarters/10), 0, 0.0
	for range lists {
		var rows []*Verdict
		for row := range 40 {
			s.dropDay = 84
			if row < 10 {
				s.dropDay = 64
			}
			v := s.basket("brand").Judge(WindowTo(83), Row{Entity: "brand"})
			rows = append(rows, &v)
		}
		Adjust(rows)
		right, wrong := 0, 0
		for row, v := range rows {
			switch {
			case v.Verdict == MovedDown && row < 10:
				right++
			case v.Moved():
				wrong++
			}
		}
		found += right
		share += float64(wrong) / float64(max(1, right+wrong)) / float64(lists)
	}
	t.Logf("%.2f %% of the moves in %d lists are false, %.0f %% of the drops are found", 100*share, lists,
		10*float64(found)/float64(lists))
	if share > discoveryRate || found < 4*lists {
		t.Error("want at most 10 % false, and 4 of 10 drops found")
	}
}
