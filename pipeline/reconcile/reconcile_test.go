package reconcile_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/pipeline/reconcile"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/clickhouse/rollup"
)

// A difference planted in any rollup is found, in its month and of its brand, and is gone once it was repaired; nothing
// else is found or changed. The nightly run repairs only what takes nothing away. Each round plants another kind of
// difference in each rollup.
func TestPlantedDifferencesAreFoundAndRepaired(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.land(t, 400)
	const ofBrand = "brand_id = '00000000-0000-0000-0000-000000000002' AND toYYYYMM(day) = 202603"
	changes := map[string]string{
		"answer_daily": "runs = runs + 1", "brand_prompt_daily": "runs = runs + 1", "citation_daily": "entry = 1",
		"citations": "title = 'other'", "entity_prompt_daily": "mentions = mentions - 1",
		"shopping_cards": "price_amount = 0", "visit_daily": "value = value + 0.000001",
	}
	kinds := []struct {
		plant  func(table string) string
		tables string // that a nightly run repairs of this kind
	}{
		{func(table string) string {
			return "ALTER TABLE " + table + " DELETE WHERE " + ofBrand + " SETTINGS mutations_sync = 1"
		}, strings.Join(monthly, " ")},
		{func(table string) string {
			return "INSERT INTO " + table + " SELECT * FROM " + table + " WHERE " + ofBrand +
				" LIMIT 1 SETTINGS insert_deduplicate = 0"
		}, ""},
		{func(table string) string {
			return "ALTER TABLE " + table + " UPDATE " + changes[table] + " WHERE " + ofBrand +
				" SETTINGS mutations_sync = 1"
		}, "citation_daily citations entity_prompt_daily shopping_cards"},
	}
	for round := range testkit.Draws(1, len(kinds)) {
		var night, kept []string // findings
		for i, table := range monthly {
			kind := kinds[(i+round)%len(kinds)]
			f.exec(t, kind.plant(table))
			if slices.Contains(strings.Fields(kind.tables), table) {
				night = append(night, table+" 2026-03 repaired")
			} else {
				night = append(night, table+" 2026-03 kept")
				kept = append(kept, table+" 2026-03 repaired")
			}
		}
		r := f.reconcile(t, reconcile.Scope{Repair: reconcile.RepairMissing})
		if want := strings.Join(night, ", "); findings(r) != want || r.Compared != 15 || r.Open != len(kept) {
			t.Errorf("by night: %s, %d compared, want %s", findings(r), r.Compared, want)
		}
		for _, found := range r.Findings {
			ofSecond := len(found.Brands) == 1 && found.Brands[0].BrandID == clickhouse.UUID{15: 2}
			if !ofSecond || len(found.Differences) == 0 {
				t.Errorf("%+v", found)
			}
		}
		r = f.reconcile(t, reconcile.Scope{From: march, To: march, Repair: reconcile.RepairAll})
		if want := strings.Join(kept, ", "); findings(r) != want || r.Open != 0 {
			t.Errorf("by a person: %s, want %s", findings(r), want)
		}
	}
	if r := f.reconcile(t, reconcile.Scope{}); r.Compared != 15 || len(r.Findings) != 0 {
		t.Errorf("in the end: %d compared, %s", r.Compared, findings(r))
	}
	const shadows = "(SELECT count() FROM system.databases WHERE startsWith(name, currentDatabase() || '_'))"
	if n := f.number(t, shadows); n != 0 {
		t.Errorf("%d shadow schemas are left", n)
	}
}

// Months out of scope are not compared, but a month is repaired as a whole.
func TestOnlyTheScopeIsCompared(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.landVisits(t, 0, 400)
	for _, month := range []string{"202603", "202604"} {
		f.exec(t, "ALTER TABLE visit_daily DELETE WHERE brand_id = '00000000-0000-0000-0000-000000000002' AND "+
			"toYYYYMM(day) = "+month+" SETTINGS mutations_sync = 1")
	}
	first := rollup.Owner{OrganizationID: clickhouse.UUID{15: 1}, BrandID: clickhouse.UUID{15: 1}}
	second := rollup.Owner{OrganizationID: clickhouse.UUID{15: 1}, BrandID: clickhouse.UUID{15: 2}}
	for _, c := range []struct {
		scope reconcile.Scope
		want  string
	}{
		{reconcile.Scope{Owner: first}, ""},
		{reconcile.Scope{Owner: second}, "visit_daily 2026-03 differs, visit_daily 2026-04 differs"},
		{reconcile.Scope{Landing: "answers"}, ""},
		{reconcile.Scope{Landing: "visits", From: 202604}, "visit_daily 2026-04 differs"},
		{reconcile.Scope{To: 202602}, ""},
		{reconcile.Scope{Owner: second, To: 202603, Repair: reconcile.RepairMissing}, "visit_daily 2026-03 repaired"},
		{reconcile.Scope{}, "visit_daily 2026-04 differs"},
	} {
		if got := findings(f.reconcile(t, c.scope)); got != c.want {
			t.Errorf("%+v: %q, want %q", c.scope, got, c.want)
		}
	}
}

