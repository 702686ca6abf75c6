package clickhouse_test

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/testkit/warehouse"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// An answer that landed on one shard is found by the lookup of another, whose rows are not seen twice.
func TestALookupSeesEveryShard(t *testing.T) {
	t.Parallel()
	conn, _ := warehouse.Sharded(t)
	if conn.Replicated() {
		t.Error("two shards of one server each are replicated")
	}
	day := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	row := clickhouse.AnswerRow{OrganizationID: clickhouse.UUID{1}, BrandID: clickhouse.UUID{2}, Day: day,
		AnsweredAt: day, Sign: 1, LogTopic: "answers", Platform: "openai"}
	var keys []clickhouse.Key
	for n := range conn.Shards() {
		row.ID, row.LogPartition, row.LogOffset = idAt(day, byte(n)), int32(n), 7
		keys = append(keys, clickhouse.Key{OrganizationID: row.OrganizationID, BrandID: row.BrandID, ID: row.ID})
		for range 2 { // the second is a replay
			if err := clickhouse.Answers.Insert(t.Context(), warehouse.Shard(t, conn, n), "token",
				[]clickhouse.AnswerRow{row}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for n := range conn.Shards() {
		landed, err := clickhouse.LandedAnswers(t.Context(), warehouse.Shard(t, conn, n), keys,
			clickhouse.LogLimit{Topic: "answers", Partition: 5, Offset: 0})
		if err != nil || len(landed) != 2 {
			t.Errorf("shard %d sees %v, %v", n, landed, err)
		}
	}
	march := clickhouse.GroupFilter{Filter: clickhouse.Filter{OrganizationID: row.OrganizationID, BrandID: row.BrandID,
		DateFrom: "2026-03-01", DateTo: "2026-03-31"}}
	entities, err := clickhouse.EntityVisibility.All(t.Context(), conn, march)
	if err != nil || len(entities) != 1 || entities[0].Answers != 2 {
		t.Errorf("%+v, %v; want 2 answers", entities, err)
	}
	for n := range conn.Shards() {
		last, ok, err := clickhouse.LastOffset(t.Context(), warehouse.Shard(t, conn, 0), "answers", int32(n))
		if err != nil || !ok || last != 7 {
			t.Errorf("partition %d has landed up to %d, %t, %v; want 7", n, last, ok, err)
		}
	}
	if err := clickhouse.Answers.Insert(t.Context(), conn, "other", []clickhouse.AnswerRow{row}); err == nil {
		t.Error("rows of facts went to no shard")
	}
}

// idAt is an id whose first 48 bits are a time in Unix milliseconds, by which lookups find it.
func idAt(at time.Time, n byte) (id clickhouse.UUID) {
	binary.BigEndian.PutUint64(id[:], uint64(at.UnixMilli())<<16)
	id[15] = n
	return id
}

// What was deleted goes from every shard, and months expire on every one.
func TestEveryShardIsPurgedAndExpires(t *testing.T) {
	t.Parallel()
	conn, _ := warehouse.Sharded(t)
	gone := clickhouse.DeletedOwner{Organization: clickhouse.UUID{1}, Brand: clickhouse.UUID{2}}
	for n := range conn.Shards() {
		for _, brand := range []clickhouse.UUID{gone.Brand, {3}} {
			day := time.Date(2026, time.Month(3+n), 2, 0, 0, 0, 0, time.UTC)
			row := clickhouse.AnswerRow{OrganizationID: gone.Organization, BrandID: brand, Day: day, AnsweredAt: day,
				ID: clickhouse.UUID{4, byte(n)}, Sign: 1, Platform: "openai"}
			if err := clickhouse.Answers.Insert(t.Context(), warehouse.Shard(t, conn, n), brand.String(),
				[]clickhouse.AnswerRow{row}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := clickhouse.DimensionBrands.Insert(t.Context(), conn, "",
		[]clickhouse.DimensionBrand{{OrganizationID: gone.Organization, ID: gone.Brand, Version: 1}}); err != nil {
		t.Fatal(err)
	}
	found, err := clickhouse.Purge(t.Context(), conn, []clickhouse.DeletedOwner{gone})
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
		if n := number("SELECT count() + 10 * countIf(brand_id = '02000000-0000-0000-0000-000000000000') FROM " +
			table); n != 2 {
			t.Errorf("%s has %d, want 2 of the other brand", table, n)
		}
	}
	if err := clickhouse.Expire(t.Context(), conn, clickhouse.ExpiringLanding("answers"),
		time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	for n := range conn.Shards() {
		var engine string
		if err := warehouse.Shard(t, conn, n).QueryRow(t.Context(),
			"SELECT engine_full FROM system.tables WHERE database = currentDatabase() AND name = "+
				"'answers_local'").Scan(&engine); err != nil || !strings.Contains(engine, "2026-04-01") {
			t.Errorf("shard %d: %s, %v", n, engine, err)
		}
	}
}
