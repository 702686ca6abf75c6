package sink_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/replica"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/internal/testkit/warehouse"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/sink"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/clickhouse/rollup"
	"github.com/answerscope/answerscope/sql/clickhouse/schema"
)

// shardOfTwo is a shard of two replicas that a sink inserts into.
type shardOfTwo struct {
	*environment
	pair     *replica.Pair
	database string
	config   clickhouse.Config
	shard    *clickhouse.Conn
	target   *sink.Answers
	next     int // answer and offset
	purged   int // answers
}

// Two replicas take long to start and to migrate: these tests share them, in this order.
func TestTwoReplicas(t *testing.T) { //nolint:tparallel // its parts share a warehouse
	t.Parallel()
	pair, database, c := warehouse.Replicated(t)
	w := &shardOfTwo{pair: pair, database: database, config: c}
	w.environment = newEnvironmentOn(t, store.OpenWarehouse(t, c), nil, 0)
	w.shard = warehouse.Shard(t, w.conn, 0)
	w.target = w.sink(t)
	t.Run("a batch that is acknowledged is on both", w.testAnAcknowledgedBatchIsOnBoth)
	t.Run("a batch whose only copy was lost lands again", w.testALostCopyLandsAgain)
	t.Run("a repeated batch is in every sum", w.testARepeatedBatchIsInEverySum)
	if !testkit.All {
		return
	}
	t.Run("a rebuild ends when both have it", w.testARebuildEndsWhenBothHaveIt)
	t.Run("a replica that hangs is given up", w.testAHungReplicaIsGivenUp)
	t.Run("a purge ends when both have it", w.testAPurgeEndsWhenBothHaveIt)
	t.Run("a small table comes back after a kill", w.testASmallTableComesBack)
	t.Run("without Keeper nothing is refused", w.testWithoutKeeperNothingIsRefused)
}

// batchOfThree has the next three answers, of three months.
func (w *shardOfTwo) batchOfThree(t *testing.T) *consume.Batch[sink.Answer] {
	t.Helper()
	n := w.next
	w.next += 3
	return w.batch(t, w.target, 0, int64(n), answer(n), answer(n+1), answer(n+2))
}

// insertWithin gives the insert of a batch some time.
func (w *shardOfTwo) insertWithin(t *testing.T, limit time.Duration, b *consume.Batch[sink.Answer]) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	return w.target.Insert(ctx, b, isOwner)
}

// land repeats a batch until it has landed.
func (w *shardOfTwo) land(t *testing.T, b *consume.Batch[sink.Answer]) {
	t.Helper()
	wait.Until(t, func() string {
		err := w.insertWithin(t, 30*time.Second, b)
		switch {
		case err == nil:
			return ""
		case errors.Is(err, consume.ErrRefused):
			t.Fatal(err)
		}
		return err.Error()
	})
}

func (w *shardOfTwo) at(t *testing.T, n int, statement string) {
	t.Helper()
	if err := w.pair.Servers[n].Exec(t.Context(), statement); err != nil {
		t.Fatal(statement, err)
	}
}

// node is a connection to one replica, once that has all rows.
func (w *shardOfTwo) node(t *testing.T, n int) *clickhouse.Conn {
	t.Helper()
	c := w.config
	c.Shards = w.pair.Servers[n].DSN(w.database)
	conn := store.OpenWarehouse(t, c)
	wait.Until(t, func() string {
		if err := warehouse.Shard(t, conn, 0).CatchUp(t.Context()); err != nil {
			return err.Error()
		}
		return ""
	})
	return conn
}

// loseDisk loses the disk of a replica, which then gets all that the other has.
func (w *shardOfTwo) loseDisk(t *testing.T, n int) {
	t.Helper()
	if err := w.pair.LoseDisk(t.Context(), n, w.database); err != nil {
		t.Fatal(err)
	}
}

func (w *shardOfTwo) migrate(t *testing.T) {
	t.Helper()
	if err := schema.Migrate(t.Context(), w.config, func(string) {}); err != nil {
		t.Fatal(err)
	}
}

// wantAllOnce compares the rows at both replicas, once each has all.
func (w *shardOfTwo) wantAllOnce(t *testing.T) {
	t.Helper()
	nodes := []*clickhouse.Conn{w.node(t, 0), w.node(t, 1)}
	(&environment{conn: w.shard}).reconcile(t)
	for _, node := range nodes {
		here := &environment{conn: warehouse.Shard(t, node, 0), topic: w.topic}
		here.wantEachOnce(t, uint64(w.next-w.purged))
	}
}

