package clickhouse_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/shopspring/decimal"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/testkit/warehouse"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

func keyOf(v *clickhouse.VisitRow) clickhouse.Key {
	return clickhouse.Key{OrganizationID: v.OrganizationID, BrandID: v.BrandID, ID: v.ID}
}

func made(id clickhouse.UUID) time.Time { return event.IDTime(uuid.UUID(id)) }

// A batch of three visits in two months, one of them a goal, sent three times
// with its token, is there once in every table.
func TestVisitsWithATokenAreTakenOnceEverywhere(t *testing.T) {
	t.Parallel()
	conn := warehouse.Migrated(t)
	value := decimal.RequireFromString("-999999999999.999999")
	goal := warehouse.Visit(2, warehouse.Day)
	goal.Event, goal.NewSession, goal.GoalName, goal.GoalValue, goal.GoalCurrency = "goal", false, "signup", &value,
		"EUR"
	batch := []*clickhouse.VisitRow{warehouse.Visit(0, warehouse.Day),
		warehouse.Visit(1, warehouse.Day.AddDate(0, 1, 0)), goal}
	for range 3 {
		if err := clickhouse.Visits.Insert(t.Context(), conn, "visits/0@0-2/1", warehouse.Pack(batch...)); err != nil {
			t.Fatal(err)
		}
	}
	var rows, visits, sessions uint64
	var sum decimal.Decimal
	if err := conn.QueryRow(t.Context(), "SELECT count() FROM visits").Scan(&rows); err != nil || rows != 3 {
		t.Errorf("%d rows, %v; want 3", rows, err)
	}
	question := "SELECT toUInt64(sum(visits)), toUInt64(sum(sessions)), sumIf(value, goal = 'signup' AND currency = " +
		"'EUR' AND event = 'goal') FROM visit_daily"
	if err := conn.QueryRow(t.Context(), question).Scan(&visits, &sessions, &sum); err != nil || visits != 3 ||
		sessions != 2 || !sum.Equal(value) {
		t.Errorf("%d visits, %d sessions, value %s, %v; want 3, 2, %s", visits, sessions, sum, err, value)
	}
	last, ok, err := clickhouse.LastOffset(t.Context(), conn, "visits", 0)
	if err != nil || !ok || last != 2 {
		t.Errorf("LastOffset() = %d, %v, %v; want 2", last, ok, err)
	}
}

// Every column holds what its field held.
func TestAVisitIsReadBackAsItWas(t *testing.T) {
	t.Parallel()
	conn := warehouse.Migrated(t)
	value := decimal.RequireFromString("12.345678")
	want := warehouse.Visit(3, warehouse.Day)
	want.Event, want.GoalName, want.GoalValue, want.GoalCurrency, want.LogPartition = "goal", "signup", &value, "EUR", 4
	if err := clickhouse.Visits.Insert(t.Context(), conn, "a", warehouse.Pack(want)); err != nil {
		t.Fatal(err)
	}
	var got clickhouse.VisitRow
	var date time.Time
	err := conn.QueryRow(t.Context(), "SELECT * FROM visits").Scan(&got.OrganizationID, &got.BrandID, &date, &got.ID,
		&got.LogTopic, &got.LogPartition, &got.LogOffset,
		&got.At, &got.Event, &got.Platform, &got.PlatformBy, &got.Host, &got.Path, &got.ReferrerHost, &got.Country,
		&got.CountryBy, &got.Language, &got.Screen, &got.TimeZone,
		&got.Session, &got.NewSession, &got.Visitor, &got.GoalName, &got.GoalValue, &got.GoalCurrency, &got.Simulated)
	if err != nil {
		t.Fatal(err)
	}
	if !date.Equal(warehouse.Day.Truncate(24*time.Hour)) || got.GoalValue == nil || !got.GoalValue.Equal(value) {
		t.Errorf("day %s, value %v", date, got.GoalValue)
	}
	got.GoalValue = want.GoalValue
	if got != *want {
		t.Errorf("got  %+v\nwant %+v", got, *want)
	}
}

