package sink_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/sink"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/clickhouse/schema"
	"github.com/answerscope/answerscope/sql/postgres"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// environment is a topic, a group and a warehouse of a test's own.
type environment struct {
	brokers []string
	topic   string
	group   string
	conn    *clickhouse.Conn

	control *postgres.DB     // nil: the sinks take no lock, and there are no tombstones; see withControlPlane
	lock    consume.LockFunc // in place of control's

	registry *prometheus.Registry // of the next consumer; may be nil
	assigned consume.Assigned     // of consumers

	mu   sync.Mutex
	last map[int32]int64 // the last offset that any consumer has landed, by partition
}

// migrated is a fresh warehouse.
func migrated(t testing.TB) *clickhouse.Conn {
	t.Helper()
	return store.OpenWarehouse(t, store.Warehouse(t))
}

// migratedAt is a warehouse on a server of the test's own.
func migratedAt(t testing.TB, dsn string) *clickhouse.Conn {
	t.Helper()
	c := clickhouse.DefaultConfig()
	c.DSN = dsn
	if err := schema.Migrate(t.Context(), c, func(string) {}); err != nil {
		t.Fatal(err)
	}
	return store.OpenWarehouse(t, c)
}

func newEnvironment(t *testing.T, brokers []string, partitions int) *environment {
	t.Helper()
	return newEnvironmentOn(t, migrated(t), brokers, partitions)
}

