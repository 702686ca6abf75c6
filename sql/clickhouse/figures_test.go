package clickhouse_test

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/warehouse"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// The API computes with the formulas in Go what analysts' views compute in SQL: each field of each row is the same.
func TestFormulasOfGoAndSQLAgree(t *testing.T) {
	t.Parallel()
	conn, random := warehouse.Complete(t), rand.New(rand.NewPCG(1, 1))
	landFacts(t, conn, random, warehouse.Organization, 0)
	for range testkit.Draws(12, 60) {
		from := warehouse.Day.AddDate(0, 0, random.IntN(12)-5)
		f := clickhouse.Filter{
			OrganizationID: warehouse.Organization, BrandID: warehouse.Brand,
			DateFrom:  clickhouse.DayOf(from),
			DateTo:    clickhouse.DayOf(from.AddDate(0, 0, random.IntN(30))),
			Platforms: some(random, "OpenAI", "gemini"), Models: some(random, "m", "N"),
			Topics: some(random, topics[1], topics[2]), Branded: some(random, true, false),
		}
		groups := clickhouse.GroupFilter{
			Filter: f, GroupBy: one(random, clickhouse.NoGroups, clickhouse.ByPlatform, clickhouse.ByTopic),
			Prompts: one(random, nil, nil, nil, []clickhouse.UUID{{30}}),
		}
		width := one(random, clickhouse.ByDay, clickhouse.ByWeek, clickhouse.ByWindow)
		compareFigures(t, conn, "entity_visibility", clickhouse.EntityVisibility, groups)
		compareFigures(t, conn, "sentiment", clickhouse.Sentiments, groups)
		compareFigures(t, conn, "brand_visibility", clickhouse.BrandVisibility,
			clickhouse.BucketFilter{GroupFilter: groups, Granularity: width})
		compareFigures(t, conn, "entity_trend", clickhouse.EntityTrend,
			clickhouse.TrendFilter{Filter: f, Prompts: groups.Prompts, Granularity: width})
		compareFigures(t, conn, "prompt_performance", clickhouse.PromptPerformance, clickhouse.PromptFilter{
			ListFilter: clickhouse.ListFilter{Filter: f, Limit: 50},
			SortBy:     one(random, "visibility", "rate", "citations"),
			Order:      one(random, "asc", "desc"),
		})
		compareFigures(t, conn, "source_matrix", clickhouse.SourceMatrix, clickhouse.ListFilter{Filter: f, Limit: 50})
		compareFigures(t, conn, "prompt_matrix", clickhouse.PromptMatrix, clickhouse.MatrixFilter{
			ListFilter: clickhouse.ListFilter{Filter: f, Limit: 50}, GroupBy: groups.GroupBy,
		})
		compareFigures(t, conn, "shopping_lists", clickhouse.ShoppingLists, clickhouse.ProductListFilter{
			Filter: f, Domains: []string{one(random, "shop.a.example", "b.example")},
		})
		brands := f.ForBrands(warehouse.Brand)
		compareFigures(t, conn, "brands_standing", clickhouse.BrandsStanding, brands)
		compareFigures(t, conn, "brands_trend", clickhouse.BrandsTrend, brands)
		source, limit := one(random, clickhouse.AllSources, clickhouse.ExternalSources), one[uint32](random, 1, 50)
		compareFigures(t, conn, "citation_sources", clickhouse.CitationSources,
			clickhouse.CitationSourceFilter{Filter: f, Source: source, Limit: limit})
		compareFigures(t, conn, "answer_citations", clickhouse.AnswerCitations, clickhouse.CitationListFilter{
			CitationFilter: clickhouse.CitationFilter{Filter: f, Source: source, Consulted: one(random, true, false)},
			Limit:          limit,
		})
	}
}

func compareFigures[P, R any](t *testing.T, conn *clickhouse.Conn, view string, f clickhouse.Source[P, R], params P) {
	t.Helper()
	got, err := f.All(t.Context(), conn, params)
	if err != nil {
		t.Fatal(err)
	}
	var args []any
	for name, value := range clickhouse.Bind(params) {
		args = append(args, driver.Named(name, value))
	}
	var want []R
	if err := conn.Select(t.Context(), &want, "SELECT * FROM "+call(t, view), args...); err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) {
		t.Errorf("%s of %+v: %d rows, want %d", view, params, len(got), len(want))
		return
	}
	for i := range want {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("%s of %+v:\n%s\nwant\n%s", view, params, inJSON(t, got[i]), inJSON(t, want[i]))
		}
	}
}

func inJSON(t *testing.T, row any) string {
	t.Helper()
	text, err := json.Marshal(row)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
