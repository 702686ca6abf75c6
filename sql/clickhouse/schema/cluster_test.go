package schema_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit/warehouse"
	"github.com/answerscope/answerscope/sql/clickhouse/schema"
)

func TestAClusterIsBroughtUpOnce(t *testing.T) {
	t.Parallel()
	_, c := warehouse.Sharded(t)
	pending, err := schema.Pending(t.Context(), c)
	if err != nil || len(pending) > 0 {
		t.Errorf("pending %v, %v after migration", pending, err)
	}
	var steps []string
	if err := schema.Migrate(t.Context(), c, func(step string) { steps = append(steps, step) }); err != nil || len(steps) > 0 {
		t.Errorf("the second run did %v, %v", steps, err)
	}
}

// A shard that was put in front of the others, in the addresses and in remote_servers alike, would be given what was
// planned for them: the first server has the number of the second here.
func TestAServerStaysTheShardThatItWasMadeAs(t *testing.T) {
	t.Parallel()
	conn, c := warehouse.Sharded(t)
	comment := func(text string) {
		t.Helper()
		if err := warehouse.Shard(t, conn, 0).Exec(t.Context(), "ALTER TABLE schema_migrations MODIFY COMMENT '"+text+"'"); err != nil {
			t.Fatal(err)
		}
	}
	comment("") // a migration that ended before it came so far
	if pending, err := schema.Pending(t.Context(), c); err != nil || !slices.Equal(pending, []string{"shard 0: number"}) {
		t.Errorf("pending %q, %v", pending, err)
	}
	var steps []string
	if err := schema.Migrate(t.Context(), c, func(step string) { steps = append(steps, step) }); err != nil || !slices.Equal(steps, []string{"shard 0: number"}) {
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
	if err := warehouse.Shard(t, conn, 1).QueryRow(t.Context(), "SELECT comment FROM system.tables WHERE database = currentDatabase() AND name = 'schema_migrations'").Scan(&second); err != nil || second != "of shard 2" {
		t.Errorf("the second shard is %q, %v", second, err)
	}
}
