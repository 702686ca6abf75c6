package clickhouse_test

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/testkit/warehouse"
)

// SQL spells a path as Go does, so that rows of older releases, which have paths as they were sent, are of the same
// pages as present ones: in the table of spellings, and in random texts of what spellings are made of.
func TestPagesOfSQLAreThoseOfGo(t *testing.T) {
	t.Parallel()
	table, err := os.ReadFile("../../ingest/event/testdata/paths.tsv")
	if err != nil {
		t.Fatal(err)
	}
	paths := strings.FieldsFunc(string(table), func(r rune) bool { return r == '\t' || r == '\n' })
	pieces := strings.Fields(`% %2 %2f %2F %2e %7e %41 %c3 %A9 é 日 \ \x \xC3 \x2F ` +
		`/ / // . .. /../ a b { } | " < ^ + , ~ - = ; &`)
	random := rand.New(rand.NewPCG(7, 41))
	for range 3000 {
		var path strings.Builder
		path.WriteByte('/')
		for range random.IntN(12) {
			path.WriteString(pieces[random.IntN(len(pieces))])
		}
		paths = append(paths, path.String())
	}
	conn := warehouse.Migrated(t)
	const question = "SELECT path, answerscope_path(path), answerscope_page(concat('www.a.example', path)), " +
		"answerscope_page(concat('https://a.example', path, '?/b=%7e/')), " +
		"answerscope_cited_page(concat('https://www.a.example', answerscope_path(path), '?/b=%7e/')) " +
		"FROM (SELECT arrayJoin({paths:Array(String)}) AS path)"
	rows, err := conn.Query(t.Context(), question, clickhouse.Named("paths", paths))
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for rows.Next() {
		var path, got, page, ofURL, cited string
		if err := rows.Scan(&path, &got, &page, &ofURL, &cited); err != nil {
			t.Fatal(err)
		}
		want := event.Path(path)
		if wantPage := "a.example" + strings.TrimRight(want, "/"); !strings.HasPrefix(path, "#") &&
			(got != want || page != wantPage || ofURL != wantPage || cited != wantPage) {
			t.Errorf("%q is %q, %q, %q and %q, want %q and %q", path, got, page, ofURL, cited, want, wantPage)
		}
		compared++
	}
	if err := rows.Err(); err != nil || compared != len(paths) {
		t.Errorf("%d of %d paths, %v", compared, len(paths), err)
	}
}
