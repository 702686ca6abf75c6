package clickhouse_test

import (
	"strings"
	"testing"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/answerscope/answerscope/internal/testkit/warehouse"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// The sweep asks of the whole table, however old a day is, and reads no row of an
// answer for it: parts that were there before the projection have it too.
func TestStaleBrandsAreReadFromTheProjection(t *testing.T) {
	t.Parallel()
	conn := warehouse.Migrated(t)
	old, late := clickhouse.UUID{7}, clickhouse.UUID{8}
	var rows []clickhouse.AnswerRow
	add := func(brand clickhouse.UUID, offset int64, at time.Time, sign int8, revision int64) {
		row := warehouse.Answer(offset, at)
		row.BrandID, row.Sign, row.Revision = brand, sign, revision
		rows = append(rows, row)
	}
	for n := range int64(40) {
		add(old, n, warehouse.Day, 1, 1)
		add(old, n, warehouse.Day, -1, 1)
		add(old, n, warehouse.Day, 1, 2)
	}
	add(late, 40, warehouse.Day.AddDate(-3, 0, 0), 1, 1) // an old answer that landed late
	add(late, 41, warehouse.Day, 1, 2)
	if err := clickhouse.Answers.Insert(t.Context(), conn, "answers/0@0-41/1", rows); err != nil {
		t.Fatal(err)
	}
	brands, err := clickhouse.StaleBrands(t.Context(), conn, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	oldest := map[clickhouse.UUID]int64{}
	for _, b := range brands {
		oldest[b.BrandID] = b.Revision
	}
	if len(oldest) != 2 || oldest[old] != 2 || oldest[late] != 1 {
		t.Errorf("oldest readings %v, want 2 of %v and 1 of %v", oldest, old, late)
	}
	reading := func(what string) {
		t.Helper()
		for name, params := range map[string][]any{
			"stale_brands": {ch.Named("since", "1970-01-01")},
			"stale_days": {
				ch.Named("organization", warehouse.Organization), ch.Named("brand", late),
				ch.Named("first_day", "1970-01-01"), ch.Named("last_day", "2149-06-06"),
				ch.Named("reading_revision", "2"), ch.Named("reading_version", "1"),
			},
		} {
			if plan := explained(t, conn, name, params...); strings.Count(plan, "ReadFromMergeTree (readings)") != 1 ||
				strings.Count(plan, "ReadFromMergeTree") != 1 {
				t.Errorf("%s: %s reads:\n%s", what, name, plan)
			}
		}
	}
	reading("as inserted")
	for _, statement := range []string{
		"ALTER TABLE answers DROP PROJECTION readings SETTINGS mutations_sync = 1",
		"ALTER TABLE answers ADD PROJECTION readings (SELECT organization_id, brand_id, day, revision, " +
			"extract_version, sum(sign) GROUP BY organization_id, brand_id, day, revision, extract_version)",
		"ALTER TABLE answers MATERIALIZE PROJECTION readings SETTINGS mutations_sync = 1",
	} {
		if err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	reading("made of older parts")
	if err := conn.Exec(t.Context(), "DELETE FROM answers WHERE brand_id = {brand:UUID}",
		ch.Named("brand", late)); err != nil {
		t.Fatal("a lightweight delete: ", err)
	}
	if brands, err = clickhouse.StaleBrands(t.Context(), conn, time.Unix(0, 0)); err != nil || len(brands) != 1 {
		t.Errorf("after a delete %v, %v; want one brand", brands, err)
	}
}

// Of an answer whose first row was lost with a broken part its correction is left, without the text: read again, it
// would name no user.
func TestAnAnswerWithoutItsFirstRowIsNotReadAgain(t *testing.T) {
	t.Parallel()
	conn := warehouse.Migrated(t)
	var rows []clickhouse.AnswerRow
	for n, reading := range []struct {
		sign     int8
		revision int64
	}{{1, 1}, {-1, 1}, {1, 2}} {
		for id := range int64(2) {
			row := warehouse.Answer(id, warehouse.Day)
			row.LogOffset, row.Sign, row.Revision = int64(n), reading.sign, reading.revision
			if id == 0 || n > 0 { // the second one has lost its first row
				rows = append(rows, row)
			}
		}
	}
	if err := clickhouse.Answers.Insert(t.Context(), conn, "answers/0@0-2/1", rows); err != nil {
		t.Fatal(err)
	}
	than := clickhouse.StaleFilter{OrganizationID: rows[0].OrganizationID, BrandID: rows[0].BrandID, Revision: 3}
	stale, err := clickhouse.StaleAnswers(t.Context(), conn, than, []time.Time{warehouse.Day},
		clickhouse.StaleCursor{}, 10)
	if err != nil || len(stale) != 1 || stale[0].ID != rows[0].ID {
		t.Errorf("%+v, %v; want %s", stale, err, rows[0].ID)
	}
}

// explained is how the server goes about a question of query/.
func explained(t *testing.T, conn *clickhouse.Conn, name string, params ...any) string {
	t.Helper()
	rows, err := conn.Query(t.Context(), "EXPLAIN PLAN "+file(t, name), params...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var plan strings.Builder
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		plan.WriteString(line + "\n")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return plan.String()
}
