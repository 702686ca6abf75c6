package clickhouse_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/internal/testkit/warehouse"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// purged are the tables of which rows belong to brands, as the server has them.
func purgedTables(t *testing.T, conn *clickhouse.Conn) []string {
	t.Helper()
	var names []string
	err := conn.QueryRow(t.Context(), `
		SELECT arraySort(groupUniqArray(table))
		FROM system.columns
		WHERE database = currentDatabase() AND columns.name = 'organization_id'
		  AND table IN (SELECT name FROM system.tables WHERE database = currentDatabase() AND endsWith(engine,
		      'MergeTree'))`).Scan(&names)
	if err != nil {
		t.Fatal(err)
	}
	return append(names, "deadletters")
}

// sumOf is a checksum of the rows of a table that a condition picks, in any order.
func sumOf(t *testing.T, conn *clickhouse.Conn, table, where string) string {
	t.Helper()
	var text string
	if err := conn.QueryRow(t.Context(), "SELECT toString((count(), sum(cityHash64(*)))) FROM (SELECT * FROM "+
		""+table+" WHERE "+where+")").Scan(&text); err != nil {
		t.Fatal(table, err)
	}
	return text
}

func count(t *testing.T, conn *clickhouse.Conn, table, where string) (n uint64) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), "SELECT count() FROM "+table+" WHERE "+where).Scan(&n); err != nil {
		t.Fatal(table, err)
	}
	return n
}

// lettersNaming are dead letters that name an id in each of the ways that a record may, and one that only speaks of it.
func lettersNaming(id clickhouse.UUID, first int64) []clickhouse.DeadLetter {
	values := []string{
		fmt.Sprintf(`{"v":1,"brand":{"id":%q}}`, id),
		fmt.Sprintf(`{"brand_id":%q,"path":7}`, strings.ToUpper(id.String())),
		fmt.Sprintf(`{"brand":{"id":%q}, cut off`, id), fmt.Sprintf(`{"text":"of %s"}`, id),
	}
	var all []clickhouse.DeadLetter
	for i, value := range values {
		all = append(all, clickhouse.DeadLetter{LogTopic: "answers", LogOffset: first + int64(i),
			AppendedAt: warehouse.Day, Value: value, Reason: "malformed"})
	}
	return append(all, clickhouse.DeadLetter{LogTopic: "answers", LogOffset: first + 4, AppendedAt: warehouse.Day,
		Key: id.String(), Value: "\xff", Reason: "malformed"})
}

