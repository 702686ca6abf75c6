//go:build all

package schema_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/clickhouse/schema"
)

// migrate is stopped after each of its steps that remain done, and after each a query sees all rows or fails.
func TestAReplicaIsFilledInAnyNumberOfRuns(t *testing.T) {
	_, c := lostDisk(t)
	runs := 0
	for {
		steps := 0
		ctx, stop := context.WithCancel(t.Context())
		err := schema.Migrate(ctx, c, func(step string) {
			if strings.Contains(step, "rows of ") { // repeated in every run
				return
			}
			if steps++; steps > 1 {
				stop()
			}
		})
		stop()
		if err == nil {
			break
		}
		if runs++; steps < 2 || !errors.Is(err, context.Canceled) {
			t.Fatalf("run %d did %d steps, %v", runs, steps, err)
		}
		for _, dsn := range c.ShardServers()[0] {
			if n, err := answersAt(t, c, dsn); err == nil && n != lostAnswers {
				t.Fatalf("after run %d a query at %s sees %d answers", runs, clickhouse.HostOf(dsn), n)
			}
		}
	}
	t.Logf("%d runs", runs)
	wantWhole(t, c, lostAnswers)
}