// Texts of a page's length stand beside short ones and none, and a packer goes on after them.
func TestPackedVisitsKeepTheirTexts(t *testing.T) {
	t.Parallel()
	conn := warehouse.Migrated(t)
	var rows []*clickhouse.VisitRow
	for n := range 300 {
		row := warehouse.Visit(int64(n), warehouse.Day)
		row.Path, row.Session, row.Language = "/"+strings.Repeat("ä", n*40), strings.Repeat("s", n%3), ""
		rows = append(rows, row)
	}
	if err := clickhouse.Visits.Insert(t.Context(), conn, "a", warehouse.Pack(rows...)); err != nil {
		t.Fatal(err)
	}
	found, err := conn.Query(t.Context(), "SELECT log_offset, path, session, language, host, log_topic FROM visits "+
		"ORDER BY log_offset")
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	n := 0
	for ; found.Next(); n++ {
		var offset int64
		var path, session, language, host, topic string
		if err := found.Scan(&offset, &path, &session, &language, &host, &topic); err != nil {
			t.Fatal(err)
		}
		if want := rows[n]; offset != want.LogOffset || path != want.Path || session != want.Session ||
			language != "" || host != want.Host || topic != want.LogTopic {
			t.Errorf("row %d: offset %d, path of %d bytes, session %q, language %q, host %q, topic %q", n, offset,
				len(path), session, language, host, topic)
		}
	}
	if n != len(rows) || found.Err() != nil {
		t.Errorf("%d rows, %v; want %d", n, found.Err(), len(rows))
	}
}

// What is sent in many parts is one block to the server: one unmerged part of a table, under one token.
func TestManyVisitsAreOneBlock(t *testing.T) {
	t.Parallel()
	conn := warehouse.Migrated(t)
	var rows []*clickhouse.VisitRow
	for n := range 10_000 {
		rows = append(rows, warehouse.Visit(int64(n), warehouse.Day))
	}
	for range 2 {
		if err := clickhouse.Visits.Insert(t.Context(), conn, "visits/0@0-9999/1",
			warehouse.Pack(rows...)); err != nil {
			t.Fatal(err)
		}
	}
	// A part that is summed up as it is inserted counts as merged once.
	for table, want := range map[string]string{"visits": "10000 in 1 of level 0", "visit_daily": "1 in 1 of level 1",
		"log_progress": "1 in 1 of level 1"} {
		var got string
		question := "SELECT concat(toString(sum(rows)), ' in ', toString(count()), ' of level ', " +
			"toString(max(level))) FROM system.parts WHERE active AND database = currentDatabase() AND table = '" +
			table + "'"
		if err := conn.QueryRow(t.Context(), question).Scan(&got); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", table, got, err, want)
		}
	}
}

// An insert that cannot go on leaves nothing of what was sent before.
func TestAnInsertThatBreaksOffLeavesNothing(t *testing.T) {
	t.Parallel()
	conn := warehouse.Migrated(t)
	var rows []clickhouse.AnswerRow
	for n := range 5_000 {
		rows = append(rows, warehouse.Answer(int64(n), warehouse.Day))
	}
	rows[4_999].CostUSD = decimal.New(1, 30)
	if err := clickhouse.Answers.Insert(t.Context(), conn, "a", rows); err == nil {
		t.Fatal("a number beyond its column went in")
	}
	for table, n := range warehouse.Counts(t, conn) {
		if n != 0 {
			t.Errorf("%s: %d rows", table, n)
		}
	}
	rows[4_999].CostUSD = decimal.Decimal{}
	if err := clickhouse.Answers.Insert(t.Context(), conn, "a", rows); err != nil {
		t.Fatal(err)
	}
	for table, n := range warehouse.Counts(t, conn) {
		if n != 5_000 {
			t.Errorf("%s: %d rows, want 5000", table, n)
		}
	}
}