// A brand and an organization are deleted; of every table their rows go, and no other's. A replay of the inserts brings
// nothing back into any table, since nothing forgot their tokens.
func TestAPurgeTakesTheRowsOfTheDeletedAndNoOther(t *testing.T) {
	t.Parallel()
	conn := warehouse.Migrated(t)
	other, sister := clickhouse.UUID{77}, clickhouse.UUID{78}
	land := func() {
		t.Helper()
		random := rand.New(rand.NewPCG(1, 1))
		for i, rowsOf := range []clickhouse.UUID{warehouse.Organization, neighbour, other} {
			landFacts(t, conn, random, rowsOf, int64(1000*i))
			if err := clickhouse.DimensionBrands.Insert(t.Context(), conn, "",
				[]clickhouse.DimensionBrand{{OrganizationID: rowsOf, ID: warehouse.Brand, Name: "B",
					Version: 1}}); err != nil {
				t.Fatal(err)
			}
		}
		a, v, c := fact(5000) // another brand of the organization
		a.BrandID, v.BrandID, c.BrandID = sister, sister, sister
		for _, err := range []error{
			clickhouse.Answers.Insert(t.Context(), conn, "sister", []clickhouse.AnswerRow{a}),
			clickhouse.Visits.Insert(t.Context(), conn, "sister", warehouse.Pack(v)),
			clickhouse.Crawls.Insert(t.Context(), conn, "sister", []clickhouse.CrawlRow{c}),
			clickhouse.DeadLetters.Insert(t.Context(), conn, "letters",
				slices.Concat(lettersNaming(warehouse.Brand, 0), lettersNaming(sister, 10), lettersNaming(other, 20))),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	land()
	gone := fmt.Sprintf("organization_id = '%s' AND %%s = '%s' OR organization_id = '%s'", warehouse.Organization,
		warehouse.Brand, other)
	rowsOf := func(table string) string {
		switch table {
		case "dimension_brands":
			return fmt.Sprintf(gone, "id")
		case "deadletters":
			return fmt.Sprintf("(log_offset < 10 OR log_offset >= 20) AND value NOT LIKE '{\"text\"%%'")
		}
		return fmt.Sprintf(gone, "brand_id")
	}
	tables := purgedTables(t, conn)
	before := map[string]string{}
	for _, table := range tables {
		if count(t, conn, table, rowsOf(table)) == 0 || count(t, conn, table, "NOT ("+rowsOf(table)+")") == 0 {
			t.Fatalf("%s has no rows of the deleted, or of others: it proves nothing", table)
		}
		before[table] = sumOf(t, conn, table, "NOT ("+rowsOf(table)+")")
	}
	deleted := []clickhouse.DeletedOwner{{Organization: warehouse.Organization, Brand: warehouse.Brand},
		{Organization: other}}
	for i := range deleted { // one by one, so that neither finds the other's rows for it
		some, err := clickhouse.Purge(t.Context(), conn, deleted[i:i+1])
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range tables {
			if some[table] == 0 {
				t.Errorf("nothing was found in %s of %v", table, deleted[i])
			}
		}
	}
	check := func(when string) {
		t.Helper()
		for _, table := range tables {
			if n := count(t, conn, table, rowsOf(table)); n > 0 {
				t.Errorf("%s: %d rows of the deleted are in %s", when, n, table)
			}
			if got := sumOf(t, conn, table, "NOT ("+rowsOf(table)+")"); got != before[table] {
				t.Errorf("%s: others' rows of %s are %s, were %s", when, table, got, before[table])
			}
		}
	}
	check("purged")
	if again, err := clickhouse.Purge(t.Context(), conn, deleted[:1]); err != nil || slices.Max(values(again)) > 0 {
		t.Errorf("a second purge found %v, %v", again, err)
	}
	land()
	for table, where := range map[string]string{"dimension_brands": rowsOf("dimension_brands"),
		"dimension_competitors": rowsOf(""), "dimension_prompts": rowsOf(""), "dimension_topics": rowsOf("")} {
		// no tokens: the mirror's versions
		if err := conn.Exec(t.Context(), "ALTER TABLE "+table+" DELETE WHERE "+where+" SETTINGS mutations_sync = "+
			"1"); err != nil {
			t.Fatal(err)
		}
		if err := conn.Exec(t.Context(), "OPTIMIZE TABLE "+table+" FINAL"); err != nil {
			t.Fatal(err)
		}
		before[table] = sumOf(t, conn, table, "1")
	}
	check("inserted again under the same tokens")
}

func values(m map[string]uint64) []uint64 {
	all := []uint64{0}
	for _, n := range m {
		all = append(all, n)
	}
	return all
}

// A part without rows stays: the server would remove it within a minute, and with it the tokens of its inserts.
func TestNoTableOfFactsForgetsTheTokensOfEmptyParts(t *testing.T) {
	t.Parallel()
	conn := warehouse.Migrated(t)
	var forgetful []string
	err := conn.QueryRow(t.Context(), `
		SELECT groupArray(name)
		FROM system.tables
		WHERE database = currentDatabase() AND engine_full LIKE '%deduplication_window = 50000%'
			AND engine_full NOT LIKE '%remove_empty_parts = 0%'`).Scan(&forgetful)
	if err != nil || len(forgetful) > 0 {
		t.Errorf("%v do not say remove_empty_parts = 0, %v", forgetful, err)
	}
}

// Months before a day go, whole and soon, and nothing else does: not from a table that expires on, not of what views
// made of the rows, and not for a replay of their inserts.
func TestOnlyMonthsBeforeADayExpire(t *testing.T) {
	t.Parallel()
	conn := warehouse.Migrated(t)
	insert := func() {
		t.Helper()
		for month := range 4 {
			at := warehouse.Day.AddDate(0, month, 0)
			a, v, c := warehouse.Answer(int64(month), at), warehouse.Visit(int64(month), at),
				warehouse.Crawl(int64(month), at)
			letter := clickhouse.DeadLetter{LogTopic: "answers", LogOffset: int64(month), AppendedAt: at,
				Reason: "malformed"}
			for _, err := range []error{
				clickhouse.Answers.Insert(t.Context(), conn, fmt.Sprint(month), []clickhouse.AnswerRow{a}),
				clickhouse.Visits.Insert(t.Context(), conn, fmt.Sprint(month), warehouse.Pack(v)),
				clickhouse.Crawls.Insert(t.Context(), conn, fmt.Sprint(month), []clickhouse.CrawlRow{c}),
				clickhouse.DeadLetters.Insert(t.Context(), conn, fmt.Sprint(month), []clickhouse.DeadLetter{letter}),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	insert()
	for _, c := range []struct {
		table  clickhouse.Expiring
		months int
	}{{clickhouse.ExpiringLanding("answers"), 2}, {clickhouse.ExpiringLanding("visits"), 1},
		{clickhouse.ExpiringLanding("crawls"), 2}, {clickhouse.ExpiringDeadLetters, 1},
		{clickhouse.ExpiringLanding("answers"), 3}, {clickhouse.ExpiringLanding("answers"), 3}} {
		before := time.Date(warehouse.Day.Year(), warehouse.Day.Month()+time.Month(c.months), 1, 0, 0, 0, 0, time.UTC)
		if err := clickhouse.Expire(t.Context(), conn, c.table, before); err != nil {
			t.Fatal(err)
		}
		wait.For(t, "the months to expire", func() bool {
			return count(t, conn, c.table.Table,
				"1") == uint64(4-c.months)
		})
	}
	insert()
	for table, want := range map[string]uint64{"answers": 1, "visits": 3, "crawls": 2, "deadletters": 3} {
		if n := count(t, conn, table, "1"); n != want {
			t.Errorf("%d rows of %s are left, want %d", n, table, want)
		}
		var soon uint64
		err := conn.QueryRow(t.Context(), "SELECT countIf(rows > 0 AND toYear(delete_ttl_info_max) NOT IN (1970, "+
			"2100)) FROM system.parts WHERE active AND database = currentDatabase() AND table = "+
			"'"+table+"'").Scan(&soon)
		if err != nil || soon > 0 {
			t.Errorf("%d parts of %s are to expire that should not, %v", soon, table, err)
		}
	}
	for table, sums := range map[string]string{"answer_daily": "sum(runs)", "entity_prompt_daily": "sum(runs)",
		"brand_prompt_daily": "sum(runs)", "citation_daily": "sum(answers)", "visit_daily": "sum(visits)",
		"crawl_daily": "sum(requests)"} {
		var n int64
		if err := conn.QueryRow(t.Context(), "SELECT toInt64("+sums+") FROM "+table).Scan(&n); err != nil || n != 4 {
			t.Errorf("%s has %d, %v; want 4", table, n, err)
		}
	}
}
