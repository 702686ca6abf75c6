package schema_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/testkit/replica"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/internal/testkit/warehouse"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/clickhouse/schema"
)

const lostAnswers = 40

// lostDisk is a shard of two replicas whose first one has lost its disk after some answers.
func lostDisk(t *testing.T) (*replica.Pair, clickhouse.Config) {
	t.Helper()
	pair, database, c := warehouse.Replicated(t)
	insertAnswers(t, c, 0)
	if err := pair.LoseDisk(t.Context(), 0, database); err != nil {
		t.Fatal(err)
	}
	return pair, c
}

// insertAnswers inserts a batch of answers at the first shard.
func insertAnswers(t *testing.T, c clickhouse.Config, offset int) {
	t.Helper()
	var rows []clickhouse.AnswerRow
	for n := range lostAnswers {
		a := warehouse.Answer(int64(offset+n), warehouse.Day)
		a.Text = strings.Repeat(fmt.Sprint(n), 1<<10)
		rows = append(rows, a)
	}
	conn := store.OpenWarehouse(t, c)
	if err := clickhouse.Answers.Insert(t.Context(), warehouse.Shard(t, conn, 0), fmt.Sprint(offset),
		rows); err != nil {
		t.Fatal(err)
	}
}

// answersAt counts the answers that a query at a server sees if it asks either replica: all, or it is an error.
func answersAt(t *testing.T, c clickhouse.Config, dsn string) (n uint64, err error) {
	t.Helper()
	conn := store.OpenWarehouse(t, c.ForServer(dsn))
	const count = "SELECT count() FROM answers SETTINGS load_balancing = 'random', prefer_localhost_replica = "
	for _, local := range []string{"0", "1"} {
		if err = conn.QueryRow(t.Context(), count+local).Scan(&n); err != nil || n != lostAnswers {
			return n, err
		}
	}
	return n, nil
}

// A replica whose disk was lost is filled by migrate while the other one lists it: processes start meanwhile, and no
// query sees half of its rows, neither while it is filled nor after a run that was stopped there.
func TestAReplicaHasItsRowsBeforeItIsAsked(t *testing.T) {
	t.Parallel()
	pair, c := lostDisk(t)
	kept := c.ShardServers()[0][1]
	// A new replica copies settings too: it is filled in some seconds.
	err := pair.Servers[1].Exec(t.Context(), "ALTER TABLE "+c.Database()+".answers_local MODIFY SETTING "+
		"max_replicated_fetches_network_bandwidth = 2000")
	if err != nil {
		t.Fatal(err)
	}
	if pending, err := schema.Pending(t.Context(), c); err != nil || len(pending) > 0 {
		t.Errorf("a process waits for %q, %v", pending, err)
	}
	want := []string{"shard 0: new server " + clickhouse.HostOf(c.ShardServers()[0][0])}
	if pending, err := schema.PendingGrowth(t.Context(), c); err != nil || !slices.Equal(pending, want) {
		t.Errorf("pending %q, %v; want %q", pending, err, want)
	}
	stopping, stop := context.WithCancel(t.Context())
	defer stop()
	err = schema.Migrate(stopping, c, func(step string) {
		if strings.HasSuffix(step, "rows of citations_local") { // answers_local waits for its rows
			t.Errorf("%s was begun", step)
		}
		if strings.HasSuffix(step, "rows of answers_local") {
			time.AfterFunc(time.Second, stop)
		}
	})
	if err == nil || stopping.Err() == nil {
		t.Fatalf("it ended with %v before the replica was filled", err)
	}
	if n, err := answersAt(t, c, kept); err != nil || n != lostAnswers {
		t.Errorf("the other replica sees %d answers, %v", n, err)
	}
	if n, err := answersAt(t, c, c.ShardServers()[0][0]); err != nil || n != lostAnswers {
		t.Errorf("the replica that is being filled sees %d answers, %v", n, err)
	}
	if err := schema.Migrate(t.Context(), c, func(string) {}); err != nil {
		t.Fatal(err)
	}
	wantWhole(t, c, lostAnswers)
}

// perServer matches what equal servers print differently: the path of a table that became replicated, whose first
// server
// has a macro in place of its UUID, and parentheses, which a view keeps until its server starts again.
var perServer = regexp.MustCompile("/clickhouse/tables/[^/]+|[()]")

// wantWhole wants equal replicas, each with a number of answers and their sums, and nothing to be done.
func wantWhole(t *testing.T, c clickhouse.Config, answers uint64) {
	t.Helper()
	var dumps []string
	for _, dsn := range c.ShardServers()[0] {
		conn := store.OpenWarehouse(t, c.ForServer(dsn))
		const count = "SELECT (SELECT count() FROM answers_local), (SELECT toUInt64(sum(runs)) FROM answer_daily_local)"
		wait.Until(t, func() string {
			var landed, summed uint64
			if err := conn.QueryRow(t.Context(), count).Scan(&landed, &summed); err != nil || landed != answers ||
				summed != answers {
				return fmt.Sprintf("%s has %d answers, and %d in sums, %v, want %d", clickhouse.HostOf(dsn), landed,
					summed, err, answers)
			}
			return ""
		})
		dump, err := schema.Dump(t.Context(), conn)
		if err != nil {
			t.Fatal(err)
		}
		dumps = append(dumps, perServer.ReplaceAllString(dump, ""))
	}
	if dumps[0] != dumps[1] {
		t.Errorf("the replicas have the schemas\n%s\nand\n%s", dumps[0], dumps[1])
	}
	if pending, err := schema.PendingGrowth(t.Context(), c); err != nil || len(pending) > 0 {
		t.Errorf("in the end pending is %q, %v", pending, err)
	}
}