func TestLandedVisitsSeesOnlyWhatIsBelow(t *testing.T) {
	t.Parallel()
	conn := warehouse.Migrated(t)
	if _, ok, err := clickhouse.NewestVisit(t.Context(), conn); ok || err != nil {
		t.Errorf("NewestVisit() without any: %v, %v", ok, err)
	}
	rows := []*clickhouse.VisitRow{warehouse.Visit(0, warehouse.Day), warehouse.Visit(1, warehouse.Day),
		warehouse.Visit(5, warehouse.Day)}
	other := warehouse.Visit(9, warehouse.Day)
	other.LogPartition = 1
	// at is up to a day from the time in the id
	late, early := warehouse.Visit(2, warehouse.Day), warehouse.Visit(3, warehouse.Day.AddDate(0, -2, 0))
	late.At, early.At = warehouse.Day.Add(24*time.Hour), early.At.Add(-24*time.Hour)
	unknown := warehouse.Visit(100, warehouse.Day)
	rows = append(rows, other, late, early)
	if err := clickhouse.Visits.Insert(t.Context(), conn, "a", warehouse.Pack(rows...)); err != nil {
		t.Fatal(err)
	}
	var keys []clickhouse.Key
	for _, r := range append(rows, unknown) {
		keys = append(keys, keyOf(r))
	}
	landed, err := clickhouse.Visits.Landed(t.Context(), conn, keys,
		clickhouse.LogLimit{Topic: "visits", Partition: 0, Offset: 5})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{true, true, false, true, true, true, false} {
		if landed[keys[i]] != want {
			t.Errorf("key %d: %v, want %v", i, landed[keys[i]], want)
		}
	}
	last, err := clickhouse.LastVisits(t.Context(), conn, 4,
		clickhouse.LogLimit{Topic: "visits", Partition: 0, Offset: 5})
	if want := []clickhouse.Key{keyOf(rows[1]), keyOf(late), keyOf(early)}; err != nil || !slices.Equal(last, want) {
		t.Errorf("LastVisits() = %v, %v; want %v", last, err, want)
	}
	at, ok, err := clickhouse.NewestVisit(t.Context(), conn)
	if err != nil || !ok || !at.Equal(warehouse.Day) {
		t.Errorf("NewestVisit() = %s, %v, %v; want %s", at, ok, err, warehouse.Day)
	}
}

// A batch is found by the key of the table, and not by reading it.
func TestVisitsAreLookedUpByKey(t *testing.T) {
	t.Parallel()
	conn := warehouse.Migrated(t)
	const each = 20_000
	rows := make([]*clickhouse.VisitRow, 0, 5*each)
	for n := range 5 * each {
		rows = append(rows, warehouse.Visit(int64(n), warehouse.Day.Add(time.Duration(n)*time.Second)))
	}
	if err := clickhouse.Visits.Insert(t.Context(), conn, "a", warehouse.Pack(rows...)); err != nil {
		t.Fatal(err)
	}
	var keys []clickhouse.Key
	for _, r := range rows[:each] {
		keys = append(keys, keyOf(r))
	}
	landed, err := clickhouse.Visits.Landed(t.Context(), conn, keys[:2000], clickhouse.LogLimit{})
	if err != nil || len(landed) != 2000 {
		t.Fatalf("found %d, %v; want 2000", len(landed), err)
	}
	if err := conn.Exec(t.Context(), "SYSTEM FLUSH LOGS"); err != nil {
		t.Fatal(err)
	}
	var read uint64
	question := "SELECT read_rows FROM audit.query_log WHERE type = 'QueryFinish' AND log_comment = 'landed_visits' " +
		"AND current_database = currentDatabase()"
	if err := conn.QueryRow(t.Context(), question).Scan(&read); err != nil || read > 3*8192 {
		t.Errorf("2000 visits were found by reading %d rows, %v", read, err)
	}
}