// A batch is not acknowledged while its rows are on one disk, however often it is repeated; a disk that is lost right
// after the acknowledgement loses nothing.
func (w *shardOfTwo) testAnAcknowledgedBatchIsOnBoth(t *testing.T) {
	b := w.batchOfThree(t)
	w.at(t, 1, "SYSTEM STOP FETCHES")
	for range 2 {
		if err := w.insertWithin(t, time.Second, b); err == nil {
			t.Fatal("acknowledged with rows on one disk")
		}
		b.Repeated = true
	}
	w.at(t, 1, "SYSTEM START FETCHES")
	w.land(t, b)
	w.loseDisk(t, 0)
	w.migrate(t)
	w.wantAllOnce(t)
}

// A replica loses its disk when only one of the two has a batch, and rows without a token. If that was the lost one,
// Keeper has the batch's token still. If it was the other one, what was inserted never reaches its quorum.
func (w *shardOfTwo) testALostCopyLandsAgain(t *testing.T) {
	advance := func(limit time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		return clickhouse.AdvanceLog(ctx, w.shard, clickhouse.LogPosition{Topic: w.topic, Partition: 1, Offset: 1})
	}
	cases := []bool{true, false}
	if !testkit.All {
		cases = cases[:1]
	}
	for _, only := range cases {
		current, b := w.current(t), w.batchOfThree(t)
		w.at(t, 1-current, "SYSTEM STOP FETCHES")
		if err := w.insertWithin(t, time.Second, b); err == nil {
			t.Fatal("acknowledged with rows on one disk")
		}
		if err := advance(time.Second); err == nil {
			t.Fatal("acknowledged with a position on one disk")
		}
		if only {
			w.loseDisk(t, current)
			w.at(t, 1-current, "SYSTEM START FETCHES")
		} else {
			w.loseDisk(t, 1-current)
		}
		for range 3 { // the one without tables is not used
			if err := w.insertWithin(t, time.Second, b); err == nil || errors.Is(err, consume.ErrRefused) {
				t.Fatalf("a server without tables: %v", err)
			}
		}
		w.migrate(t)
		b.Repeated = true
		w.land(t, b)
		w.wantAllOnce(t)
		if err := advance(time.Minute); err != nil {
			t.Error(err)
		}
	}
}

// An insert is cut off when its rows have landed and a view has not taken them. When the batch is repeated, every sum
// has them before it is acknowledged.
func (w *shardOfTwo) testARepeatedBatchIsInEverySum(t *testing.T) {
	w.land(t, w.batchOfThree(t))
	b := w.batchOfThree(t)
	both := func(statement string) {
		w.at(t, 0, statement)
		w.at(t, 1, statement)
	}
	both("SYSTEM STOP FETCHES")
	both("DETACH TABLE " + w.database + ".answer_daily_view SYNC")
	if err := w.insertWithin(t, time.Second, b); err == nil {
		t.Fatal("acknowledged with rows on one disk")
	}
	both("ATTACH TABLE " + w.database + ".answer_daily_view")
	both("SYSTEM START FETCHES")
	nodes := []*environment{{conn: warehouse.Shard(t, w.node(t, 0), 0)}, {conn: warehouse.Shard(t, w.node(t, 1), 0)}}
	for _, node := range nodes {
		rows, sum := node.number(t, "SELECT count() FROM answers_local"),
			node.number(t, "SELECT toUInt64(sum(answers)) FROM answer_daily_local")
		if rows == sum {
			t.Errorf("nothing was cut off: %d rows", rows)
		}
	}
	w.land(t, b)
	for _, node := range nodes {
		node.wantEachOnce(t, uint64(w.next))
	}
}

// current is the replica to which statements of the shard go.
func (w *shardOfTwo) current(t *testing.T) int {
	t.Helper()
	var port uint16
	if err := w.shard.QueryRow(t.Context(), "SELECT tcpPort()").Scan(&port); err != nil {
		t.Fatal(err)
	}
	if int(port) == w.pair.Servers[0].Config.Native {
		return 0
	}
	return 1
}

