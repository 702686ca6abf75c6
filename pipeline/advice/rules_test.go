package advice

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/testkit/warehouse"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

var rivalNames = []string{"Beam", "Glow", "Dusk"}

// randomSet returns a brand whose answers name it rarely and one rival often, and cite some domains.
// Where names are exchanged at random, all are named as often.
func randomSet(name string, random *rand.Rand, exchanged bool) *set {
	var rivals []event.Entity
	for _, rival := range rivalNames[:random.IntN(len(rivalNames)+1)] {
		rivals = append(rivals, event.Entity{Name: rival, Domains: []string{strings.ToLower(rival) + ".example"}})
	}
	s := newSet(name, event.Entity{Name: "Lumen", Domains: []string{"lumen.example", "lumen.mall.example"}}, rivals...)
	rates := []float64{random.Float64() / 2, random.Float64(), random.Float64(), random.Float64()}
	if exchanged {
		rates = []float64{rates[1], rates[1], rates[1], rates[1]}
	}
	for range 20 + random.IntN(30) {
		a := event.Answer{
			Prompt:   s.prompt(fmt.Sprint("question ", random.IntN(7)), "lamps"),
			Platform: []string{"openai", "gemini", "gemini-shopping"}[random.IntN(9)%3], AnsweredAt: at(1+random.IntN(20), random.IntN(24)), Text: "This is",
		}
		for i, entity := range append([]string{"Lumen"}, rivalNames...) {
			if random.Float64() < rates[i] {
				a.Text += " " + entity
			}
		}
		for range random.IntN(4) {
			host := []string{"one.example", "www.one.example", "two.example", "mall.example", "lumen.mall.example", "beam.example"}[random.IntN(6)]
			a.Citations = append(a.Citations, event.Citation{URL: fmt.Sprint("https://", host, "/", random.IntN(3)), Cited: random.IntN(5) > 0})
		}
		if random.IntN(12) == 0 {
			a.Text, a.Citations, a.GivenUp = "", nil, &event.GivenUp{Class: "timeout"}
		}
		s.add(a)
	}
	return s
}

// plainly computes gaps and sources in the plainest way: a line for each, with its counts.
func plainly(s *set) (lines []string) {
	var rivals []string
	for _, c := range s.brand.Competitors {
		rivals = append(rivals, c.Name)
	}
	var answers []event.Answer
	for _, a := range s.answers {
		if a.GivenUp == nil && !strings.HasSuffix(a.Platform, "-shopping") {
			answers = append(answers, a)
		}
	}
	names := func(a event.Answer, name string) bool { return strings.Contains(a.Text, name) }
	count := func(list []event.Answer, fits func(event.Answer) bool) (n int) {
		for _, a := range list {
			if fits(a) {
				n++
			}
		}
		return n
	}
	line := func(kind, key string, list []event.Answer, opens int, surely func(rival string, x, b, n float64) bool) {
		slices.Sort(rivals)
		rival, x := "", -1
		for _, r := range rivals {
			if n := count(list, func(a event.Answer) bool { return names(a, r) }); n > x {
				rival, x = r, n
			}
		}
		b := count(list, func(a event.Answer) bool { return names(a, "Lumen") })
		only := count(list, func(a event.Answer) bool {
			return !names(a, "Lumen") && slices.ContainsFunc(rivals, func(r string) bool { return names(a, r) })
		})
		if len(rivals) > 0 && surely(rival, float64(x), float64(b), float64(len(list))) {
			lines = append(lines, fmt.Sprintf("%s %s %.1f %d %d %s %d %d %d", kind, key, math.Floor(1000*float64(x-b)/float64(len(answers))+0.5+1e-9)/10, len(list), b, rival, x, only, opens))
		}
	}
	byPrompt := func(list []event.Answer) map[string][]event.Answer {
		groups := map[string][]event.Answer{}
		for _, a := range list {
			groups[a.Prompt.ID.String()] = append(groups[a.Prompt.ID.String()], a)
		}
		return groups
	}
	unnamed := func(a event.Answer) bool { return !names(a, "Lumen") }
	for id, list := range byPrompt(answers) {
		line("gap", id, list, count(list, unnamed), func(_ string, x, b, n float64) bool {
			const z = 1.96
			low := (x + z*z/2 - z*math.Sqrt(x*(n-x)/n+z*z/4)) / (n + z*z)
			high := (b + z*z/2 + z*math.Sqrt(b*(n-b)/n+z*z/4)) / (n + z*z)
			return n >= 5 && low > high
		})
	}
	cites := func(a event.Answer, domain string, own bool) bool {
		return slices.ContainsFunc(a.Citations, func(c event.Citation) bool {
			host := strings.TrimPrefix(strings.Split(c.URL, "/")[2], "www.")
			return c.Cited && (host == domain || own && strings.HasSuffix(host, "."+domain))
		})
	}
	domains := []string{"one.example", "two.example", "mall.example"}
	if !slices.Contains(rivals, "Beam") {
		domains = append(domains, "beam.example")
	}
	for _, domain := range domains {
		var list []event.Answer
		for _, a := range answers {
			if cites(a, domain, false) {
				list = append(list, a)
			}
		}
		opens := count(answers, func(a event.Answer) bool { return unnamed(a) && cites(a, domain, true) })
		line("source", domain, list, opens, func(rival string, x, b, n float64) bool {
			groups, mean, spread := byPrompt(list), (x-b)/n, 0.0
			for _, g := range groups {
				y := count(g, func(a event.Answer) bool { return names(a, rival) }) - count(g, func(a event.Answer) bool { return names(a, "Lumen") })
				spread += math.Pow(float64(y)-mean*float64(len(g)), 2)
			}
			k := float64(len(groups))
			return k >= 5 && mean-2.576*math.Sqrt(k/(k-1)*spread)/n > 1e-9
		})
	}
	slices.Sort(lines)
	return lines
}

