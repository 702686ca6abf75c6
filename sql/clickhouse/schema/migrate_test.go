package schema

import (
	"context"
	"embed"
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

// Glob is what Migrate lists a folder by.
func (r release) Glob(pattern string) ([]string, error) {
	names, err := fs.Glob(clickhouse.Files, pattern)
	for name := range r {
		if ok, _ := path.Match(pattern, name); ok {
			names = append(names, name)
		}
	}
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
		"query/edited_caller.sql":   "-- edited_caller: calls another view.\nSELECT y FROM edited_view(x = {x:UInt8})",
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
		for _, ask := range []string{question, "SELECT y FROM edited_view(x = {x:UInt8})", "SELECT y FROM edited_caller(x = {x:UInt8})"} {
			var got uint16
			if err := conn.QueryRow(t.Context(), ask, driver.Named("x", 1)).Scan(&got); err != nil || got != step.want {
				t.Errorf("%s: %d, %v; want %d", ask, got, err, step.want)
			}
		}
	}
	delete(edited, "query/edited_caller.sql")
	edited.migrate(t, c)
	if err := conn.Exec(t.Context(), "SELECT y FROM edited_caller(x = 1)"); err == nil {
		t.Error("a view outlives its file")
	}
}

// until is this release with no migration after one, and with no questions yet.
type until struct {
	embed.FS
	last uint
}

func (u until) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := u.FS.ReadDir(name)
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return versionOf(e.Name()) > u.last }), err
}

func (u until) Glob(pattern string) ([]string, error) {
	if path.Dir(pattern) != "migrate" {
		return nil, nil
	}
	names, err := fs.Glob(u.FS, pattern)
	return slices.DeleteFunc(names, func(name string) bool { return versionOf(path.Base(name)) > u.last }), err
}

// A table that a migration adds knows the answers that landed before it.
func TestATableThatComesLaterIsFilled(t *testing.T) {
	c := clickhouse.DefaultConfig()
	c.DSN = testkit.ClickHouse(t)
	conn, err := clickhouse.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const firstRelease = 9
	files = until{clickhouse.Files, firstRelease}
	err = Migrate(t.Context(), c, func(string) {})
	files = clickhouse.Files
	if err != nil {
		t.Fatal(err)
	}
	day := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	answer := clickhouse.AnswerRow{
		OrganizationID: clickhouse.UUID{1}, BrandID: clickhouse.UUID{2}, Day: day, AnsweredAt: day, ID: clickhouse.UUID{3}, Sign: 1, LogTopic: "answers", Platform: "openai", CitationCount: 1,
		CitationURLs: []string{"https://a.example/", "https://b.example/"}, CitationTitles: []string{"", "B"}, CitationCited: []bool{true, true},
		CitationHosts: []string{"a.example", "b.example"}, CitationDomains: []string{"a.example", "b.example"},
		CitationListedTypes: []string{"editorial", "forum"}, CitationOwned: []bool{true, false}, CitationCompetitorIDs: make([]clickhouse.UUID, 2),
	}
	if err := clickhouse.Answers.Insert(t.Context(), conn, "before", []clickhouse.AnswerRow{answer}); err != nil {
		t.Fatal(err)
	}
	release{}.migrate(t, c)
	answer.ID = clickhouse.UUID{4}
	if err := clickhouse.Answers.Insert(t.Context(), conn, "after", []clickhouse.AnswerRow{answer}); err != nil {
		t.Fatal(err)
	}
	march := clickhouse.Filter{OrganizationID: clickhouse.UUID{1}, BrandID: clickhouse.UUID{2}, DateFrom: "2026-03-01", DateTo: "2026-03-31"}
	entities, err := clickhouse.EntityVisibility.All(t.Context(), conn, march)
	if err != nil || entities[0].Answers != 2 || entities[0].CitationAnswers != 2 || entities[0].PromptCount != 1 {
		t.Errorf("%+v, %v", entities, err)
	}
	rows, err := clickhouse.CitationSources.All(t.Context(), conn, clickhouse.CitationFilter{Filter: march, Source: clickhouse.AllSources, Limit: 1})
	if err != nil || rows[0].Answers != 2 || rows[0].Citations != 4 || rows[0].CitingAnswers != 2 || rows[0].Domains != 2 {
		t.Errorf("%+v, %v", rows, err)
	}
}

// What a migration fills in is what its view makes of the same answers: a correction, a competitor and a given-up run
// among them.
func TestATableIsFilledAsItsViewWouldFillIt(t *testing.T) {
	c := clickhouse.DefaultConfig()
	c.DSN = testkit.ClickHouse(t)
	conn, err := clickhouse.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const firstRelease = 9
	files = until{clickhouse.Files, firstRelease}
	err = Migrate(t.Context(), c, func(string) {})
	files = clickhouse.Files
	if err != nil {
		t.Fatal(err)
	}
	before, after := clickhouse.UUID{2}, clickhouse.UUID{3}
	if err := clickhouse.Answers.Insert(t.Context(), conn, "before", someAnswers(before)); err != nil {
		t.Fatal(err)
	}
	release{}.migrate(t, c)
	if err := clickhouse.Answers.Insert(t.Context(), conn, "after", someAnswers(after)); err != nil {
		t.Fatal(err)
	}
	for table, columns := range map[string]string{
		"citation_daily":      "* EXCEPT (brand_id)",
		"entity_prompt_daily": "* EXCEPT (brand_id, entity_id), entity_id = brand_id",
	} {
		rows := func(brand clickhouse.UUID) (all []string) {
			question := "SELECT arraySort(groupArray(toString(tuple(" + columns + ")))) FROM " + table + " FINAL WHERE brand_id = {brand:UUID}"
			if err := conn.QueryRow(t.Context(), question, driver.Named("brand", brand.String())).Scan(&all); err != nil {
				t.Fatal(err)
			}
			return all
		}
		if filled, made := rows(before), rows(after); len(made) < 3 || !slices.Equal(filled, made) {
			t.Errorf("%s: filled in are\n%q\nthe view makes\n%q", table, filled, made)
		}
	}
}

