package advice

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/testkit/warehouse"
	"github.com/answerscope/answerscope/pipeline/advice/need"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
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
			Prompt:     s.prompt(fmt.Sprint("question ", random.IntN(7)), "lamps"),
			Platform:   []string{"openai", "gemini", "gemini-shopping"}[random.IntN(9)%3],
			AnsweredAt: at(1+random.IntN(20), random.IntN(24)), Text: "This is",
		}
		for i, entity := range append([]string{"Lumen"}, rivalNames...) {
			if random.Float64() < rates[i] {
				a.Text += " " + entity
			}
		}
		a.Text += "\n\n**Nova " + []string{"Pro", "Max"}[len(s.answers)%2] + "**"
		for range random.IntN(4) {
			host := []string{
				"one.example", "www.one.example", "two.example", "mall.example", "lumen.mall.example", "beam.example",
			}[random.IntN(6)]
			a.Citations = append(a.Citations, event.Citation{
				URL: fmt.Sprint("https://", host, "/", random.IntN(3)), Cited: random.IntN(5) > 0,
			})
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
			lines = append(lines,
				fmt.Sprintf("%s %s %.1f %d %d %s %d %d %d", kind, key,
					math.Floor(1000*float64(x-b)/float64(len(answers))+0.5+1e-9)/10, len(list), b, rival, x, only,
					opens))
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
				y := count(g, func(a event.Answer) bool {
					return names(a, rival)
				}) - count(g, func(a event.Answer) bool { return names(a, "Lumen") })
				spread += math.Pow(float64(y)-mean*float64(len(g)), 2)
			}
			k := float64(len(groups))
			return k >= 5 && mean-2.576*math.Sqrt(k/(k-1)*spread)/n > 1e-9
		})
	}
	slices.Sort(lines)
	return lines
}

func linesOf(all []Result) (lines []string) {
	for _, found := range all {
		for _, s := range found.Suggestions {
			var c Comparison
			switch e := s.Evidence.(type) {
			case GapEvidence:
				c = e.Comparison
			case *SourceEvidence:
				c = e.Comparison
			}
			lines = append(lines,
				fmt.Sprintf("%s %s %.1f %d %d %s %d %d %d", s.Kind, s.Key, s.Score, c.Answers,
					c.BrandAnswers, c.Rival.Name, c.RivalAnswers, c.OnlyRivals, c.Listed))
		}
	}
	slices.Sort(lines)
	return lines
}

// addSearches gives the answers of a set random searches, some of them alike and some in the words of a prompt.
func (s *set) addSearches(random *rand.Rand) {
	words := strings.Fields("desk lamp lamps bright floor dimmer reading bulb 2026 site:lumen.example")
	for i := range s.answers {
		for n := random.IntN(4); n > 0 && s.answers[i].GivenUp == nil; n-- {
			search := words[random.IntN(len(words))]
			for range random.IntN(4) {
				search += []string{" ", "  "}[random.IntN(2)] + words[random.IntN(len(words))]
			}
			s.answers[i].SearchQueries = append(s.answers[i].SearchQueries, search)
		}
	}
	if random.IntN(2) == 0 {
		s.prompt("which desk lamp is for reading?", "")
	}
}

