package schema_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/clickhouse/schema"
)

// A shard that began on one server has its rows in replicated tables after it got a second one, whose rows are the same
// from then on. It is stopped in the middle of each kind of step, in make test of one.
func TestAShardThatBeganAloneGetsAReplica(t *testing.T) {
	t.Parallel()
	pair, database, dsns := testkit.Replicas(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	first := pair.Servers[0]
	both := first.Config.Cluster[0]
	list := func(servers []string) {
		t.Helper()
		first.Kill()
		first.Config.Cluster = [][]string{servers}
		must(first.Again(t.Context()))
	}
	list(both[:1])
	defer list(both)
	c := clickhouse.DefaultConfig()
	c.Cluster, c.Shards = testkit.Cluster, dsns[0]
	must(schema.Migrate(t.Context(), c, func(string) {}))
	insertAnswers(t, c, 0)
	list(both)
	// a run killed between two statements
	must(first.Exec(t.Context(), "DETACH TABLE "+database+".shopping_cards_local SYNC"))

	c.Shards = strings.Join(dsns, ",")
	locked := 0
	lock := func(shard int) (func() error, error) {
		locked++
		return func() error { locked--; return nil }, nil
	}
	steps := []string{ // in their order: none comes back
		"DETACH TABLE IF EXISTS citations_local", "SYSTEM RESTORE REPLICA citations_local",
		"ALTER TABLE citations_local",
	}
	for _, step := range steps[testkit.Draws(1, 0):testkit.Draws(2, len(steps))] {
		ctx, stop := context.WithCancel(t.Context())
		err := schema.Replicate(ctx, c, lock, func(name string) {
			if strings.HasPrefix(name, "shard 0: "+step) {
				stop()
			}
		})
		stop()
		if !errors.Is(err, context.Canceled) || locked != 0 {
			t.Errorf("stopped at %s: %v, %d locks", step, err, locked)
		}
	}
	must(schema.Replicate(t.Context(), c, lock, func(string) {
		if locked != 1 {
			t.Error("a step without the lock of the sinks")
		}
	}))
	must(schema.Migrate(t.Context(), c, func(string) {}))
	insertAnswers(t, c, lostAnswers)
	wantWhole(t, c, 2*lostAnswers)
}
