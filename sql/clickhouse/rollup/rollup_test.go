package rollup_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/shopspring/decimal"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/warehouse"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/clickhouse/rollup"
)

// insertBatch inserts a batch of three brands in two months: of answers, some corrected, of visits and of crawls. The
// three feed every rollup; a source restricts it to one of them.
func insertBatch(t *testing.T, conn *clickhouse.Conn, r *rand.Rand, first int64, n int, source string) {
	t.Helper()
	var answers []clickhouse.AnswerRow
	var visits []*clickhouse.VisitRow
	var crawls []clickhouse.CrawlRow
	for offset := first; offset < first+int64(n); offset++ {
		at := warehouse.Day.AddDate(0, r.IntN(2), r.IntN(3))
		owner := clickhouse.UUID{2, byte(r.IntN(3))}
		a := warehouse.Answer(offset, at)
		a.BrandID, a.MentionCount, a.Position, a.VisibilityScore = owner, uint32(r.IntN(3)), uint32(r.IntN(4)),
			uint8(r.IntN(101))
		if r.IntN(5) == 0 {
			a.CardPriceAmounts[0], a.GivenUp, a.Platform = nil, true, "amazon-shopping"
		}
		if offset%7 == 3 {
			a.Finish, a.Provider = "not_shown", "serpapi"
		}
		answers = append(answers, a)
		if r.IntN(4) == 0 {
			before, after := a, a
			before.Sign, after.MentionCount, after.CitationTitles = -1, 7, []string{"B"}
			answers = append(answers, before, after)
		}
		c := warehouse.Crawl(offset, at)
		c.BrandID, c.LogPartition, c.Path, c.Status, c.Verified = owner, int32(r.IntN(2)), fmt.Sprint("/", r.IntN(3)),
			uint16(200+r.IntN(2)), []*bool{nil, new(true), new(false)}[r.IntN(3)]
		crawls = append(crawls, c)
		worth := decimal.New(int64(r.IntN(1e6)), -4)
		visits = append(visits, &clickhouse.VisitRow{
			OrganizationID: warehouse.Organization, BrandID: owner,
			ID:       clickhouse.UUID(event.RunID(event.Identity{Sample: offset, Due: at})),
			LogTopic: "visits", LogPartition: int32(r.IntN(2)), LogOffset: offset, At: at,
			Event:    []string{"view", "goal"}[r.IntN(2)],
			Platform: "chatgpt", Host: "a.example", Path: fmt.Sprint("/", r.IntN(3)), NewSession: r.IntN(2) == 0,
			GoalValue: &worth,
		})
	}
	ctx := t.Context()
	for table, insert := range map[string]func(token string) error{
		"answers": func(token string) error { return clickhouse.Answers.Insert(ctx, conn, token, answers) },
		"visits": func(token string) error {
			return clickhouse.Visits.Insert(ctx, conn, token, warehouse.Pack(visits...))
		},
		"crawls": func(token string) error { return clickhouse.Crawls.Insert(ctx, conn, token, crawls) },
	} {
		if source != "" && source != table {
			continue
		}
		if err := insert(fmt.Sprint(table, first)); err != nil {
			t.Fatal(err)
		}
	}
}