// The rows of a frozen month expire, and its rollups stay.
func TestAFrozenMonthIsLeftAlone(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.landVisits(t, 0, 400)
	lock, err := f.db.LockSinksExclusive(t.Context(), 0, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock.Freeze(t.Context(), "visits", clickhouse.Month(202604).First()); err != nil {
		t.Fatal(err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	before := f.number(t, "(SELECT sum(visits) FROM visit_daily)")
	f.exec(t, "ALTER TABLE visits DELETE WHERE toYYYYMM(day) = 202603 SETTINGS mutations_sync = 1")
	r := f.reconcile(t, reconcile.Scope{Repair: reconcile.RepairAll})
	if len(r.Findings) != 0 || fmt.Sprint(r.Frozen) != "[{visit_daily 2026-03 0}]" {
		t.Errorf("found %s, frozen %v", findings(r), r.Frozen)
	}
	if after := f.number(t, "(SELECT sum(visits) FROM visit_daily)"); after != before {
		t.Errorf("%d visits, there were %d", after, before)
	}
}

// log_progress has the offsets of landed rows, also of rows that expired since, and no more than the sinks have
// reached.
func TestProgressIsRepaired(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.landVisits(t, 0, 999)
	f.exec(t, "INSERT INTO log_progress VALUES ('gone', 0, 7)")
	f.exec(t, "ALTER TABLE log_progress DELETE WHERE log_topic = 'visits' AND log_partition = 1 SETTINGS "+
		"mutations_sync = 1")
	r := f.reconcile(t, reconcile.Scope{Repair: reconcile.RepairMissing})
	if findings(r) != "log_progress 0000-00 repaired" || fmt.Sprint(r.Findings[0].Offsets) != "[{visits 1 997 -1}]" {
		t.Errorf("%s %+v", findings(r), r.Findings)
	}
	if r := f.reconcile(t, reconcile.Scope{}); len(r.Findings) != 0 {
		t.Errorf("after all: %s", findings(r))
	}
	for topic, want := range map[string]int64{"gone": 7, "visits": 998} {
		if n := f.number(t, "(SELECT max(last_offset) FROM log_progress WHERE log_topic = '"+topic+"')"); n != want {
			t.Errorf("%s: %d, want %d", topic, n, want)
		}
	}
}

// One process reconciles at a time.
func TestASecondReconcilerIsRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.landVisits(t, 0, 10)
	r := newReconciler(t, f.config(), f.conn, f.db)
	var second error
	_, err := r.Reconcile(t.Context(), reconcile.Scope{}, func(done, _ int) {
		if done == 1 {
			_, second = r.Reconcile(t.Context(), reconcile.Scope{}, func(int, int) {})
		}
	})
	if err != nil || !errors.Is(second, reconcile.ErrBusy) {
		t.Errorf("first %v, second %v", err, second)
	}
}

// Where the sink lock is not granted, the report has the month as unknown, with the cause.
func TestBusySinksAreReported(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.landVisits(t, 0, 100)
	f.exec(t, "INSERT INTO visit_daily SELECT * FROM visit_daily WHERE toYYYYMM(day) = 202603 LIMIT 1 SETTINGS "+
		"insert_deduplicate = 0")
	hold, err := f.db.LockSinksShared(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Release()
	cfg := f.config()
	cfg.SetTimes(20*time.Millisecond, time.Minute, time.Millisecond, 2)
	r := newReconciler(t, cfg, f.conn, f.db)
	report, err := r.Reconcile(t.Context(), reconcile.Scope{Repair: reconcile.RepairAll}, func(int, int) {})
	if err != nil || report.Open != 1 || report.Findings[0].State != reconcile.Unknown {
		t.Fatalf("%v, %+v", err, report)
	}
	text, err := json.Marshal(report)
	if err != nil || !strings.Contains(string(text), `"table":"visit_daily","month":"2026-03"`) ||
		!strings.Contains(string(text), "the sinks are busy") {
		t.Errorf("%s, %v", text, err)
	}
}

// A repeated batch may be in a rollup twice: its month is repaired, even if the rollup has too much. A suspect is
// cleared by the comparison of its own table and month alone, of all brands, and only where nothing is left to repair.
func TestSuspectMonthsAreRepaired(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.land(t, 100)
	f.exec(t, "INSERT INTO answer_daily SELECT * FROM answer_daily WHERE toYYYYMM(day) = 202603 LIMIT 1 SETTINGS "+
		"insert_deduplicate = 0")
	f.exec(t, "INSERT INTO visit_daily SELECT * FROM visit_daily WHERE toYYYYMM(day) = 202603 LIMIT 1 SETTINGS "+
		"insert_deduplicate = 0")
	suspect := func(landing string, months ...clickhouse.Month) {
		if err := clickhouse.MarkSuspects(t.Context(), f.conn, landing,
			clickhouse.LogPosition{Topic: landing, Offset: 500 + int64(len(months))}, months); err != nil {
			t.Fatal(err)
		}
	}
	repairSuspects := func() {
		if err := newReconciler(t, f.config(), f.conn, f.db).Suspects(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	wantSuspects := func(want string) {
		t.Helper()
		left, err := clickhouse.Suspects(t.Context(), f.conn)
		got := ""
		for _, s := range left {
			got += fmt.Sprint(s.Landing, " ", s.Month, ", ")
		}
		if err != nil || got != want {
			t.Errorf("suspects %q, %v, want %q", got, err, want)
		}
	}
	suspect("answers", march)
	repairSuspects()
	wantSuspects("")
	if r := f.reconcile(t, reconcile.Scope{}); findings(r) != "visit_daily 2026-03 kept" {
		t.Errorf("found %s", findings(r))
	}

	suspect("answers", march, march+1)
	suspect("visits", march, march+1)
	f.reconcile(t, reconcile.Scope{Owner: rollup.Owner{OrganizationID: clickhouse.UUID{15: 1},
		BrandID: clickhouse.UUID{15: 1}}})
	wantSuspects("answers 2026-03, answers 2026-04, visits 2026-03, visits 2026-04, ")
	f.reconcile(t, reconcile.Scope{From: march, To: march, Landing: "answers", Repair: reconcile.RepairRepeated})
	wantSuspects("answers 2026-04, visits 2026-03, visits 2026-04, ")
	f.reconcile(t, reconcile.Scope{Landing: "visits"})
	wantSuspects("answers 2026-04, visits 2026-03, ")
	repairSuspects()
	wantSuspects("")
	if r := f.reconcile(t, reconcile.Scope{}); len(r.Findings) != 0 {
		t.Errorf("in the end: %s", findings(r))
	}
}

// A suspect month whose landing table has lost a part waits for a person, whether its rollup has more rows or fewer:
// they may be all that is left of that part's. Where the server has the parts again that the broken one was merged
// from, nothing is lost.
func TestWhatOnlyARollupHasIsKept(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.exec(t, "SYSTEM STOP MERGES visits")
	f.landVisits(t, 0, 100)
	f.landVisits(t, 100, 100)
	suspect := func(offset int64) {
		mark := clickhouse.RecordMark{LogPosition: clickhouse.LogPosition{Topic: "visits", Offset: offset},
			Mark: clickhouse.MarkSuspect, Landing: "visits", Month: march}
		if err := clickhouse.MarkRecords(t.Context(), f.conn, []clickhouse.RecordMark{mark}); err != nil {
			t.Fatal(err)
		}
		if err := newReconciler(t, f.config(), f.conn, f.db).Suspects(t.Context()); err != nil {
			t.Error(err)
		}
	}
	lastPart := func() part { // of visits
		all := f.parts(t)
		return all[len(all)-1]
	}
	f.exec(t, "SYSTEM START MERGES visits")
	f.exec(t, "OPTIMIZE TABLE visits PARTITION 202603 FINAL")
	f.breakPart(t, lastPart())
	const lacks = "ALTER TABLE visit_daily DELETE WHERE toYYYYMM(day) = 202603 AND day > '2026-03-06' SETTINGS " +
		"mutations_sync = 1"
	f.exec(t, lacks)
	suspect(100)
	if r := f.reconcile(t, reconcile.Scope{}); len(r.Findings) != 0 {
		t.Fatalf("with the parts that a broken one was merged from: %s", findings(r))
	}

	f.breakPart(t, lastPart())
	for _, change := range []string{"SELECT 1", lacks} {
		f.exec(t, change)
		const visits = "(SELECT sum(visits) FROM visit_daily WHERE toYYYYMM(day) = 202603)"
		before := f.number(t, visits)
		suspect(150)
		for _, repair := range []reconcile.Repairs{reconcile.RepairNothing, reconcile.RepairMissing,
			reconcile.RepairRepeated} {
			if r := f.reconcile(t, reconcile.Scope{Repair: repair}); findings(r) != "visit_daily 2026-03 kept" {
				t.Errorf("%s, repairs %d: %q", change, repair, findings(r))
			}
		}
		if after := f.number(t, visits); after != before {
			t.Errorf("%s: %d visits, there were %d", change, after, before)
		}
	}
	if left, err := clickhouse.Suspects(t.Context(), f.conn); err != nil || len(left) != 1 {
		t.Errorf("suspects %v, %v", left, err)
	}
	if r := f.reconcile(t, reconcile.Scope{From: march, To: march,
		Repair: reconcile.RepairAll}); findings(r) != "visit_daily 2026-03 repaired" {
		t.Errorf("by a person: %s", findings(r))
	}
}

// Rows that were inserted twice, and are counted twice by rollups, are found and taken back from both, also by night.
func TestRowsThatStandTwiceAreTakenBack(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.land(t, 200)
	rows := map[string]int64{}
	for _, table := range []string{"answers", "visits"} {
		rows[table] = f.number(t, "(SELECT count() FROM "+table+")")
		f.exec(t, "INSERT INTO "+table+" SELECT * FROM "+table+
			" WHERE toYYYYMM(day) = 202603 SETTINGS insert_deduplicate = 0")
	}
	f.exec(t, "OPTIMIZE TABLE visits FINAL") // equal rows are side by side in a part
	r := f.reconcile(t, reconcile.Scope{From: march, To: march})
	if findings(r) != "answers 2026-03 differs, visits 2026-03 differs" || r.Findings[0].Surplus == 0 {
		t.Errorf("found %+v", r.Findings)
	}
	visits := reconcile.Scope{From: march, To: march, Landing: "visits", Repair: reconcile.RepairMissing}
	if r := f.reconcile(t, visits); findings(r) != "visits 2026-03 repaired, visit_daily 2026-03 repaired" {
		t.Errorf("by night: %s", findings(r))
	}
	if r := f.reconcile(t, visits); len(r.Findings) != 0 {
		t.Errorf("in the end: %s", findings(r))
	}
	if _, err := clickhouse.DeleteSurplusRows(t.Context(), f.conn, "answers", march); err != nil {
		t.Error(err)
	}
	for table, want := range rows {
		if n := f.number(t, "(SELECT count() FROM "+table+")"); n != want {
			t.Errorf("%d rows in %s, want %d", n, table, want)
		}
	}
}

// A part that the server has set aside as broken is counted.
func TestBrokenPartsAreCounted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.landVisits(t, 0, 100)
	var part, path string
	if err := f.conn.QueryRow(t.Context(), "SELECT any(name) FROM system.parts WHERE database = currentDatabase() "+
		"AND table = 'visits' AND active AND partition_id = '202603'").Scan(&part); err != nil {
		t.Fatal(err)
	}
	f.exec(t, "ALTER TABLE visits DETACH PART '"+part+"'")
	if err := f.conn.QueryRow(t.Context(), "SELECT path FROM system.detached_parts WHERE database = "+
		"currentDatabase()").Scan(&path); err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	r, err := reconcile.New(f.config(), f.db, f.conn, registry, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{0, 1, 1} { // of one that a person has detached nothing is said
		if err := r.BrokenParts(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n, err := testutil.GatherAndCount(registry, "answerscope_clickhouse_broken_parts"); n != want || err != nil {
			t.Errorf("%d tables have broken parts, %v, want %d", n, err, want)
		}
		if want == 0 {
			if err := os.Rename(path, filepath.Join(filepath.Dir(path), "broken-on-start_"+part)); err != nil {
				t.Fatal(err)
			}
		}
	}
}
