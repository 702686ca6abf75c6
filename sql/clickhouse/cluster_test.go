package clickhouse_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// sharded is a fresh database on two shards with our schema.
func sharded(t *testing.T) (*clickhouse.Conn, clickhouse.Config) {
	t.Helper()
	c := clickhouse.DefaultConfig()
	c.Cluster = testkit.Cluster
	c.Shards = strings.Join(testkit.ClickHouseShards(t), ";")
	if err := clickhouse.Migrate(t.Context(), c, func(string) {}); err != nil {
		t.Fatal(err)
	}
	return open(t, c), c
}

func shard(t *testing.T, conn *clickhouse.Conn, n int) *clickhouse.Conn {
	t.Helper()
	one, err := conn.Shard(n)
	if err != nil {
		t.Fatal(err)
	}
	return one
}

func TestAClusterIsBroughtUpOnce(t *testing.T) {
	_, c := sharded(t)
	pending, err := clickhouse.Pending(t.Context(), c)
	if err != nil || len(pending) > 0 {
		t.Errorf("pending %v, %v after migration", pending, err)
	}
	var steps []string
	if err := clickhouse.Migrate(t.Context(), c, func(step string) { steps = append(steps, step) }); err != nil || len(steps) > 0 {
		t.Errorf("the second run did %v, %v", steps, err)
	}
}

// A shard that was put in front of the others, in the addresses and in remote_servers alike, would be given what was planned for
// them: the first server has the number of the second here.
func TestAServerStaysTheShardThatItWasMadeAs(t *testing.T) {
	conn, c := sharded(t)
	comment := func(text string) {
		t.Helper()
		if err := shard(t, conn, 0).Exec(t.Context(), "ALTER TABLE schema_migrations MODIFY COMMENT '"+text+"'"); err != nil {
			t.Fatal(err)
		}
	}
	comment("") // a migration that ended before it came so far
	if pending, err := clickhouse.Pending(t.Context(), c); err != nil || !slices.Equal(pending, []string{"shard 0: number"}) {
		t.Errorf("pending %q, %v", pending, err)
	}
	var steps []string
	if err := clickhouse.Migrate(t.Context(), c, func(step string) { steps = append(steps, step) }); err != nil || !slices.Equal(steps, []string{"shard 0: number"}) {
		t.Errorf("migrated %q, %v", steps, err)
	}
	comment("of shard 2")
	want := `made as one "of shard 2" and is given as one "of shard 1"`
	if _, err := clickhouse.Pending(t.Context(), c); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a start said %v", err)
	}
	if err := clickhouse.Migrate(t.Context(), c, func(string) {}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a migration said %v", err)
	}
	var second string
	if err := shard(t, conn, 1).QueryRow(t.Context(), "SELECT comment FROM system.tables WHERE database = currentDatabase() AND name = 'schema_migrations'").Scan(&second); err != nil || second != "of shard 2" {
		t.Errorf("the second shard is %q, %v", second, err)
	}
}