// newEnvironmentOn has no log with 0 partitions: batches are given to the sink directly.
func newEnvironmentOn(t *testing.T, conn *clickhouse.Conn, brokers []string, partitions int) *environment {
	t.Helper()
	prefix := testkit.Prefix(t)
	w := &environment{brokers: brokers, topic: prefix + "answers", group: prefix + "sink", conn: conn,
		last: map[int32]int64{}}
	if partitions == 0 {
		return w
	}
	client := &kafka.Client{Addr: kafka.TCP(brokers...)}
	created, err := client.CreateTopics(t.Context(), &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{{
		Topic: w.topic, NumPartitions: partitions, ReplicationFactor: 1,
	}}})
	if err == nil {
		err = created.Errors[w.topic]
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// addPartitions makes them so many.
func (w *environment) addPartitions(t *testing.T, partitions int) {
	t.Helper()
	client := &kafka.Client{Addr: kafka.TCP(w.brokers...)}
	wait.For(t, "the partitions to be added", func() bool {
		created, err := client.CreatePartitions(t.Context(),
			&kafka.CreatePartitionsRequest{Topics: []kafka.TopicPartitionsConfig{{Name: w.topic,
				Count: int32(partitions)}}})
		if err == nil {
			err = created.Errors[w.topic]
		}
		if err != nil {
			t.Log(err) // a topic just created may not be in the broker's metadata yet
		}
		return err == nil
	})
}

// clear empties every table of the warehouse, for another topic: tables forget their tokens.
func (w *environment) clear(t *testing.T) {
	t.Helper()
	w.topic = testkit.Prefix(t) + "answers"
	for n := range w.conn.Shards() {
		shard, err := w.conn.Shard(n)
		if err != nil {
			t.Fatal(err)
		}
		var tables []string
		err = shard.QueryRow(t.Context(), "SELECT groupArray(name) FROM system.tables WHERE database = "+
			"currentDatabase() AND endsWith(engine, 'MergeTree') AND name NOT LIKE 'schema_%'").Scan(&tables)
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range tables {
			if err := shard.Exec(t.Context(), "TRUNCATE TABLE "+table); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// withControlPlane adds a control plane and returns its address with a superuser's credentials.
func (w *environment) withControlPlane(t *testing.T) (dsn string) {
	t.Helper()
	c := store.ControlPlane(t)
	w.control = store.OpenControlPlane(t, c)
	return c.DSN
}

// withControlPlaneAt adds a control plane on a server of the test's own.
func (w *environment) withControlPlaneAt(t *testing.T, dsn string) {
	t.Helper()
	if err := postgres.Migrate(t.Context(), dsn, func(uint, string) {}); err != nil {
		t.Fatal(err)
	}
	cfg := postgres.DefaultConfig()
	cfg.DSN = dsn
	w.control = store.OpenControlPlane(t, cfg)
}

// execPostgres runs a statement as the superuser of a control plane.
func execPostgres(t *testing.T, dsn, statement string, args ...any) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	if _, err := conn.Exec(t.Context(), statement, args...); err != nil {
		t.Fatal(statement, err)
	}
}

// append appends values to partition 0 in one request, in order.
func (w *environment) append(t *testing.T, values ...[]byte) {
	t.Helper()
	w.appendAt(t, 0, time.Time{}, values...)
}

func (w *environment) appendTo(t *testing.T, partition int, values ...[]byte) {
	t.Helper()
	w.appendAt(t, partition, time.Time{}, values...)
}

// appendAt appends values as of a time, now if it is zero. It tries again while a broker is away.
func (w *environment) appendAt(t *testing.T, partition int, at time.Time, values ...[]byte) {
	t.Helper()
	client := &kafka.Client{Addr: kafka.TCP(w.brokers...)}
	wait.For(t, "the append", func() bool {
		var records []kafka.Record // anew: a request reads them to their end
		for _, v := range values {
			records = append(records, kafka.Record{Value: kafka.NewBytes(v), Time: at})
		}
		answer, err := client.Produce(t.Context(), &kafka.ProduceRequest{
			Topic: w.topic, Partition: partition, RequiredAcks: kafka.RequireAll,
			Records: kafka.NewRecordReader(records...),
		})
		if err == nil {
			err = answer.Error
		}
		if err != nil {
			t.Logf("append: %v", err) // a topic or a partition just made may have no leader yet
		}
		return err == nil
	})
}

func (w *environment) consume(t *testing.T, target consume.Target[sink.Answer], limits consume.Limits,
	done func(*consume.Consumer[sink.Answer]) bool) {
	t.Helper()
	run(t, w, target, limits, done)
}

// run runs a consumer until done is true, then stops it as a signal would.
func run[T any](t *testing.T, w *environment, target consume.Target[T], limits consume.Limits,
	done func(*consume.Consumer[T]) bool) {
	t.Helper()
	cfg := consume.DefaultConfig()
	cfg.Brokers, cfg.Group, cfg.Topic, cfg.Limits = w.brokers, w.group, w.topic, limits
	cfg.Assigned, cfg.Shards = w.assigned, w.conn.Shards()
	cfg.Lock = w.lock
	if cfg.Lock == nil && w.control != nil {
		cfg.Lock = consume.LockWith(w.control.LockSinksShared)
	}
	registry := w.registry
	if registry == nil {
		registry = prometheus.NewRegistry()
	}
	c, err := consume.New(cfg, &followed[T]{target, w}, registry, testkit.Log(t))
	if err != nil {
		t.Fatal(err)
	}
	stop := testkit.Start(t, c.Run)
	defer stop()
	wait.For(t, "the consumer", func() bool { return done(c) })
}

// followed is a target that records the offsets that it has inserted, so that no test needs to ask the warehouse.
type followed[T any] struct {
	consume.Target[T]
	w *environment
}

func (f *followed[T]) Insert(ctx context.Context, b *consume.Batch[T], checkOwnership func() error) error {
	err := f.Target.Insert(ctx, b, checkOwnership)
	if err == nil {
		f.w.mu.Lock()
		defer f.w.mu.Unlock()
		f.w.last[b.Partition] = max(b.Last, f.w.last[b.Partition])
	}
	return err
}

// hasLanded reports whether everything up to an offset of a partition has landed.
func (w *environment) hasLanded(partition int32, offset int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	last, ok := w.last[partition]
	return ok && last >= offset
}

// number is the result of a query for one number.
func (w *environment) number(t *testing.T, question string) uint64 {
	t.Helper()
	var n uint64
	if err := w.conn.QueryRow(context.Background(), question).Scan(&n); err != nil {
		t.Fatal(question, err)
	}
	return n
}

// failBelow lets inserts fail once they have come to a table, as if the server were out of memory there, until repair.
func (w *environment) failBelow(t *testing.T, table string) (repair func()) {
	t.Helper()
	w.exec(t, "CREATE MATERIALIZED VIEW failing TO deadletters AS SELECT '' AS log_topic, toInt32(throwIf(1, 'no "+
		"memory', toInt16(241))) AS log_partition FROM "+table+
		" SETTINGS allow_custom_error_code_in_throwif = 1")
	return func() { w.exec(t, "DROP VIEW failing SYNC") }
}

func (w *environment) exec(t *testing.T, statement string) {
	t.Helper()
	if err := w.conn.Exec(t.Context(), statement); err != nil {
		t.Fatal(statement, err)
	}
}

// wantNumbers compares the results of queries with one number.
func (w *environment) wantNumbers(t *testing.T, want uint64, questions map[string]string) {
	t.Helper()
	var columns []string
	for name, question := range questions {
		columns = append(columns, fmt.Sprintf("('%s', assumeNotNull((%s)))", name, question))
	}
	var got map[string]uint64
	query := "SELECT CAST([" + strings.Join(columns, ", ") + "], 'Map(String, UInt64)')"
	if err := w.conn.QueryRow(t.Context(), query).Scan(&got); err != nil {
		t.Fatal(query, err)
	}
	for name, n := range got {
		if n != want {
			t.Errorf("%s: %d, want %d", name, n, want)
		}
	}
}
