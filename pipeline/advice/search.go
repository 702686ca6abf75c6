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
	maxLink        = 2000 // bytes of the searches in a link
)

// The most that is compared: of searches the bytes of one and the number of different ones, which are in memory, and
// the steps in which they are grouped, some seconds.
const (
	maxSearch   = 512
	maxSearches = 100_000
	maxSteps    = 1_000_000_000
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

// A searchLog has the searches of a window.
type searchLog struct {
	answers []clickhouse.SearchingAnswer // without their searches
	issued  map[string][]int             // answers by search, as often as it was issued for them
	omitted int                          // searches that are not compared
	steps   int                          // the most of a comparison
}

// A searchGroup has searches that are alike.
type searchGroup struct {
	words    []string // of the search that was issued for most answers
	searches []string
	answers  []int // for which one of them was issued, in any order
}

// searches finds what platforms search for again and again, and no prompt asks.
func searches(ctx context.Context, warehouse *clickhouse.Conn, brand Brand, window Window) ([]Result, error) {
	log := searchLog{issued: map[string][]int{}, steps: maxSteps}
	if err := clickhouse.AdviceSearches(ctx, warehouse, brand.filter(window), log.add); err != nil {
		return nil, err
	}
	result, err := log.find(ctx, &brand)
	return []Result{result}, err
}

// add adds an answer. Searches that would need too much memory are omitted.
func (l *searchLog) add(a *clickhouse.SearchingAnswer) error {
	for _, search := range a.Searches {
		if l.issued[search] == nil && (len(search) > maxSearch || len(l.issued) == maxSearches) {
			l.omitted++
			continue
		}
		l.issued[search] = append(l.issued[search], len(l.answers))
	}
	a.Searches = nil
	l.answers = append(l.answers, *a)
	return nil
}

// find suggests groups of searches that no prompt covers.
func (l *searchLog) find(ctx context.Context, brand *Brand) (Result, error) {
	result := Result{Total: Total{Kind: KindPrompt}}
	groups, searching, err := l.group(ctx)
	var prompts need.Prompts
	for _, prompt := range brand.Prompts {
		prompts.Add(need.Words(prompt.Text))
	}
	largest := 0
	for _, g := range groups {
		if prompts.Cover(g.words) {
			continue
		}
		result.Judged++
		e, runs := l.evidence(g)
		if largest = max(largest, e.Answers); e.Answers < leastSearching || runs < leastRuns {
			continue
		}
		e.Searching = searching
		result.Suggestions = append(result.Suggestions, Suggestion{
			Kind: KindPrompt, Key: strings.Join(g.words, " "), Evidence: e,
			Score: perCent(int64(e.Answers), int64(searching)),
			Text:  fmt.Sprintf(`AI platforms searched "%s" in %d answers; no prompt asks it.`, e.Name, e.Answers),
			Reason: fmt.Sprintf("%d of these answers name %s. A prompt shows what people are told who ask it.",
				e.BrandAnswers, brand.Name),
		})
	}
	if l.omitted > 0 {
		result.Reasons = append(result.Reasons,
			Reason{KindPrompt, "searches_omitted", len(l.issued), len(l.issued) + l.omitted})
	}
	return result.ranked(
		Reason{KindPrompt, "no_searches", searching, 1},
		Reason{KindPrompt, "too_few_searching_answers", largest, leastSearching}), err
}

// group groups the searches, and counts the answers that have any. A search joins the first group whose most frequent
// search is alike. The rarest are omitted when the others took too many steps.
func (l *searchLog) group(ctx context.Context) (groups []*searchGroup, searching int, err error) {
	byWords, answers := map[string]*searchGroup{}, map[int]bool{}
	for search, issued := range l.issued {
		words := need.Words(search)
		if len(words) == 0 {
			continue
		}
		key := strings.Join(words, " ")
		if byWords[key] == nil {
			byWords[key] = &searchGroup{words: words}
		}
		byWords[key].add(issued, search)
		for _, i := range issued {
			answers[i] = true
		}
	}
	for _, g := range byWords {
		g.answers = distinct(g.answers)
	}
	var leaders need.Prompts
	for _, g := range slices.SortedFunc(maps.Values(byWords), func(a, b *searchGroup) int {
		return cmp.Or(cmp.Compare(len(b.answers), len(a.answers)), slices.Compare(a.words, b.words))
	}) {
		if ctx.Err() != nil {
			return nil, 0, context.Cause(ctx)
		}
		if leaders.Steps > l.steps {
			for _, search := range g.searches {
				delete(l.issued, search)
			}
			l.omitted += len(g.searches)
		} else if i, ok := leaders.Alike(g.words); ok {
			groups[i].add(g.answers, g.searches...)
		} else {
			leaders.Add(g.words)
			groups = append(groups, g)
		}
	}
	return groups, len(answers), nil
}

func (g *searchGroup) add(answers []int, searches ...string) {
	g.searches = append(g.searches, searches...)
	g.answers = append(g.answers, answers...)
}

func distinct(answers []int) []int {
	slices.Sort(answers)
	return slices.Compact(answers)
}

// evidence returns the counts of a group, and on how many days of platforms it was issued.
func (l *searchLog) evidence(g *searchGroup) (e SearchEvidence, runs int) {
	platforms, prompts, days := map[string]bool{}, map[clickhouse.UUID]bool{}, map[[2]string]bool{}
	g.answers = distinct(g.answers)
	for _, i := range g.answers {
		a := l.answers[i]
		platforms[a.Platform], prompts[a.PromptID] = true, true
		days[[2]string{a.Platform, string(clickhouse.DayOf(a.Day))}] = true
		if a.Named {
			e.BrandAnswers++
		}
	}
	e.Answers, e.Prompts, e.Platforms = len(g.answers), len(prompts), slices.Sorted(maps.Keys(platforms))
	times, wordings := map[string]int{}, map[string]int{}
	for _, search := range g.searches {
		times[search] = len(l.issued[search])
		wordings[strings.Join(strings.Fields(search), " ")] += len(l.issued[search])
	}
	e.Query = mostFrequent(wordings)[0]
	e.Name = quoted(need.Wording(e.Query))
	e.Link = l.link(mostFrequent(times))
	return e, len(days)
}

// link lists the answers with any of the searches, a line each; with the first ones if not all fit.
func (l *searchLog) link(searches []string) (link Link) {
	listed, prefix := []int{}, "search="
	for _, search := range searches {
		open := link.Open + prefix + url.QueryEscape(search)
		if len(open) <= maxLink && !strings.Contains(search, "\n") {
			link.Open, prefix, listed = open, "%0A", append(listed, l.issued[search]...)
		}
	}
	link.Listed = int64(len(distinct(listed)))
	return link
}

// mostFrequent returns searches by count descending, then by text.
func mostFrequent(times map[string]int) []string {
	return slices.SortedFunc(maps.Keys(times), func(a, b string) int {
		return cmp.Or(times[b]-times[a], strings.Compare(a, b))
	})
}