// Views are counted apart from goals, of which every currency has a row, more than ten too, and exact sums.
func TestAITraffic(t *testing.T) {
	t.Parallel()
	conn := warehouse.Migrated(t)
	unknown, again, goal := warehouse.Visit(2, warehouse.Day), warehouse.Visit(3, warehouse.Day),
		warehouse.Visit(4, warehouse.Day)
	unknown.Country, unknown.Path = "", "/b"
	again.Host, again.NewSession = "shop.lumen.example", false
	goal.Event, goal.NewSession, goal.GoalName, goal.Path, goal.Platform, goal.Country = "goal", false, "signup", "/c",
		"claude", "US"
	rows := []*clickhouse.VisitRow{warehouse.Visit(0, warehouse.Day), warehouse.Visit(1, warehouse.Day), unknown,
		again, goal}
	value := decimal.RequireFromString("123456789012.345678")
	currencies := []string{"AUD", "BRL", "CAD", "CHF", "CNY", "DKK", "EUR", "GBP", "INR", "JPY", "SEK", "USD"}
	for n, currency := range append(currencies, currencies...) {
		sold := warehouse.Visit(int64(5+n), warehouse.Day)
		sold.Event, sold.NewSession, sold.GoalName, sold.GoalValue, sold.GoalCurrency = "goal", false, "order", &value,
			currency
		rows = append(rows, sold)
	}
	if err := clickhouse.Visits.Insert(t.Context(), conn, "a", warehouse.Pack(rows...)); err != nil {
		t.Fatal(err)
	}
	got, err := clickhouse.AITraffic.All(t.Context(), conn,
		clickhouse.TrafficFilter{OrganizationID: warehouse.Organization, BrandID: warehouse.Brand,
			DateFrom: "2026-03-02", DateTo: "2026-03-02"})
	want := []string{"country DE  3 2 0", "country   1 1 0"}
	for _, currency := range currencies {
		want = append(want, "goal order "+currency+" 2 0 246913578024.691356")
	}
	want = append(want, "goal signup  1 0 0", "landing /a  3 2 0", "landing /b  1 1 0",
		"page /a  3 2 0", "page /b  1 1 0", "platform chatgpt  4 3 0", "total   4 3 0")
	var texts []string
	for _, r := range got {
		texts = append(texts, fmt.Sprintln(r.Facet, r.Name, r.Currency, r.Visits, r.Sessions, r.Value))
	}
	if text := strings.Join(texts, ""); err != nil || text != strings.Join(want, "\n")+"\n" {
		t.Errorf("%v\ngot\n%s\nwant\n%s", err, text, strings.Join(want, "\n"))
	}
}

// A page may send any number of goals and paths of any name: the answer stays short.
func TestTrafficOfManyNamesIsShort(t *testing.T) {
	t.Parallel()
	conn := warehouse.Migrated(t)
	var rows []*clickhouse.VisitRow
	for n := range int64(300) {
		seen, goal := warehouse.Visit(2*n, warehouse.Day), warehouse.Visit(2*n+1, warehouse.Day)
		seen.Path = fmt.Sprintf("/%03d", n)
		goal.Event, goal.NewSession, goal.GoalName, goal.GoalCurrency = "goal", false, fmt.Sprintf("goal %03d", n),
			[]string{"", "EUR"}[n%2]
		rows = append(rows, seen, goal)
	}
	if err := clickhouse.Visits.Insert(t.Context(), conn, "a", warehouse.Pack(rows...)); err != nil {
		t.Fatal(err)
	}
	got, err := clickhouse.AITraffic.All(t.Context(), conn,
		clickhouse.TrafficFilter{OrganizationID: warehouse.Organization, BrandID: warehouse.Brand,
			DateFrom: "2026-03-02", DateTo: "2026-03-02"})
	counts, last := map[string]int{}, map[string]string{}
	for _, r := range got {
		counts[r.Facet]++
		last[r.Facet] = r.Name
	}
	if err != nil || counts["goal"] != 100 || last["goal"] != "goal 099" || counts["page"] != 10 ||
		last["page"] != "/009" || counts["landing"] != 10 || last["landing"] != "/009" {
		t.Errorf("%v, rows by facet %v, the last of each %v; want the first 100 goals, 10 pages and 10 landing "+
			"pages by name", err, counts, last)
	}
}