// A replica that does not apply what others have changed is waited for.
func (w *shardOfTwo) testARebuildEndsWhenBothHaveIt(t *testing.T) {
	w.land(t, w.batchOfThree(t))
	other := 1 - w.current(t)
	node := warehouse.Shard(t, w.node(t, other), 0)
	w.at(t, other, "SYSTEM STOP REPLICATION QUEUES")
	var queued, started atomic.Bool
	go func() {
		defer started.Store(true)
		wait.For(t, "the replaced month to be queued", func() bool {
			var n uint64
			err := node.QueryRow(t.Context(), "SELECT count() FROM system.replication_queue WHERE type = "+
				"'REPLACE_RANGE'").Scan(&n)
			return err == nil && n > 0
		})
		queued.Store(true)
		w.at(t, other, "SYSTEM START REPLICATION QUEUES")
	}()
	rollups, err := rollup.List(t.Context(), w.shard)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(rollups, func(r *rollup.Rollup) bool { return r.Table == "answer_daily_local" })
	var b *rollup.Rebuild
	wait.For(t, "both replicas to be there", func() bool {
		b, err = rollups[i].Rebuild(t.Context(), w.shard, clickhouse.MonthOf(day))
		return err == nil
	})
	if err := errors.Join(b.Fill(t.Context(), 1), b.Replace(t.Context()), b.Close(t.Context())); err != nil {
		t.Error(err)
	}
	if !queued.Load() {
		t.Error("the rebuild ended while a replica had its old rows")
	}
	wait.For(t, "the queue to run", started.Load)
	w.wantAllOnce(t)

	// It does not begin while one is away: the sinks would stand still meanwhile.
	w.pair.Servers[other].Kill()
	wait.For(t, "the rebuild to be refused", func() bool {
		b, err := rollups[i].Rebuild(t.Context(), w.shard, clickhouse.MonthOf(day))
		if err == nil {
			err = b.Close(t.Context())
		}
		return err != nil && strings.Contains(err.Error(), "1 replicas of answer_daily_local are away")
	})
	if err := w.pair.Servers[other].Again(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A replica that hangs keeps its connections and its port. A query of it ends soon, with an error or the right figure.
func (w *shardOfTwo) testAHungReplicaIsGivenUp(t *testing.T) {
	w.land(t, w.batchOfThree(t))
	w.wantAllOnce(t)
	current := w.current(t)
	hung := w.pair.Servers[current]
	if err := syscall.Kill(hung.PID(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	answers := 0
	for range 4 {
		begin := time.Now()
		var rows uint64
		err := w.conn.QueryRow(t.Context(), "SELECT count() FROM answers").Scan(&rows)
		if took := time.Since(begin); took > wait.Hang {
			t.Errorf("a query took %s: %v", took, err)
		}
		if err == nil {
			answers++
			if rows != uint64(w.next) {
				t.Errorf("%d rows, want %d", rows, w.next)
			}
		}
	}
	if answers == 0 {
		t.Error("no query was answered")
	}
	if err := syscall.Kill(hung.PID(), syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	w.wantAllOnce(t)
}

func (w *shardOfTwo) testAPurgeEndsWhenBothHaveIt(t *testing.T) {
	w.land(t, w.batchOfThree(t))
	other := 1 - w.current(t)
	a := answer(0)
	owner := []clickhouse.DeletedOwner{{Organization: clickhouse.UUID(a.OrganizationID),
		Brand: clickhouse.UUID(a.Brand.ID)}}
	w.at(t, other, "SYSTEM STOP MERGES") // and mutations
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := clickhouse.Purge(ctx, w.conn, owner); err == nil {
		t.Error("purged while a replica had rows")
	}
	w.at(t, other, "SYSTEM START MERGES")
	if _, err := clickhouse.Purge(t.Context(), w.conn, owner); err != nil {
		t.Fatal(err)
	}
	for n := range w.pair.Servers {
		here := &environment{conn: warehouse.Shard(t, w.node(t, n), 0)}
		if rows := here.number(t, "SELECT count() FROM answers_local"); rows != 0 {
			t.Errorf("%d rows of a purged brand at replica %d", rows, n)
		}
	}
	w.purged = w.next
}

// A replica is killed when it has more rows of unfinished inserts than of finished ones.
func (w *shardOfTwo) testASmallTableComesBack(t *testing.T) {
	w.at(t, 0, "INSERT INTO "+w.database+".dimension_topics (id) VALUES (generateUUIDv4())")
	var part string
	const question = "SELECT path FROM system.parts WHERE database = currentDatabase() AND table = " +
		"'dimension_topics' AND active"
	if err := warehouse.Shard(t, w.node(t, 0), 0).QueryRow(t.Context(), question).Scan(&part); err != nil {
		t.Fatal(err)
	}
	w.pair.Servers[0].Kill()
	for n := range 2 {
		unfinished := filepath.Join(filepath.Dir(filepath.Clean(part)), fmt.Sprintf("all_%d_%[1]d_0", 100+n))
		if err := os.CopyFS(unfinished, os.DirFS(part)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.pair.Servers[0].Again(t.Context()); err != nil {
		t.Fatal(err)
	}
	here := &environment{conn: warehouse.Shard(t, w.node(t, 0), 0)}
	wait.For(t, "no table to be read-only", func() bool {
		return here.number(t, "SELECT count() FROM system.replicas WHERE database = currentDatabase() AND "+
			"is_readonly") == 0
	})
}

// While ZooKeeper is away no insert ends, and none is refused; all goes on when it is back.
func (w *shardOfTwo) testWithoutKeeperNothingIsRefused(t *testing.T) {
	w.pair.ZooKeeper.Kill()
	b := w.batchOfThree(t)
	err := w.insertWithin(t, time.Second, b)
	if err == nil || errors.Is(err, consume.ErrRefused) {
		t.Fatalf("inserted without Keeper: %v", err)
	}
	if err := w.pair.ZooKeeper.Again(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.land(t, b)
	w.wantAllOnce(t)
}
