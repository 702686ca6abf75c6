package clickhouse_test

import (
	"context"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit/warehouse"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// definitions are what a database has, by name, without the name of the database and
// the sizes of windows; of a twin only what is told of one.
func definitions(t *testing.T, conn *clickhouse.Conn, database string) map[string]string {
	t.Helper()
	var rows []struct {
		Name   string `ch:"name"`
		Create string `ch:"create"`
	}
	err := conn.Select(t.Context(), &rows, `
		SELECT name, replaceRegexpAll(replaceOne(create_table_query, ' COMMENT \''||comment||'\'', ''), '`+"`?"+database+"`?"+`\\.', '') AS create
		FROM system.tables WHERE database = '`+database+`'`)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, r := range rows {
		all[r.Name] = strings.Replace(r.Create, "non_replicated_deduplication_window = 50000", "non_replicated_deduplication_window = 0", 1)
	}
	return all
}

// A twin has what an insert passes through, in the same words, and is empty however
// often it is made; what goes in there stays there.
func TestATwinTakesWhatTheTablesTake(t *testing.T) {
	conn := warehouse.Migrated(t)
	if err := clickhouse.Answers.Insert(t.Context(), conn, "a", []clickhouse.AnswerRow{warehouse.Answer(0, warehouse.Day)}); err != nil {
		t.Fatal(err)
	}
	var here, twin string
	if err := conn.QueryRow(t.Context(), "SELECT currentDatabase()").Scan(&here); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := clickhouse.DropTwin(context.Background(), conn, "twin-of.it"); err != nil {
			t.Error(err)
		}
	})
	for range 2 {
		var err error
		if twin, err = clickhouse.Twin(t.Context(), conn, "twin-of.it"); err != nil {
			t.Fatal(err)
		}
		if twin != here+"_twin-of.it" {
			t.Errorf("the twin is %s", twin)
		}
		for range 2 { // without a window nothing is taken for a repetition
			if err := conn.Exec(t.Context(), "INSERT INTO `"+twin+"`.answers SELECT * FROM answers SETTINGS insert_deduplication_token = 'a'"); err != nil {
				t.Fatal(err)
			}
		}
		for table, question := range warehouse.Fed {
			var got uint64
			if err := conn.QueryRow(t.Context(), strings.Replace(question, "FROM ", "FROM `"+twin+"`.", 1)).Scan(&got); err != nil {
				t.Fatal(err)
			}
			want := uint64(2)
			if table == "shopping_cards" { // counted by their ids
				want = 1
			}
			if got != want {
				t.Errorf("%s of the twin: %d, want %d", table, got, want)
			}
		}
		for table, n := range warehouse.Counts(t, conn) {
			if n != 1 {
				t.Errorf("%s: %d, want 1", table, n)
			}
		}
	}
	want, got := definitions(t, conn, here), definitions(t, conn, twin)
	for name, create := range got {
		if create != want[name] {
			t.Errorf("%s of the twin is\n%s\nand not\n%s", name, create, want[name])
		}
	}
	for _, name := range []string{
		"answers", "answer_daily", "answer_daily_view", "entity_prompt_daily", "entity_prompt_daily_view", "citations", "citations_view", "citation_daily", "citation_daily_view",
		"shopping_cards", "shopping_cards_view", "visits", "visit_daily", "visit_daily_view",
		"crawls", "crawl_daily", "crawl_daily_view",
		"log_progress", "log_progress_answers_view", "log_progress_visits_view", "log_progress_crawls_view",
	} {
		if _, ok := got[name]; !ok {
			t.Errorf("the twin has no %s", name)
		}
	}
}

// Whatever views a server has on our tables, those of its twin do the same; other
// tables that they read are read where they are.
func TestATwinHasTheViewsOfOthers(t *testing.T) {
	conn := warehouse.Migrated(t)
	other := warehouse.Answer(1, warehouse.Day)
	other.BrandID = clickhouse.UUID{9}
	if err := clickhouse.Answers.Insert(t.Context(), conn, "a", []clickhouse.AnswerRow{warehouse.Answer(0, warehouse.Day), other}); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		`CREATE MATERIALIZED VIEW theirs TO log_progress AS
			SELECT '' AS log_topic, 0 AS log_partition, toInt64(throwIf(brand_id IN (SELECT id FROM dimension_brands))) AS last_offset FROM answer_daily`,
		"INSERT INTO dimension_brands (id) SELECT '02000000-0000-0000-0000-000000000000'",
	} {
		if err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	twin, err := clickhouse.Twin(t.Context(), conn, "twin")
	if err != nil {
		t.Fatal(err)
	}
	fill := "INSERT INTO `" + twin + "`.answers SELECT * FROM answers WHERE brand_id IN (SELECT id FROM dimension_brands)"
	if err := conn.Exec(t.Context(), fill); err == nil || !strings.Contains(err.Error(), "395") {
		t.Errorf("a row that a view refuses: %v", err)
	}
	if err := conn.Exec(t.Context(), strings.Replace(fill, " IN ", " NOT IN ", 1)); err != nil {
		t.Error(err)
	}
	if err := clickhouse.DropTwin(t.Context(), conn, "twin"); err != nil {
		t.Error(err)
	}
}