func rollups(t *testing.T, conn *clickhouse.Conn) []*rollup.Rollup {
	t.Helper()
	all, err := rollup.List(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// checksum asks a cache until no merge comes between.
func checksum(t *testing.T, l *rollup.ChecksumCache) rollup.Checksum {
	t.Helper()
	for range 100 {
		checksum, stable, err := l.Checksum(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		if stable {
			return checksum
		}
	}
	t.Fatal("the parts do not come to rest")
	panic("unreachable")
}

// A new view is compared without further code.
func TestRollupsAreTheTargetsOfEveryView(t *testing.T) {
	t.Parallel()
	got := map[string][]string{}
	for _, r := range rollups(t, warehouse.Migrated(t)) {
		got[r.Source+" "+r.Table] = r.Sums()
	}
	want := map[string][]string{
		"answers answer_daily": {"runs", "given_up", "not_shown", "answers", "mention_answers", "citation_answers",
			"inverse_position",
			"mentions", "citations", "visibility", "visibility_named"},
		"answers entity_prompt_daily": {"runs", "given_up", "not_shown", "answers", "mention_answers",
			"citation_answers", "visible_answers", "inverse_position",
			"positions", "mentions", "citations", "visibility", "visibility_named", "positive_answers",
			"neutral_answers",
			"negative_answers"},
		"answers brand_prompt_daily": {"runs", "given_up", "answers", "mention_answers", "citation_answers",
			"inverse_position"},
		"answers citation_daily": {"answers", "citations", "citing_answers", "citing_answers_source",
			"domain_answers", "domain_answers_source"},
		"answers citations":      {"rows"},
		"answers shopping_cards": {"rows"},
		"visits visit_daily":     {"visits", "sessions", "value"},
		"crawls crawl_daily":     {"requests", "verified", "unverified", "bytes"},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("rollups:\n%v, want\n%v", got, want)
	}
}

// representative selects a rollup that sums and one that keeps its rows, for what does not differ by table.
func representative(r *rollup.Rollup) bool {
	return r.Table == "answer_daily" || r.Table == "citations"
}

// However rows are split into parts and merged, a rollup has the checksum of what its view makes of the landing rows,
// and a used cache has that of a new one.
func TestARollupHasTheChecksumOfItsLandingRows(t *testing.T) {
	t.Parallel()
	conn := warehouse.Migrated(t)
	r := rand.New(rand.NewPCG(1, 2))
	second := rollup.Owner{OrganizationID: warehouse.Organization, BrandID: clickhouse.UUID{2, 1}}
	type sides struct{ expected, actual *rollup.ChecksumCache }
	caches := map[string]sides{}
	for batch := range int64(3) {
		insertBatch(t, conn, r, batch*150, 150, "")
		for _, target := range rollups(t, conn) {
			if batch == 1 {
				if err := conn.Exec(t.Context(), "OPTIMIZE TABLE "+target.Table+" FINAL"); err != nil {
					t.Fatal(err)
				}
			}
			months, err := target.Months(t.Context(), conn)
			if err != nil || !slices.Equal(months, []clickhouse.Month{202603, 202604}) {
				t.Fatalf("months of %s: %v, %v", target.Table, months, err)
			}
			for _, owner := range []rollup.Owner{{}, second, {OrganizationID: clickhouse.UUID{9}}} {
				for _, month := range months {
					if owner != (rollup.Owner{}) && month != months[0] {
						continue // an owner has its rows in a month as all have theirs
					}
					if (owner != (rollup.Owner{}) || month != months[0]) && !testkit.All && !representative(target) {
						continue
					}
					name := fmt.Sprint(target.Table, month, owner)
					if batch == 0 {
						caches[name] = sides{target.Expected(conn, month, owner), target.Actual(conn, month, owner)}
					}
					want, have := checksum(t, caches[name].expected), checksum(t, caches[name].actual)
					if d := target.Differences(want, have); d != nil || !want.Equal(have) {
						t.Errorf("batch %d, %s: %+v", batch, name, d)
					}
					if rebuilt := checksum(t, target.Expected(conn, month, owner)); !rebuilt.Equal(want) {
						t.Errorf("batch %d, %s: the used cache has %v, a new one %v", batch, name, want, rebuilt)
					}
					if some := want.Sums[0] != 0; some == (owner.OrganizationID == clickhouse.UUID{9}) {
						t.Errorf("batch %d, %s: %v", batch, name, want.Sums)
					}
				}
			}
		}
	}
}

// Each kind of difference is found, by column and brand, and is gone once the month has been rebuilt; inserts go on
// until the last fill.
func TestARebuiltMonthIsWhatItsViewMakes(t *testing.T) {
	t.Parallel()
	spoils := map[string]string{
		"missing": "DELETE IN PARTITION ID '202603' WHERE brand_id = '02010000-0000-0000-0000-000000000000'",
		"all":     "DELETE IN PARTITION ID '202603' WHERE 1",
		"changed": "UPDATE platform = 'other' IN PARTITION ID '202603' WHERE brand_id = " +
			"'02010000-0000-0000-0000-000000000000'",
	}
	few := map[string][]string{ // in `make test`; pipeline/reconcile rebuilds the others too
		"answer_daily": {"missing", "doubled", "orphaned"}, "citations": {"all", "changed"}, "crawl_daily": {"missing"},
		"visit_daily": {"doubled"},
	}
	conn := warehouse.Migrated(t)
	r := rand.New(rand.NewPCG(3, 4))
	offset := int64(0)
	insert := func(source string) { insertBatch(t, conn, r, offset, 80, source); offset += 80 }
	insert("")
	for _, target := range rollups(t, conn) {
		for _, spoil := range []string{"missing", "all", "changed", "doubled", "orphaned"} {
			inAll := representative(target) || spoil == "missing" || spoil == "doubled"
			if !inAll || !testkit.All && !slices.Contains(few[target.Table], spoil) {
				continue
			}
			var statement string
			switch {
			case spoil == "doubled":
				statement = "INSERT INTO " + target.Table + " SELECT * FROM " + target.Table +
					" WHERE brand_id = '02010000-0000-0000-0000-000000000000' AND day = '2026-03-02' LIMIT 1 " +
					"SETTINGS insert_deduplicate = 0"
			case spoil == "orphaned":
				statement = "INSERT INTO " + target.Table + " SELECT * REPLACE (toDate('2026-01-05') AS day) FROM " +
					target.Table + " WHERE brand_id = '02010000-0000-0000-0000-000000000000' LIMIT 1"
			default:
				statement = "ALTER TABLE " + target.Table + " " + spoils[spoil] + " SETTINGS mutations_sync = 1"
				if spoil == "changed" && target.Sums()[0] != "rows" {
					continue // a key cannot be changed in place
				}
			}
			t.Run(target.Table+" "+spoil, func(t *testing.T) {
				if err := conn.Exec(t.Context(), statement); err != nil {
					t.Fatal(err)
				}
				rebuilt(t, conn, target, spoil, func() { insert(target.Source) })
			})
		}
	}
	for _, target := range rollups(t, conn) {
		for _, month := range []clickhouse.Month{202601, 202603, 202604} {
			want, have := checksum(t, target.Expected(conn, month, rollup.Owner{})),
				checksum(t, target.Actual(conn, month, rollup.Owner{}))
			if d := target.Differences(want, have); d != nil {
				t.Errorf("in the end %s of %s: %+v", month, target.Table, d)
			}
		}
	}
}

func rebuilt(t *testing.T, conn *clickhouse.Conn, target *rollup.Rollup, spoil string, next func()) {
	month := clickhouse.Month(202603)
	if spoil == "orphaned" {
		month = 202601
	}
	expected, actual := target.Expected(conn, month, rollup.Owner{}), target.Actual(conn, month, rollup.Owner{})
	if d := target.Differences(checksum(t, expected), checksum(t, actual)); d == nil {
		t.Error("no difference is found")
	}
	brands, err := target.Brands(t.Context(), conn, month, rollup.Owner{}, 100)
	if err != nil || (len(brands) != 1 || brands[0].BrandID != clickhouse.UUID{2, 1}) && spoil != "all" {
		t.Errorf("brands that differ: %v, %v", brands, err)
	}
	rebuilt, err := target.Rebuild(t.Context(), conn, month)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := rebuilt.Fill(t.Context(), 2); err != nil {
			t.Fatal(err)
		}
		next()
	}
	if n, err := rebuilt.MissingRows(t.Context()); err != nil || (n == 0) != (spoil == "orphaned") {
		t.Errorf("MissingRows() = %d, %v", n, err)
	}
	if err := rebuilt.Fill(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	if want, have := checksum(t, expected), checksum(t, rebuilt.Checksums()); !want.Equal(have) {
		t.Errorf("rebuilt: %+v", target.Differences(want, have))
	}
	if err := rebuilt.Replace(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want, have := checksum(t, expected), checksum(t, actual); !want.Equal(have) {
		t.Errorf("replaced: %+v", target.Differences(want, have))
	}
	if err := rebuilt.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// A batch that is inserted again after its months were rebuilt is recognized by its token, in the rollup too.
func TestTokensOutliveARebuild(t *testing.T) {
	t.Parallel()
	conn := warehouse.Migrated(t)
	batch := []clickhouse.AnswerRow{warehouse.Answer(0, warehouse.Day), warehouse.Answer(1, warehouse.Day),
		warehouse.Answer(2, warehouse.Day)}
	insert := func() {
		if err := clickhouse.Answers.Insert(t.Context(), conn, "answers/0@0-2/1", batch); err != nil {
			t.Fatal(err)
		}
	}
	insert()
	for _, target := range rollups(t, conn) {
		if target.Source != "answers" {
			continue
		}
		rebuilt, err := target.Rebuild(t.Context(), conn, 202603)
		if err != nil {
			t.Fatal(err)
		}
		if err := rebuilt.Fill(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		if err := rebuilt.Replace(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := rebuilt.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := conn.Exec(t.Context(), "OPTIMIZE TABLE "+target.Table+" FINAL"); err != nil {
			t.Fatal(err)
		}
	}
	insert()
	for table, n := range warehouse.Counts(t, conn) {
		if n != 3 {
			t.Errorf("%s: %d, want 3", table, n)
		}
	}
}
