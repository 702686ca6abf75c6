//go:build all

package main

import (
	"testing"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Growth means something only if ten times the answers are of the same prompts,
// URLs and brands, and come to the same wherever they are loaded again.
func TestMoreSamplesAreMoreOfTheSame(t *testing.T) {
	db, first, grown, again := aControlPlane(t), aWarehouse(t), aWarehouse(t), aWarehouse(t)
	small := data{brands: 11, days: 14, visits: 3, samples: 1}
	brands, err := addBrands(t.Context(), db, small.brands)
	if err != nil {
		t.Fatal(err)
	}
	if err := mirrorBrands(t.Context(), testkit.Log(t), db, first, brands); err != nil {
		t.Fatal(err)
	}
	large := small
	large.samples = 10
	for warehouse, l := range map[*clickhouse.Conn]data{first: small, grown: large, again: large} {
		if warehouse != first {
			if err := copyDimensions(t.Context(), first,
				ask[string](t, warehouse, "SELECT currentDatabase()")); err != nil {
				t.Fatal(err)
			}
		}
		if err := fill(t.Context(), warehouse, l, func(string, ...any) {}); err != nil {
			t.Fatal(err)
		}
	}
	for _, table := range []string{
		"answer_daily", "entity_prompt_daily", "citations", "shopping_cards", "visit_daily", "crawl_daily",
	} {
		if n := ask[uint64](t, grown, "SELECT count() FROM "+table); n == 0 {
			t.Errorf("%s is empty", table)
		}
	}
	// 11 brands, 100 askings a week, 2 weeks.
	if n := ask[uint64](t, first, "SELECT count() FROM answers"); n != 11*100*2 {
		t.Errorf("%d answers, want 2200", n)
	}
	if a, b := ask[uint64](t, first, "SELECT count() FROM answers"),
		ask[uint64](t, grown, "SELECT count() FROM answers"); b != 10*a {
		t.Errorf("%d and %d answers, want tenfold", a, b)
	}
	for _, same := range []string{
		"SELECT groupBitXor(cityHash64(id, text, mention_count, `competitors.mention_count`, `citations.url`)) FROM " +
			"answers WHERE sample = 1",
		"SELECT uniqExact(prompt_id, platform, model, region, day) FROM answers",
		"SELECT uniqExact(prompt_id) FROM entity_prompt_daily",
		"SELECT count() FROM visits",
		"SELECT count() FROM crawls",
	} {
		if a, b := ask[uint64](t, first, same), ask[uint64](t, grown, same); a != b {
			t.Errorf("%s: %d and %d, want the same", same, a, b)
		}
	}
	if n := ask[uint64](t, grown,
		"SELECT max(urls) FROM (SELECT uniqExact(url) AS urls FROM citations GROUP BY brand_id)"); n > 400 {
		t.Errorf("a brand has %d URLs, want 400 at most", n)
	}
	const all = "SELECT groupBitXor(cityHash64(* EXCEPT is_branded)) FROM answers"
	if a, b := ask[uint64](t, grown, all), ask[uint64](t, again, all); a != b {
		t.Error("the second load is not the first again")
	}
}

func ask[T any](t *testing.T, warehouse *clickhouse.Conn, question string) (answer T) {
	t.Helper()
	if err := warehouse.QueryRow(t.Context(), question).Scan(&answer); err != nil {
		t.Fatalf("%s: %v", question, err)
	}
	return answer
}

func aControlPlane(t *testing.T) *postgres.DB {
	t.Helper()
	return store.OpenControlPlane(t, store.ControlPlane(t))
}

func aWarehouse(t *testing.T) *clickhouse.Conn {
	t.Helper()
	return store.OpenWarehouse(t, store.Warehouse(t))
}