// someAnswers are those to two prompts about a brand: two alike, one that was read again, one of a shopping platform
// and a run that was given up.
func someAnswers(brand clickhouse.UUID) []clickhouse.AnswerRow {
	day := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	answer := clickhouse.AnswerRow{
		OrganizationID: clickhouse.UUID{1}, BrandID: brand, Day: day, AnsweredAt: day, ID: clickhouse.UUID{3}, Sign: 1, LogTopic: "answers", Platform: "openai", PromptID: clickhouse.UUID{7},
		MentionCount: 3, Position: 2, CitationCount: 1, VisibilityScore: 60,
		CompetitorIDs: []clickhouse.UUID{{11}, {12}}, CompetitorNames: []string{"Glow", "Beam"}, CompetitorMentionCounts: []uint32{2, 0}, CompetitorPositions: []uint32{1, 0},
		CompetitorCitationCounts: []uint32{0, 0}, CompetitorVisibilityScores: []uint16{27, 0}, CompetitorSentiments: []string{"", ""},
		CitationURLs: []string{"https://a.example/", "https://b.example/"}, CitationTitles: []string{"", "B"}, CitationCited: []bool{true, false},
		CitationHosts: []string{"a.example", "b.example"}, CitationDomains: []string{"a.example", "b.example"},
		CitationListedTypes: []string{"editorial", "forum"}, CitationOwned: []bool{true, false}, CitationCompetitorIDs: make([]clickhouse.UUID, 2),
	}
	alike, takenBack, again, shown, lost := answer, answer, answer, answer, clickhouse.AnswerRow{
		OrganizationID: clickhouse.UUID{1}, BrandID: brand, Day: day, AnsweredAt: day, ID: clickhouse.UUID{6}, Sign: 1, LogTopic: "answers", Platform: "openai", PromptID: clickhouse.UUID{8}, GivenUp: true,
	}
	alike.ID, shown.ID = clickhouse.UUID{4}, clickhouse.UUID{5}
	shown.Platform = "chatgpt-shopping"
	takenBack.Sign = -1
	again.Revision, again.MentionCount, again.Position, again.VisibilityScore = 2, 0, 0, 15
	again.CitationOwned = []bool{false, false}
	return []clickhouse.AnswerRow{answer, alike, takenBack, again, shown, lost}
}

// A consumer died between its insert and its commit, and the next one is of a release that has more tables: it replays
// the batch, of which the old tables have everything and the new ones nothing. Filled in, it was there twice.
func TestABatchThatIsOpenAtAnUpgradeCountsOnce(t *testing.T) {
	c := clickhouse.DefaultConfig()
	c.DSN = testkit.ClickHouse(t)
	conn, err := clickhouse.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const firstRelease = 9
	files = until{clickhouse.Files, firstRelease}
	err = Migrate(t.Context(), c, func(string) {})
	files = clickhouse.Files
	if err != nil {
		t.Fatal(err)
	}
	committed, planned := someAnswers(clickhouse.UUID{2}), someAnswers(clickhouse.UUID{3})
	elsewhere := someAnswers(clickhouse.UUID{4}) // in another partition, of which nothing is open
	for i := range committed {
		committed[i].LogOffset, planned[i].LogOffset, elsewhere[i].LogOffset, elsewhere[i].LogPartition = int64(i), int64(100+i), int64(200+i), 1
	}
	for token, rows := range map[string][]clickhouse.AnswerRow{"committed": committed, "planned": planned, "elsewhere": elsewhere} {
		if err := clickhouse.Answers.Insert(t.Context(), conn, token, rows); err != nil {
			t.Fatal(err)
		}
	}
	if pending, err := Pending(t.Context(), c); err != nil || !Upgrades(pending) || Upgrades(append(pending, "0001_answers")) {
		t.Errorf("upgrades %v of %v, %v", Upgrades(pending), pending, err)
	}
	if err := Migrate(t.Context(), c, func(string) {}, clickhouse.Below{Topic: "answers", Partition: 0, Offset: 100}); err != nil {
		t.Fatal(err)
	}
	if err := clickhouse.Answers.Insert(t.Context(), conn, "planned", planned); err != nil {
		t.Fatal(err)
	}
	for _, brand := range []clickhouse.UUID{{2}, {3}, {4}} {
		for _, question := range []string{
			"SELECT toInt64(sum(answers)) FROM answer_daily", "SELECT toInt64(sum(answers)) FROM citation_daily", "SELECT toInt64(sum(citations)) FROM citation_daily",
			"SELECT toInt64(sum(answers)) FROM entity_prompt_daily", "SELECT toInt64(sum(mention_answers)) FROM entity_prompt_daily WHERE entity_id = '0b000000-0000-0000-0000-000000000000'",
		} {
			var got int64
			where := " WHERE "
			if strings.Contains(question, where) {
				where = " AND "
			}
			if err := conn.QueryRow(t.Context(), question+where+"brand_id = {brand:UUID}", driver.Named("brand", brand.String())).Scan(&got); err != nil || got != 2 {
				t.Errorf("%s of brand %v: %d, %v; want 2", question, brand, got, err)
			}
		}
	}
	if err := conn.Exec(t.Context(), "SELECT * FROM open_batches"); err == nil {
		t.Error("the migration's own table is still there")
	}
}
