package schema_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/warehouse"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/clickhouse/schema"
)

// A cluster takes seconds to bring up: these tests share it, one after the other.
func TestACluster(t *testing.T) { //nolint:tparallel // its parts share a cluster
	t.Parallel()
	c := clickhouse.DefaultConfig()
	c.Cluster, c.Shards = testkit.Cluster, strings.Join(testkit.ClickHouseShards(t), ";")
	if err := schema.Migrate(t.Context(), c, func(string) {}); err != nil { // those of warehouse.Sharded are copies
		t.Fatal(err)
	}
	conn := store.OpenWarehouse(t, c)
	t.Run("is brought up once", func(t *testing.T) { testAClusterIsBroughtUpOnce(t, c) })
	t.Run("keeps the numbers of its servers", func(t *testing.T) {
		testAServerStaysTheShardThatItWasMadeAs(t, conn,
			c)
	})
}

func testAClusterIsBroughtUpOnce(t *testing.T, c clickhouse.Config) {
	pending, err := schema.Pending(t.Context(), c)
	if err != nil || len(pending) > 0 {
		t.Errorf("pending %v, %v after migration", pending, err)
	}
	var steps []string
	if err := schema.Migrate(t.Context(), c, func(step string) { steps = append(steps, step) }); err != nil ||
		len(steps) > 0 {
		t.Errorf("the second run did %v, %v", steps, err)
	}
	servers := c.Servers()
	off, err := url.Parse(servers[0])
	if err != nil {
		t.Fatal(err)
	}
	off.Host = testkit.SwitchedOff(t)
	c.Shards = off.String() + "," + servers[0] + ";" + servers[1]
	if _, err := schema.Pending(t.Context(), c); err != nil {
		t.Errorf("with a replica switched off: %v", err)
	}
}

// A shard that was put in front of the others, in the addresses and in remote_servers alike, would be given what was
// planned for them: the first server has the number of the second here.
func testAServerStaysTheShardThatItWasMadeAs(t *testing.T, conn *clickhouse.Conn, c clickhouse.Config) {
	comment := func(text string) {
		t.Helper()
		if err := warehouse.Shard(t, conn, 0).Exec(t.Context(),
			"ALTER TABLE schema_migrations MODIFY COMMENT '"+text+"'"); err != nil {
			t.Fatal(err)
		}
	}
	comment("") // a migration that ended before it came so far
	if pending, err := schema.Pending(t.Context(), c); err != nil || len(pending) != 1 ||
		!strings.HasPrefix(pending[0], "shard 0: new server ") {
		t.Errorf("pending %q, %v", pending, err)
	}
	var steps []string
	if err := schema.Migrate(t.Context(), c, func(step string) { steps = append(steps, step) }); err != nil ||
		!slices.Equal(steps, []string{"shard 0: number"}) {
		t.Errorf("migrated %q, %v", steps, err)
	}
	comment("of shard 2")
	want := `made as one "of shard 2" and is given as one "of shard 1"`
	if _, err := schema.Pending(t.Context(), c); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a start said %v", err)
	}
	if err := schema.Migrate(t.Context(), c, func(string) {}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a migration said %v", err)
	}
	var second string
	if err := warehouse.Shard(t, conn, 1).QueryRow(t.Context(),
		"SELECT comment FROM system.tables WHERE database = currentDatabase() AND name = "+
			"'schema_migrations'").Scan(&second); err != nil || second != "of shard 2" {
		t.Errorf("the second shard is %q, %v", second, err)
	}
}

// Months whose answers had expired before a release added brand_prompt_daily are filled from entity_prompt_daily, once,
// also if the migration was killed when it had filled half of one.
func TestAnAddedRollupHasExpiredMonths(t *testing.T) {
	t.Parallel()
	layouts := map[string]clickhouse.Config{"one server": store.CompleteWarehouse(t)}
	if testkit.All {
		_, layouts["two shards"] = warehouse.Sharded(t)
	}
	for name, c := range layouts {
		t.Run(name, func(t *testing.T) {
			conn := store.OpenWarehouse(t, c)
			sums := func(columns string) (text string) {
				t.Helper()
				err := conn.QueryRow(t.Context(), "SELECT toString(arraySort(groupArray(row))) FROM (SELECT "+
					"("+columns+") AS row FROM brand_prompt_daily GROUP BY brand_id, day, prompt_id)").Scan(&text)
				if err != nil {
					t.Fatal(err)
				}
				return text
			}
			offset := int64(0)
			err := conn.EachShard(func(shard *clickhouse.Conn) error {
				var rows []clickhouse.AnswerRow
				for month := range 3 {
					for prompt := range 2 {
						a := warehouse.Answer(offset, warehouse.Day.AddDate(0, month-1, 0))
						a.BrandID, a.PromptID, a.ServedModel, a.Position = clickhouse.UUID{2, byte(offset / 6)},
							clickhouse.UUID{byte(1 + prompt)}, "m-1", uint32(3+offset)
						a.GivenUp = prompt == 1 && month == 0
						rows = append(rows, a)
						offset++
					}
				}
				return clickhouse.Answers.Insert(t.Context(), shard, fmt.Sprint("answers", offset), rows)
			})
			if err == nil {
				err = clickhouse.Expire(t.Context(), conn, clickhouse.ExpiringLanding("answers"),
					time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
			}
			if err != nil {
				t.Fatal(err)
			}
			const columns = "brand_id, day, prompt_id, sum(runs), sum(given_up), sum(answers), " +
				"sum(mention_answers), sum(citation_answers), sum(inverse_position)"
			want := sums(columns)
			err = conn.EachShard(func(shard *clickhouse.Conn) error {
				table := clickhouse.QuoteName(conn.Local("brand_prompt_daily"))
				for _, statement := range []string{
					"ALTER TABLE " + table + " DELETE WHERE toYYYYMM(day) = 202602 AND prompt_id = " +
						"toUUID('01000000-0000-0000-0000-000000000000') SETTINGS mutations_sync = 1",
					"ALTER TABLE " + table + " MODIFY COMMENT 'Sums. [rebuild]'",
					"INSERT INTO schema_migrations (version, dirty, sequence) SELECT 17, 1, max(sequence) + 1 FROM " +
						"schema_migrations",
				} {
					if err := shard.Exec(t.Context(), statement); err != nil {
						return err
					}
				}
				return nil
			})
			if err == nil {
				err = schema.Migrate(t.Context(), c, func(string) {})
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := sums(columns); got != want {
				t.Errorf("rows are\n%s, want\n%s", got, want)
			}
			served := sums("toYYYYMM(day), groupUniqArray(served_model)")
			if strings.Count(served, "(202602,[''])") != int(offset/3) ||
				strings.Count(served, "['m-1']") != int(offset/3*2) {
				t.Errorf("served models: %s", served)
			}
		})
	}
}
