package clickhouse_test

import (
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/shopspring/decimal"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

var (
	organization = clickhouse.UUID{1}
	brand        = clickhouse.UUID{2}
	competitor   = clickhouse.UUID{3}
)

// answer is a row that feeds every view: named, cited, with a competitor, a
// citation and a card.
func answer(offset int64, at time.Time) clickhouse.AnswerRow {
	price := decimal.RequireFromString("12.5000")
	rating, reviews, branded := 4.5, int64(7), true
	return clickhouse.AnswerRow{
		OrganizationID: organization, BrandID: brand, Day: at.Truncate(24 * time.Hour),
		ID:   clickhouse.UUID(event.RunID(event.Identity{BrandID: uuid.UUID(brand), Sample: offset, Due: at})),
		Sign: 1, Revision: 1, ExtractVersion: 1, LogTopic: "answers", LogPartition: 0, LogOffset: offset,
		AnsweredAt: at, Platform: "openai", Model: "m", Sample: 1, PromptID: clickhouse.UUID{4}, IsBranded: &branded, Branded: true,
		MentionCount: 2, Position: 3, CitationCount: 1, VisibilityScore: 50, Sentiment: "neutral",
		CompetitorIDs: []clickhouse.UUID{competitor}, CompetitorNames: []string{"Rival"}, CompetitorMentionCounts: []uint32{1},
		CompetitorPositions: []uint32{1}, CompetitorCitationCounts: []uint32{0}, CompetitorVisibilityScores: []uint16{17}, CompetitorSentiments: []string{"unknown"},
		CitationURLs: []string{"https://example.com/a"}, CitationTitles: []string{"A"}, CitationCited: []bool{true}, CitationHosts: []string{"example.com"},
		CitationDomains: []string{"example.com"}, CitationListedTypes: []string{"editorial"}, CitationOwned: []bool{true}, CitationCompetitorIDs: make([]clickhouse.UUID, 1),
		CardPositions: []uint32{1}, CardTitles: []string{"Thing"}, CardBrands: []string{""}, CardPriceAmounts: []*decimal.Decimal{&price}, CardPriceCurrencies: []string{"EUR"},
		CardImageURLs: []string{""}, CardMerchantURLs: []string{""}, CardMerchantDomains: []string{""}, CardRatings: []*float64{&rating}, CardReviewCounts: []*int64{&reviews},
		CardMatchedIDs: make([]clickhouse.UUID, 1), CardRoles: []string{"other"},
	}
}

var day = time.Date(2026, 3, 2, 9, 5, 0, 0, time.UTC)

// rows of each table that answers feeds, by what one answer brings to it.
var fed = map[string]string{
	"answers":             "SELECT count() FROM answers",
	"answer_daily":        "SELECT toUInt64(sum(answers)) FROM answer_daily",
	"entity_prompt_daily": "SELECT toUInt64(sum(answers)) FROM entity_prompt_daily",
	"of competitors":      "SELECT toUInt64(sum(mention_answers)) FROM entity_prompt_daily WHERE entity_id != brand_id",
	"citations":           "SELECT count() FROM citations",
	"citation_daily":      "SELECT toUInt64(sum(citations)) FROM citation_daily",
	"shopping_cards":      "SELECT uniqExact(id) FROM shopping_cards",
}

func counts(t *testing.T, conn *clickhouse.Conn) map[string]uint64 {
	t.Helper()
	got := map[string]uint64{}
	for table, question := range fed {
		var n uint64
		if err := conn.QueryRow(t.Context(), question).Scan(&n); err != nil {
			t.Fatal(table, err)
		}
		got[table] = n
	}
	return got
}

// A batch of three answers in two months, sent three times with its token, and
// another batch of one: 4 in every table, whichever it is.
func TestInsertWithATokenIsTakenOnceEverywhere(t *testing.T) {
	conn := migrated(t)
	batch := []clickhouse.AnswerRow{answer(0, day), answer(1, day.AddDate(0, 1, 0)), answer(2, day)}
	for range 3 {
		if err := clickhouse.Answers.Insert(t.Context(), conn, "answers/0@0-2/1", batch); err != nil {
			t.Fatal(err)
		}
	}
	if err := clickhouse.Answers.Insert(t.Context(), conn, "answers/0@3-3/1", []clickhouse.AnswerRow{answer(3, day)}); err != nil {
		t.Fatal(err)
	}
	for table, n := range counts(t, conn) {
		if n != 4 {
			t.Errorf("%s: %d, want 4", table, n)
		}
	}
	last, ok, err := clickhouse.LogPosition(t.Context(), conn, "answers", 0)
	if err != nil || !ok || last != 3 {
		t.Errorf("LogPosition() = %d, %v, %v; want 3", last, ok, err)
	}
	if _, ok, err := clickhouse.LogPosition(t.Context(), conn, "answers", 1); err != nil || ok {
		t.Errorf("LogPosition() of a partition without rows = %v, %v", ok, err)
	}
}

// The insert of a batch may end in the server when the landing table is written
// and some view targets are, others not. The same token again adds what is missing.
func TestInsertAfterAHalfInsertAddsOnlyWhatIsMissing(t *testing.T) {
	conn := migrated(t)
	mixed := 0
	landed := uint64(0)
	// In which order a server feeds its views is its own affair, and another in
	// every database. A view below a target breaks when that target is written, so
	// of one below each some break late and some early.
	for _, target := range []string{"answers", "answer_daily", "entity_prompt_daily", "citations", "citation_daily", "shopping_cards"} {
		breakView := "CREATE MATERIALIZED VIEW breaking TO log_progress AS SELECT '' AS log_topic, 0 AS log_partition, toInt64(throwIf(brand_id = brand_id)) AS last_offset FROM " + target
		if err := conn.Exec(t.Context(), breakView); err != nil {
			t.Fatal(err)
		}
		token := "answers/0 broken below " + target
		batch := []clickhouse.AnswerRow{answer(int64(landed), day), answer(int64(landed+1), day)}
		if err := clickhouse.Answers.Insert(t.Context(), conn, token, batch); err == nil {
			t.Fatal("the insert into a breaking view passed")
		}
		written := 0
		half := counts(t, conn)
		for table, n := range half {
			if n == landed+2 {
				written++
			} else if n != landed {
				t.Errorf("broken below %s, %s: %d, want %d or %d", target, table, n, landed, landed+2)
			}
		}
		if half["answers"] != landed+2 {
			t.Errorf("broken below %s, answers: %d, want %d", target, half["answers"], landed+2)
		}
		if 1 < written && written < len(half) {
			mixed++
		}
		if err := conn.Exec(t.Context(), "DROP VIEW breaking SYNC"); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := clickhouse.Answers.Insert(t.Context(), conn, token, batch); err != nil {
				t.Fatal(err)
			}
		}
		landed += 2
		for table, n := range counts(t, conn) {
			if n != landed {
				t.Errorf("broken below %s and repeated, %s: %d, want %d", target, table, n, landed)
			}
		}
	}
	if mixed == 0 {
		t.Error("no insert left some targets written and others not")
	}
}