// searchedPlainly groups searches in the plainest way, each compared with the groups before it: a line for each group
// that is suggested, with its counts.
func searchedPlainly(s *set) (lines []string) {
	type search struct {
		words  string
		issued map[int]bool // answers
		texts  []string     // as often as they were issued
	}
	alike := func(a, b string) (common int, isAlike bool) {
		all := map[string]int{}
		for _, word := range append(strings.Fields(a), strings.Fields(b)...) {
			if all[word]++; all[word] == 2 {
				common++
			}
		}
		return common, float64(common)/float64(len(all)) >= 0.4
	}
	byWords, searching := map[string]*search{}, map[int]bool{}
	for i, a := range s.answers {
		for _, text := range a.SearchQueries {
			words := strings.Join(need.Words(text), " ")
			if words == "" || a.GivenUp != nil || strings.HasSuffix(a.Platform, "-shopping") {
				continue
			}
			if byWords[words] == nil {
				byWords[words] = &search{words, map[int]bool{}, nil}
			}
			searching[i], byWords[words].issued[i], byWords[words].texts = true, true,
				append(byWords[words].texts, text)
		}
	}
	var groups []*search
	for _, one := range slices.SortedFunc(maps.Values(byWords), func(a, b *search) int {
		return cmp.Or(len(b.issued)-len(a.issued), slices.Compare(strings.Fields(a.words), strings.Fields(b.words)))
	}) {
		i := slices.IndexFunc(groups, func(g *search) bool { _, ok := alike(g.words, one.words); return ok })
		if i < 0 {
			groups = append(groups, one)
			continue
		}
		maps.Copy(groups[i].issued, one.issued)
		groups[i].texts = append(groups[i].texts, one.texts...)
	}
	for _, g := range groups {
		covered := slices.ContainsFunc(s.brand.Prompts, func(p postgres.TrackedPrompt) bool {
			common, isAlike := alike(g.words, strings.Join(need.Words(p.Text), " "))
			return isAlike || common == len(strings.Fields(g.words))
		})
		runs, prompts, platforms, naming := map[string]bool{}, map[string]bool{}, map[string]bool{}, 0
		for i := range g.issued {
			a := s.answers[i]
			runs[a.Platform+a.AnsweredAt.Format(time.DateOnly)], prompts[a.Prompt.Text], platforms[a.Platform] = true,
				true, true
			if strings.Contains(a.Text, "Lumen") {
				naming++
			}
		}
		if !covered && len(g.issued) >= 3 && len(runs) >= 2 {
			lines = append(lines,
				fmt.Sprintf("prompt %s %.1f %d of %d, %d prompts, %q, %d naming, %d listed", g.words,
					math.Floor(1000*float64(len(g.issued))/float64(len(searching))+0.5+1e-9)/10,
					len(g.issued), len(searching), len(prompts),
					slices.Sorted(maps.Keys(platforms)), naming, len(g.issued)))
		}
	}
	slices.Sort(lines)
	return lines
}

func searchLines(found Result) (lines []string) {
	for _, s := range found.Suggestions {
		e := s.Evidence.(SearchEvidence)
		lines = append(lines,
			fmt.Sprintf("prompt %s %.1f %d of %d, %d prompts, %q, %d naming, %d listed", s.Key, s.Score, e.Answers,
				e.Searching, e.Prompts, e.Platforms, e.BrandAnswers, e.Listed))
	}
	slices.Sort(lines)
	return lines
}

// Of small sets, some of whose answers were read again, searches are those of a computation that compares each with
// each.
func TestSearchesEqualThePlainestComputation(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(29, 2))
	var sets []*set
	for i := range 40 {
		s := randomSet(fmt.Sprint("searches ", i), random, false)
		s.addSearches(random)
		sets = append(sets, s)
	}
	conn := warehouse.Migrated(t)
	land(t, conn, random, true, sets...)
	suggested := 0
	for i, s := range sets {
		found, err := searches(t.Context(), conn, s.brand, always)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := searchLines(found[0]), searchedPlainly(s); !slices.Equal(got, want) {
			t.Errorf("set %d, %d answers:\ngot  %q\nwant %q", i, len(s.answers), got, want)
		}
		suggested += found[0].Found
	}
	if suggested < 40 {
		t.Errorf("%d suggestions prove little", suggested)
	}
}

