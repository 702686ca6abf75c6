package advice

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/answerscope/answerscope/pipeline/advice/need"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

const (
	leastSearching = 3    // answers for which a search was issued
	leastRuns      = 2    // platforms or days of these
	maxOpen        = 2000 // bytes of the searches in a link
)

// SearchEvidence counts the answers for which platforms issued a search or one alike.
type SearchEvidence struct {
	Name         string   `json:"name"`  // without operators and years: a prompt
	Query        string   `json:"query"` // as most often issued
	Answers      int      `json:"answers"`
	Searching    int      `json:"searching_answers"` // for which any search was issued
	Prompts      int      `json:"prompts"`           // that were asked
	Platforms    []string `json:"platforms"`
	BrandAnswers int      `json:"brand_answers"` // name the brand
	Link
}

// searches finds what platforms search for again and again, and no prompt asks.
func searches(ctx context.Context, warehouse *clickhouse.Conn, brand Brand, window Window) ([]Found, error) {
	answers, err := clickhouse.AdviceSearches.All(ctx, warehouse, brand.filter(window))
	return []Found{findSearches(&brand, answers)}, err
}

func findSearches(brand *Brand, answers []clickhouse.SearchingAnswer) Found {
	finding := Found{Kind: KindPrompt}
	groups, searching := group(answers)
	texts := make([]string, len(brand.Prompts))
	for i, prompt := range brand.Prompts {
		texts[i] = prompt.Text
	}
	prompts, largest := need.NewPrompts(texts), 0
	for _, g := range groups {
		if prompts.Cover(g.words) {
			continue
		}
		finding.Tried++
		e, runs := g.evidence(answers)
		if largest = max(largest, e.Answers); e.Answers < leastSearching || runs < leastRuns {
			continue
		}
		e.Searching = searching
		finding.Suggestions = append(finding.Suggestions, Suggestion{
			Kind: KindPrompt, Key: strings.Join(g.words, " "), Evidence: e,
			Score: perCent(int64(e.Answers), int64(searching)),
			Text:  fmt.Sprintf(`AI platforms searched "%s" in %d answers; no prompt asks it.`, e.Name, e.Answers),
			Reason: fmt.Sprintf("%d of these answers name %s. A prompt shows what people are told who ask it.",
				e.BrandAnswers, brand.Name),
		})
	}
	return finding.settled(
		Reason{KindPrompt, "no_searches", searching, 1},
		Reason{KindPrompt, "too_few_searching_answers", largest, leastSearching})
}

// A searchGroup has searches that are alike.
type searchGroup struct {
	words    []string         // of the search that was issued for most answers
	issued   map[int]bool     // answers
	wordings map[string][]int // answers by wording, as often as it was issued
}

// group groups the searches of answers, and counts the answers that have any. A search joins the first group whose most
// frequent search is alike.
func group(answers []clickhouse.SearchingAnswer) (groups []searchGroup, searching int) {
	byWords := map[string]*searchGroup{}
	for i, a := range answers {
		says := false
		for _, text := range a.Searches {
			words := need.Words(text)
			if len(words) == 0 {
				continue
			}
			key := strings.Join(words, " ")
			if byWords[key] == nil {
				byWords[key] = &searchGroup{words, map[int]bool{}, map[string][]int{}}
			}
			g := byWords[key]
			g.issued[i], says = true, true
			g.wordings[text] = append(g.wordings[text], i)
		}
		if says {
			searching++
		}
	}
	leaders := need.NewPrompts(nil)
	for _, s := range slices.SortedFunc(maps.Values(byWords), func(a, b *searchGroup) int {
		return cmp.Or(cmp.Compare(len(b.issued), len(a.issued)), slices.Compare(a.words, b.words))
	}) {
		if i, ok := leaders.Alike(s.words); ok {
			maps.Copy(groups[i].issued, s.issued)
			maps.Copy(groups[i].wordings, s.wordings)
			continue
		}
		leaders.Add(s.words)
		groups = append(groups, *s)
	}
	return groups, searching
}

// evidence returns the counts of a group, and on how many days of platforms it was issued.
func (g searchGroup) evidence(answers []clickhouse.SearchingAnswer) (e SearchEvidence, runs int) {
	type run struct{ platform, day string }
	platforms, prompts, days := map[string]bool{}, map[clickhouse.UUID]bool{}, map[run]bool{}
	for i := range g.issued {
		a := answers[i]
		platforms[a.Platform], prompts[a.PromptID] = true, true
		days[run{a.Platform, string(clickhouse.DayOf(a.Day))}] = true
		if a.Named {
			e.BrandAnswers++
		}
	}
	e.Answers, e.Prompts, e.Platforms = len(g.issued), len(prompts), slices.Sorted(maps.Keys(platforms))
	times := map[string]int{}
	for wording, issued := range g.wordings {
		times[strings.Join(strings.Fields(wording), " ")] += len(issued)
	}
	byFrequency := func(a, b string) int { return cmp.Or(cmp.Compare(times[b], times[a]), cmp.Compare(a, b)) }
	e.Query = slices.MinFunc(slices.Collect(maps.Keys(times)), byFrequency)
	e.Name = shorten(need.Wording(e.Query))
	e.Link = g.link()
	return e, len(days)
}

// link lists the answers with any wording of the group, a line each; with the most frequent ones if not all fit.
func (g searchGroup) link() (l Link) {
	opens := map[int]bool{}
	for _, wording := range slices.SortedFunc(maps.Keys(g.wordings), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(g.wordings[b]), len(g.wordings[a])), cmp.Compare(a, b))
	}) {
		open := separator(l.Open) + url.QueryEscape(wording)
		if len(open) <= maxOpen && !strings.Contains(wording, "\n") {
			l.Open = open
			for _, answer := range g.wordings[wording] {
				opens[answer] = true
			}
		}
	}
	l.Opens = int64(len(opens))
	return l
}

func separator(open string) string {
	if open == "" {
		return "search="
	}
	return open + "%0A"
}
