package schema

import (
	"context"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A release adds some files to this one's.
type release map[string]string

func (r release) Open(name string) (fs.File, error) {
	if text, ok := r[name]; ok {
		return fstest.MapFS{name: {Data: []byte(text)}}.Open(name)
	}
	return clickhouse.Files.Open(name)
}

// ReadDir is what golang-migrate lists migrations by.
func (r release) ReadDir(dir string) ([]fs.DirEntry, error) {
	entries, err := clickhouse.Files.ReadDir(dir)
	for name, text := range r {
		if path.Dir(name) == dir {
			added, statErr := fs.Stat(fstest.MapFS{name: {Data: []byte(text)}}, name)
			if statErr != nil {
				return nil, statErr
			}
			entries = append(entries, fs.FileInfoToDirEntry(added))
		}
	}
	return entries, err
}

// Glob is what Migrate lists a folder by.
func (r release) Glob(pattern string) ([]string, error) {
	names, err := fs.Glob(clickhouse.Files, pattern)
	for name := range r {
		if ok, _ := path.Match(pattern, name); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, err
}

func (r release) migrate(t *testing.T, c clickhouse.Config) {
	t.Helper()
	files = r
	defer func() { files = clickhouse.Files }()
	if err := Migrate(t.Context(), c, func(string) {}); err != nil {
		t.Fatal(err)
	}
	if pending, err := Pending(t.Context(), c); err != nil || len(pending) > 0 {
		t.Errorf("pending %v, %v after migration", pending, err)
	}
}

// The server writes functions into a view when it is made: an upgrade that edited
// only a function left every view with the old one, beside files that used the new.
func TestAnEditedFunctionReachesTheViewsThatUseIt(t *testing.T) {
	c := clickhouse.DefaultConfig()
	c.DSN = testkit.ClickHouse(t)
	conn, err := clickhouse.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	// Of the functions, which databases share, only one of the test's own changes.
	const question = "-- edited_view: what the function makes of a number.\nSELECT edited_outer({x:UInt8}) AS y"
	old := release{
		"function/edited_inner.sql": "-- edited_inner: as it was.\n(x) -> x + 1",
		"function/edited_outer.sql": "-- edited_outer: calls another.\n(x) -> edited_inner(x)",
		"query/edited_other.sql":    "-- edited_other: is removed later.\nSELECT {x:UInt8} AS y",
		"query/edited_view.sql":     question,
	}
	defer func() {
		for _, name := range []string{"edited_inner", "edited_outer"} {
			if err := conn.Exec(context.WithoutCancel(t.Context()), "DROP FUNCTION IF EXISTS "+name); err != nil {
				t.Error(err)
			}
		}
	}()
	edited := maps.Clone(old)
	edited["function/edited_inner.sql"] = "-- edited_inner: as it is.\n(x) -> x + 10"
	for _, step := range []struct {
		files release
		want  uint16
	}{{old, 2}, {edited, 11}} {
		step.files.migrate(t, c)
		for _, ask := range []string{question, "SELECT y FROM edited_view(x = {x:UInt8})"} {
			var got uint16
			if err := conn.QueryRow(t.Context(), ask, driver.Named("x", 1)).Scan(&got); err != nil || got != step.want {
				t.Errorf("%s: %d, %v; want %d", ask, got, err, step.want)
			}
		}
	}
	delete(edited, "query/edited_other.sql")
	edited.migrate(t, c)
	if err := conn.Exec(t.Context(), "SELECT y FROM edited_other(x = 1)"); err == nil {
		t.Error("a view outlives its file")
	}
}

// visitsOf counts the visits of a month in visit_daily, and those of path /x.
func visitsOf(t *testing.T, conn *clickhouse.Conn, month int) (all, ofPath int64) {
	t.Helper()
	const question = "SELECT toInt64(sum(visits)), toInt64(sumIf(visits, path = '/x')) FROM visit_daily WHERE " +
		"toYYYYMM(day) = {month:UInt32}"
	if err := conn.QueryRow(t.Context(), question, driver.Named("month", month)).Scan(&all, &ofPath); err != nil {
		t.Fatal(err)
	}
	return all, ofPath
}

// A migration that changes a view rebuilds what the view filled before, but not a month whose landing rows expire, and
// the rebuilt table knows the tokens of its batches still.
func TestAMigrationThatChangesAViewRebuildsItsTarget(t *testing.T) {
	c := clickhouse.DefaultConfig()
	c.DSN = testkit.ClickHouse(t)
	release{}.migrate(t, c)
	conn, err := clickhouse.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	insert := func() {
		t.Helper()
		var packer clickhouse.VisitPacker
		var rows []clickhouse.PackedVisit
		for n := range 6 {
			at := time.Date(2026, time.Month(2+n%3), 2, 9, 0, 0, 0, time.UTC)
			rows = append(rows, packer.Pack(&clickhouse.VisitRow{
				OrganizationID: clickhouse.UUID{1}, BrandID: clickhouse.UUID{2}, ID: clickhouse.UUID{byte(n)},
				LogTopic: "visits", LogOffset: int64(n),
				At: at, Event: "view", Platform: "chatgpt", Path: "/y",
			}))
		}
		if err := clickhouse.Visits.Insert(t.Context(), conn, "visits/0@0-5/1", rows); err != nil {
			t.Fatal(err)
		}
	}
	insert()
	if err := clickhouse.Expire(t.Context(), conn, clickhouse.ExpiringLanding("visits"),
		time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	view := mustRead("migrate/0008_visit_daily.up.sql")
	view = strings.Replace(view[strings.Index(view, "CREATE MATERIALIZED VIEW"):], "    path,\n",
		"    '/x' AS path,\n", 1)
	next := release{"migrate/9999_paths.up.sql": "DROP VIEW IF EXISTS visit_daily_view;\n\n" + view +
		"\nALTER TABLE visit_daily MODIFY COMMENT 'Visits by day." + rebuildMark + "';\n"}
	files = next
	pending, err := Pending(t.Context(), c)
	if err != nil || !Rebuilds(pending) || Rebuilds([]string{"0001_answers", "visit_traffic"}) ||
		!Rebuilds([]string{"shard 1: rebuild visit_daily_local"}) {
		t.Errorf("pending %q, %v: rebuilds %v", pending, err, Rebuilds(pending))
	}
	next.migrate(t, c)
	insert()
	for month, want := range map[int][2]int64{202602: {2, 0}, 202603: {2, 2}, 202604: {2, 2}} {
		if all, ofPath := visitsOf(t, conn, month); all != want[0] || ofPath != want[1] {
			t.Errorf("%d: %d visits, %d of the new path; want %v", month, all, ofPath, want)
		}
	}
	var comment string
	if err := conn.QueryRow(t.Context(), "SELECT comment FROM system.tables WHERE database = currentDatabase() AND "+
		"name = 'visit_daily'").Scan(&comment); err != nil || comment != "Visits by day." {
		t.Errorf("comment %q, %v", comment, err)
	}
}