// Searches that take too much memory, or too many steps, are left out and counted: the newest, and the most frequent,
// are compared.
func TestSearchesAreBounded(t *testing.T) {
	t.Parallel()
	log := searchLog{issued: map[string][]int{}, steps: 1000}
	for i := range maxSearches + 10 {
		day := time.Date(2026, 3, 31-i%2, 0, 0, 0, 0, time.UTC)
		a := clickhouse.SearchingAnswer{Platform: "openai", Day: day, Searches: []string{fmt.Sprintf("w%d x%d", i, i)}}
		if i < 4 {
			a.Searches = append(a.Searches, "floor lamp", strings.Repeat("x", maxSearch+1))
		}
		if i >= 100 {
			a.Searches[0] = fmt.Sprintf("common w%d x%d y%d z%d", i, i, i, i) // not alike
		}
		if err := log.add(&a); err != nil {
			t.Fatal(err)
		}
	}
	found, err := log.find(t.Context(), &Brand{})
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Suggestions) != 1 || found.Suggestions[0].Key != "floor lamp" {
		t.Errorf("suggested %+v", found.Suggestions)
	}
	if len(found.Reasons) != 1 || found.Reasons[0].Reason != "searches_omitted" ||
		found.Reasons[0].Need != maxSearches+4+11 || found.Reasons[0].Have > 1000 || found.Reasons[0].Have < 40 {
		t.Errorf("reasons %+v", found.Reasons)
	}
	small := searchLog{issued: map[string][]int{"floor lamp": {0}}, answers: log.answers, steps: maxSteps}
	canceled, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("over"))
	if _, err := small.find(canceled, &Brand{}); err == nil || err.Error() != "over" {
		t.Errorf("canceled: %v", err)
	}
}

// byNames returns the gaps and sources of a set.
func (s *set) byNames(t *testing.T, conn *clickhouse.Conn) []Result {
	t.Helper()
	rows, err := clickhouse.AdviceNames.All(t.Context(), conn, s.brand.filter(always))
	if err != nil {
		t.Fatal(err)
	}
	return []Result{findGaps(&s.brand, rows), findSources(&s.brand, rows)}
}

// byTexts returns the names and the criticism of a set.
func (s *set) byTexts(t *testing.T, conn *clickhouse.Conn) []Result {
	t.Helper()
	all, err := texts(t.Context(), conn, s.brand, always)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Of small sets, some of whose answers were read again, gaps and sources are those of a computation that counts each
// answer by itself; landed in another order, the warehouse gives the same bytes. Where names are exchanged at random,
// there are hardly any.
func TestGapsAndSourcesEqualThePlainestComputation(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(29, 1))
	var sets []*set
	for i := range 120 {
		sets = append(sets, randomSet(fmt.Sprint("set ", i), random, i >= 80))
	}
	first, second := warehouse.Migrated(t), warehouse.Migrated(t)
	land(t, first, random, true, sets...)
	land(t, second, random, true, sets[:10]...)
	var gaps, sources, names, chanceGaps, chanceSources int
	for i, s := range sets {
		found := s.byNames(t, first)
		if got, want := linesOf(found), plainly(s); !slices.Equal(got, want) {
			t.Fatalf("set %d, %d answers:\ngot  %q\nwant %q", i, len(s.answers), got, want)
		}
		if i >= 80 {
			chanceGaps, chanceSources = chanceGaps+found[0].Found, chanceSources+found[1].Found
			continue
		}
		gaps, sources = gaps+found[0].Found, sources+found[1].Found
		if i >= 10 {
			continue
		}
		texts := s.byTexts(t, first)
		names += texts[0].Found
		a, err := json.Marshal(append(found, texts...))
		if err != nil {
			t.Fatal(err)
		}
		if b, err := json.Marshal(append(s.byNames(t, second), s.byTexts(t, second)...)); err != nil ||
			string(a) != string(b) {
			t.Fatalf("set %d: landed in another order\ngot  %s\nwant %s\n%v", i, b, a, err)
		}
	}
	t.Logf("gaps %d, sources %d of 80 sets, names %d of 10; by chance %d and %d of 40", gaps, sources, names,
		chanceGaps, chanceSources)
	if gaps < 10 || sources < 15 || names < 5 {
		t.Error("it proves little")
	}
	if chanceGaps > 20 || chanceSources > 28 {
		t.Error("chance alone gives over half a gap or 0.7 sources a brand")
	}
}