// Rows move it, and who says so after dead letters, which do not: they come before the
// rows of their batch, and a consumer whose offsets the broker forgot goes on behind it.
func TestTheLogPosition(t *testing.T) {
	conn := migrated(t)
	position := func(partition int32, want int64) {
		t.Helper()
		last, ok, err := clickhouse.LogPosition(t.Context(), conn, "answers", partition)
		if err != nil || ok != (want >= 0) || ok && last != want {
			t.Errorf("LogPosition() of partition %d = %d, %v, %v; want %d", partition, last, ok, err, want)
		}
	}
	position(0, -1)
	letters := []clickhouse.DeadLetter{{LogTopic: "answers", LogOffset: 2, AppendedAt: day, Reason: "malformed"}, {LogTopic: "answers", LogOffset: 1, AppendedAt: day, Reason: "malformed"}}
	for range 2 {
		if err := clickhouse.DeadLetters.Insert(t.Context(), conn, "answers/0@0-2/1/letters", letters); err != nil {
			t.Fatal(err)
		}
	}
	position(0, -1)
	if err := clickhouse.Answers.Insert(t.Context(), conn, "answers/0@0-2/1", []clickhouse.AnswerRow{answer(0, day)}); err != nil {
		t.Fatal(err)
	}
	position(0, 0)
	for _, offset := range []int64{2, 2, 1} {
		if err := clickhouse.MoveLogPosition(t.Context(), conn, clickhouse.RecordPlace{Topic: "answers", Offset: offset}); err != nil {
			t.Fatal(err)
		}
	}
	position(0, 2)
	position(1, -1)
	var kept uint64
	if err := conn.QueryRow(t.Context(), "SELECT count() FROM deadletters").Scan(&kept); err != nil || kept != 2 {
		t.Errorf("%d dead letters, %v; want 2", kept, err)
	}
}