// An answer that landed on one shard is found by the lookup of another, whose rows are not seen twice.
func TestALookupSeesEveryShard(t *testing.T) {
	conn, _ := sharded(t)
	day := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	row := clickhouse.AnswerRow{OrganizationID: clickhouse.UUID{1}, BrandID: clickhouse.UUID{2}, Day: day, AnsweredAt: day, ID: clickhouse.UUID{3}, Sign: 1, LogTopic: "answers", Platform: "openai"}
	for n := range conn.Shards() {
		row.ID, row.LogPartition, row.LogOffset = clickhouse.UUID{3, byte(n)}, int32(n), 7
		for range 2 { // the second is a replay
			if err := clickhouse.Answers.Insert(t.Context(), shard(t, conn, n), "token", []clickhouse.AnswerRow{row}); err != nil {
				t.Fatal(err)
			}
		}
	}
	keys := []clickhouse.AnswerKey{{OrganizationID: row.OrganizationID, BrandID: row.BrandID, ID: clickhouse.UUID{3, 0}}, {OrganizationID: row.OrganizationID, BrandID: row.BrandID, ID: clickhouse.UUID{3, 1}}}
	for n := range conn.Shards() {
		landed, err := clickhouse.LandedAnswers(t.Context(), shard(t, conn, n), keys, func(clickhouse.UUID) time.Time { return day }, clickhouse.Below{Topic: "answers", Partition: 5, Offset: 0})
		if err != nil || len(landed) != 2 {
			t.Errorf("shard %d sees %v, %v", n, landed, err)
		}
	}
	march := clickhouse.Filter{OrganizationID: row.OrganizationID, BrandID: row.BrandID, DateFrom: "2026-03-01", DateTo: "2026-03-31"}
	entities, err := clickhouse.EntityVisibility.All(t.Context(), conn, march)
	if err != nil || len(entities) != 1 || entities[0].Answers != 2 {
		t.Errorf("%+v, %v; want 2 answers", entities, err)
	}
	for n := range conn.Shards() {
		last, ok, err := clickhouse.LogPosition(t.Context(), shard(t, conn, 0), "answers", int32(n))
		if err != nil || !ok || last != 7 {
			t.Errorf("partition %d has landed up to %d, %t, %v; want 7", n, last, ok, err)
		}
	}
	if err := clickhouse.Answers.Insert(t.Context(), conn, "other", []clickhouse.AnswerRow{row}); err == nil {
		t.Error("rows of facts went to no shard")
	}
}

// What was deleted goes from every shard, and months expire on every one.
func TestEveryShardIsPurgedAndExpires(t *testing.T) {
	conn, _ := sharded(t)
	gone := clickhouse.Deleted{Organization: clickhouse.UUID{1}, Brand: clickhouse.UUID{2}}
	for n := range conn.Shards() {
		for _, brand := range []clickhouse.UUID{gone.Brand, {3}} {
			day := time.Date(2026, time.Month(3+n), 2, 0, 0, 0, 0, time.UTC)
			row := clickhouse.AnswerRow{OrganizationID: gone.Organization, BrandID: brand, Day: day, AnsweredAt: day, ID: clickhouse.UUID{4, byte(n)}, Sign: 1, Platform: "openai"}
			if err := clickhouse.Answers.Insert(t.Context(), shard(t, conn, n), brand.String(), []clickhouse.AnswerRow{row}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := clickhouse.DimensionBrands.Insert(t.Context(), conn, "", []clickhouse.DimensionBrand{{OrganizationID: gone.Organization, ID: gone.Brand, Version: 1}}); err != nil {
		t.Fatal(err)
	}
	found, err := clickhouse.Purge(t.Context(), conn, []clickhouse.Deleted{gone})
	if err != nil || found["answers_local"] != 2 || found["answer_daily_local"] != 2 || found["dimension_brands"] != 2 {
		t.Errorf("purged %v, %v", found, err)
	}
	number := func(question string) (n uint64) {
		if err := conn.QueryRow(t.Context(), question).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, table := range []string{"answers", "answer_daily", "entity_prompt_daily"} {
		if n := number("SELECT count() + 10 * countIf(brand_id = '02000000-0000-0000-0000-000000000000') FROM " + table); n != 2 {
			t.Errorf("%s has %d, want 2 of the other brand", table, n)
		}
	}
	if err := clickhouse.Expire(t.Context(), conn, clickhouse.ExpiringAnswers, time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	for n := range conn.Shards() {
		var engine string
		if err := shard(t, conn, n).QueryRow(t.Context(), "SELECT engine_full FROM system.tables WHERE database = currentDatabase() AND name = 'answers_local'").Scan(&engine); err != nil || !strings.Contains(engine, "2026-04-01") {
			t.Errorf("shard %d: %s, %v", n, engine, err)
		}
	}
}
