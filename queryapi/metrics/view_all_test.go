//go:build all

package metrics

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// texts are what the endpoints send to the warehouse, by the name of the view that an analyst calls.
var texts = map[string]*string{
	clickhouse.ShareOfVoice.Name:      &clickhouse.ShareOfVoice.Text,
	clickhouse.DegradedPlatforms.Name: &clickhouse.DegradedPlatforms.Text,
	clickhouse.ModelChanges.Name:      &clickhouse.ModelChanges.Text,
	clickhouse.CellDays.Name:          &clickhouse.CellDays.Text,
	clickhouse.BrandsVisits.Name:      &clickhouse.BrandsVisits.Text,
	clickhouse.LastAnswers.Name:       &clickhouse.LastAnswers.Text,
	clickhouse.RivalDays.Name:         &clickhouse.RivalDays.Text,
	clickhouse.RowNames.Name:          &clickhouse.RowNames.Text,
	clickhouse.CitationBuckets.Name:   &clickhouse.CitationBuckets.Text,
	clickhouse.NewestCards.Name:       &clickhouse.NewestCards.Text,
	clickhouse.ShoppingPrices.Name:    &clickhouse.ShoppingPrices.Text,
	clickhouse.AITraffic.Name:         &clickhouse.AITraffic.Text,
	clickhouse.AICrawlers.Name:        &clickhouse.AICrawlers.Text,
	clickhouse.AIPages.Name:           &clickhouse.AIPages.Text,
	clickhouse.VisitBuckets.Name:      &clickhouse.VisitBuckets.Text,
	clickhouse.VisitTotals.Name:       &clickhouse.VisitTotals.Text,
	clickhouse.VisitChange.Name:       &clickhouse.VisitChange.Text,
	clickhouse.CrawlBuckets.Name:      &clickhouse.CrawlBuckets.Text,
	clickhouse.FilterValues.Name:      &clickhouse.FilterValues.Text,
	clickhouse.SimulatedAnswers.Name:  &clickhouse.SimulatedAnswers.Text,
	clickhouse.AnswersFound.Name:      &clickhouse.AnswersFound.Text,
	clickhouse.FanoutTotals.Name:      &clickhouse.FanoutTotals.Text,
	clickhouse.FanoutQueries.Name:     &clickhouse.FanoutQueries.Text,
	clickhouse.FanoutWords.Name:       &clickhouse.FanoutWords.Text,
}

// others are the view of the weekly report alone, and those whose rows the API computes from sums, which are compared
// in sql/clickhouse.
var others = []string{
	"new_sources", "live_competitors", "entity_visibility", "entity_trend", "brand_visibility", "sentiment",
	"prompt_performance", "citation_sources", "answer_citations", "source_matrix", "prompt_matrix",
	"shopping_lists", "brands_standing", "brands_trend",
}

var placeholder = regexp.MustCompile(`\{(\w+):[^}]+\}`)

// callViews lets the endpoints ask as an analyst does: SELECT * FROM a view by its name, with its parameters by theirs.
func callViews(t *testing.T) (restore func()) {
	t.Helper()
	files := map[string]string{}
	for name, text := range texts {
		files[name] = *text
		arguments := map[string]string{}
		for _, m := range placeholder.FindAllStringSubmatch(*text, -1) {
			arguments[m[1]] = m[1] + " = " + m[0]
		}
		*text = fmt.Sprintf("SELECT * FROM %s(%s)", name, strings.Join(slices.Sorted(maps.Values(arguments)), ", "))
	}
	return func() {
		for name, text := range files {
			*texts[name] = text
		}
	}
}

// The figures of an endpoint are those of the views that an analyst calls: of every endpoint that asks the warehouse,
// under random filters, the body is byte for byte the one that it has when the same requests are answered from calls of
// the views.
func TestEveryEndpointSaysWhatItsViewsSay(t *testing.T) {
	for name, open := range map[string]func(*testing.T) *clickhouse.Conn{
		"one_server": openComplete, "two_shards": openShards,
	} {
		t.Run(name, func(t *testing.T) { sayWhatViewsSay(t, newServiceOn(t, open(t))) })
	}
}

func sayWhatViewsSay(t *testing.T, s *service) {
	t.Helper()
	for _, view := range viewsOfOrganizations(t) {
		if texts[view] == nil && !slices.Contains(others, view) {
			t.Errorf("view %s is not compared", view)
		}
	}
	h := newHistory(t, s.stage(t), rand.New(rand.NewPCG(7, 1)))
	h.answers(t)
	h.edits(t)
	h.answers(t)
	h.addFacts(t, citing(h.random, 200)...)
	h.corrections(t)
	h.land(t, h.visitSink(t, 1000), h.visits(t, lumensVisits(h.random, 200)...))

	var targets []string
	for _, e := range endpoints {
		o := contractOf(t).operations[prefix+e.path]
		for range 2 {
			_, query := h.randomFilter(h.random, "lumen")
			query.Set("brand_id", h.ids["lumen"])
			query.Set("limit", fmt.Sprint(pick(h.random, 1, 3, 20)))
			for name, values := range map[string][]string{
				"granularity": {"day", "week"}, "sort": {"newest", "prompt"},
				"sort_by":       {"visibility", "mentions", "citations", "appearances", "rate", "change"},
				"order":         {"asc", "desc"},
				"source_filter": {"all", "owned", "competitor", "external"},
				"step":          {"crawled", "cited", "visited", "converted"},
				"compare":       {"none", "previous"}, "cited": {"true", "false"},
				"by": {"platform", "model", "region"}, "group_by": {"platform", "model", "region", "topic"},
			} {
				query.Set(name, pick(h.random, values...))
			}
			if o.reads("step") {
				query.Set("sort_by", pick(h.random, "visits", "sessions", "citations", "crawls", "goals"))
			}
			if o.reads("compare_days") {
				query.Set("group_by", "platform,topic,prompt,competitor")
			}
			if e.path == "/brands-overview" {
				query.Set("sort_by", pick(h.random, "change", "rate", "gap", "visits", "cost"))
			}
			maps.DeleteFunc(query, func(name string, _ []string) bool { return !o.reads(name) })
			targets = append(targets, h.path(o, "lumen")+"?"+query.Encode())
		}
	}
	bodies := func() (all []string) {
		for _, target := range targets {
			status, body := h.get(t, "acme", target)
			if status != http.StatusOK {
				t.Fatal(target, status, body)
			}
			all = append(all, body)
		}
		return all
	}
	byFiles := bodies()
	defer callViews(t)()
	byViews := bodies()
	for i, target := range targets {
		if byFiles[i] != byViews[i] {
			t.Errorf("%s\nfile %s\nview %s", target, byFiles[i], byViews[i])
		}
	}
}

// viewsOfOrganizations lists the views that analysts call with their organization.
func viewsOfOrganizations(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("../../sql/clickhouse/query/*.sql")
	if err != nil || len(paths) == 0 {
		t.Fatal("no views", err)
	}
	var views []string
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "{organization_id:UUID}") &&
			!strings.Contains(string(text), "{ids:Array(UUID)}") {
			views = append(views, strings.TrimSuffix(filepath.Base(path), ".sql"))
		}
	}
	return views
}

func citing(random *rand.Rand, n int) []answerFact {
	facts := make([]answerFact, n)
	for i := range facts {
		facts[i] = randomSources(random)
	}
	return facts
}

func lumensVisits(random *rand.Rand, n int) []visitFact {
	facts := randomVisits(random, n)
	for i := range facts {
		facts[i].Brand = pick(random, "lumen", "second", "lumen-of-rival")
	}
	return facts
}