func linesOf(all []Found) (lines []string) {
	for _, found := range all {
		for _, s := range found.Suggestions {
			var c Comparison
			switch e := s.Evidence.(type) {
			case GapEvidence:
				c = e.Comparison
			case *SourceEvidence:
				c = e.Comparison
			}
			lines = append(lines, fmt.Sprintf("%s %s %.1f %d %d %s %d %d %d", s.Kind, s.Key, s.Score, c.Answers, c.BrandAnswers, c.Rival.Name, c.RivalAnswers, c.OnlyRivals, c.Opens))
		}
	}
	slices.Sort(lines)
	return lines
}

// byNames returns the gaps and sources of a set.
func (s *set) byNames(t *testing.T, conn *clickhouse.Conn) []Found {
	t.Helper()
	rows, err := clickhouse.AdviceNames.All(t.Context(), conn, s.brand.filter(always))
	if err != nil {
		t.Fatal(err)
	}
	return []Found{findGaps(&s.brand, rows), findSources(&s.brand, rows)}
}

// Of small sets, some of whose answers were read again, gaps and sources are those of a computation that counts each
// answer by itself; landed in another order, the warehouse gives the same bytes. Where names are exchanged at random,
// there are hardly any.
func TestGapsAndSourcesEqualThePlainestComputation(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(29, 1))
	var sets []*set
	for i := range 300 {
		sets = append(sets, randomSet(fmt.Sprint("set ", i), random, i >= 200))
	}
	first, second := warehouse.Migrated(t), warehouse.Migrated(t)
	land(t, first, random, true, sets...)
	land(t, second, random, true, sets[:20]...)
	var gaps, sources, chanceGaps, chanceSources int
	for i, s := range sets {
		found := s.byNames(t, first)
		if got, want := linesOf(found), plainly(s); !slices.Equal(got, want) {
			t.Fatalf("set %d, %d answers:\ngot  %q\nwant %q", i, len(s.answers), got, want)
		}
		if i >= 200 {
			chanceGaps, chanceSources = chanceGaps+found[0].Of, chanceSources+found[1].Of
			continue
		}
		gaps, sources = gaps+found[0].Of, sources+found[1].Of
		if i >= 20 {
			continue
		}
		a, err := json.Marshal(found)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := json.Marshal(s.byNames(t, second)); err != nil || string(a) != string(b) {
			t.Fatalf("set %d: landed in another order\ngot  %s\nwant %s\n%v", i, b, a, err)
		}
	}
	t.Logf("gaps %d, sources %d of 200 sets; by chance %d and %d of 100", gaps, sources, chanceGaps, chanceSources)
	if gaps < 20 || sources < 20 {
		t.Error("it proves little")
	}
	if chanceGaps > 50 || chanceSources > 70 {
		t.Error("chance alone gives over half a gap or 0.7 sources a brand")
	}
}