// The largest cost that the law of records lets pass is kept to its last digit.
func TestTheLargestCostIsKept(t *testing.T) {
	conn := migrated(t)
	row := answer(0, day)
	cost := decimal.RequireFromString("999999999999.999999")
	row.CostUSD = cost
	if err := clickhouse.Answers.Insert(t.Context(), conn, "a", []clickhouse.AnswerRow{row}); err != nil {
		t.Fatal(err)
	}
	var got decimal.Decimal
	if err := conn.QueryRow(t.Context(), "SELECT cost_usd FROM answers").Scan(&got); err != nil || !got.Equal(cost) {
		t.Errorf("cost %s, %v; want %s", got, err, cost)
	}
}

func TestLandedAnswersSeesOnlyWhatIsBelow(t *testing.T) {
	conn := migrated(t)
	rows := []clickhouse.AnswerRow{answer(0, day), answer(1, day), answer(5, day)}
	other := answer(9, day)
	other.LogPartition = 1
	unknown := answer(100, day)
	if err := clickhouse.Answers.Insert(t.Context(), conn, "a", append(rows, other)); err != nil {
		t.Fatal(err)
	}
	var keys []clickhouse.AnswerKey
	for _, r := range append(rows, other, unknown) {
		keys = append(keys, clickhouse.AnswerKey{OrganizationID: organization, BrandID: brand, ID: r.ID})
	}
	due := func(id clickhouse.UUID) time.Time { return event.IDTime(uuid.UUID(id)) }
	landed, err := clickhouse.LandedAnswers(t.Context(), conn, keys, due, clickhouse.Below{Topic: "answers", Partition: 0, Offset: 5})
	if err != nil {
		t.Fatal(err)
	}
	// offsets 0 and 1 lie below 5; 5 does not; 9 is on another partition.
	for i, want := range []bool{true, true, false, true, false} {
		if got, ok := landed[keys[i]]; ok != want || ok && got != (clickhouse.Reading{Revision: 1, ExtractVersion: 1}) {
			t.Errorf("key %d: %v %v, want %v", i, got, ok, want)
		}
	}
}

func TestEntityVisibility(t *testing.T) {
	conn := migrated(t)
	if err := clickhouse.Answers.Insert(t.Context(), conn, "a", []clickhouse.AnswerRow{answer(0, day), answer(1, day)}); err != nil {
		t.Fatal(err)
	}
	f := clickhouse.Filter{OrganizationID: organization, BrandID: brand, DateFrom: "2026-03-01", DateTo: "2026-03-31"}
	for name, branded := range map[string][]bool{"all": nil, "branded": {true}} {
		f.Branded = branded
		rows, err := clickhouse.EntityVisibility.All(t.Context(), conn, f)
		if err != nil || len(rows) != 1 {
			t.Fatalf("%s: %v, %v", name, rows, err)
		}
		// 100 × (0.6 + 0.25 + 0.15/3) = 90
		if r := rows[0]; !r.IsBrand || r.Answers != 2 || r.Score == nil || *r.Score != 90 || *r.PositionFactor != 0.3333 || r.IntervalLow != nil {
			t.Errorf("%s: %+v", name, r)
		}
	}
	f.Branded = []bool{false}
	rows, err := clickhouse.EntityVisibility.All(t.Context(), conn, f)
	if err != nil || len(rows) != 1 || rows[0].Visibility != (clickhouse.Visibility{}) {
		t.Errorf("not branded: %+v, %v", rows, err)
	}
}
