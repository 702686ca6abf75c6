package sink_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/sink"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/clickhouse/schema"
	"github.com/answerscope/answerscope/sql/postgres"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// world is a topic, a group and a database of their own.
type world struct {
	brokers []string
	topic   string
	group   string
	conn    *clickhouse.Conn

	control *postgres.DB     // nil: the sinks ask no gate and nothing is buried; see governed
	lock    consume.LockFunc // in place of control's

	registry *prometheus.Registry // of the next consumer; nil: nobody looks
	assigned consume.Assigned     // of consumers
}

// migrated is a fresh database with our schema.
func migrated(t testing.TB) *clickhouse.Conn {
	t.Helper()
	return store.OpenWarehouse(t, store.Warehouse(t))
}

// migratedAt is the schema on a server of the test's own.
func migratedAt(t testing.TB, dsn string) *clickhouse.Conn {
	t.Helper()
	c := clickhouse.DefaultConfig()
	c.DSN = dsn
	if err := schema.Migrate(t.Context(), c, func(string) {}); err != nil {
		t.Fatal(err)
	}
	return store.OpenWarehouse(t, c)
}

func newWorld(t *testing.T, brokers []string, partitions int) *world {
	t.Helper()
	return newWorldOn(t, migrated(t), brokers, partitions)
}

func newWorldOn(t *testing.T, conn *clickhouse.Conn, brokers []string, partitions int) *world {
	t.Helper()
	prefix := testkit.Prefix(t)
	w := &world{brokers: brokers, topic: prefix + "answers", group: prefix + "sink", conn: conn}
	if partitions == 0 { // batches are handed over without a log
		return w
	}
	client := &kafka.Client{Addr: kafka.TCP(brokers...)}
	made, err := client.CreateTopics(t.Context(), &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{{
		Topic: w.topic, NumPartitions: partitions, ReplicationFactor: 1,
	}}})
	if err == nil {
		err = made.Errors[w.topic]
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// governed gives the world a control plane, and its address with a superuser's
// credentials.
func (w *world) governed(t *testing.T) (dsn string) {
	t.Helper()
	c := store.ControlPlane(t)
	w.control = store.OpenControlPlane(t, c)
	return c.DSN
}

func (w *world) governedBy(t *testing.T, dsn string) {
	t.Helper()
	if err := postgres.Migrate(t.Context(), dsn, func(uint, string) {}); err != nil {
		t.Fatal(err)
	}
	cfg := postgres.DefaultConfig()
	cfg.DSN = dsn
	w.control = store.OpenControlPlane(t, cfg)
}

// command runs a statement as the superuser of a control plane.
func command(t *testing.T, dsn, statement string, args ...any) {
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

// tell appends values to partition 0 in one request, in order.
func (w *world) tell(t *testing.T, values ...[]byte) {
	t.Helper()
	w.tellTo(t, 0, values...)
}

func (w *world) tellTo(t *testing.T, partition int, values ...[]byte) {
	t.Helper()
	client := &kafka.Client{Addr: kafka.TCP(w.brokers...)}
	until(t, func() bool {
		var records []kafka.Record // anew: a request reads them to their end
		for _, v := range values {
			records = append(records, kafka.Record{Value: kafka.NewBytes(v)})
		}
		answer, err := client.Produce(t.Context(), &kafka.ProduceRequest{
			Topic: w.topic, Partition: partition, RequiredAcks: kafka.RequireAll, Records: kafka.NewRecordReader(records...),
		})
		if err == nil {
			err = answer.Error
		}
		if err != nil {
			t.Logf("tell: %v", err) // a topic or a partition just made may have no leader yet, and a broker be away
			return false
		}
		return true
	})
}

func (w *world) consume(t *testing.T, target consume.Target[sink.Answer], limits consume.Limits, done func(*consume.Consumer[sink.Answer]) bool) {
	t.Helper()
	run(t, w, target, limits, done)
}

// run runs a consumer until done is true, then stops it as a signal would.
func run[T any](t *testing.T, w *world, target consume.Target[T], limits consume.Limits, done func(*consume.Consumer[T]) bool) {
	t.Helper()
	cfg := consume.DefaultConfig()
	cfg.Brokers, cfg.Group, cfg.Topic, cfg.Limits = w.brokers, w.group, w.topic, limits
	cfg.SessionTimeout = 6 * time.Second
	cfg.Lock = w.lock
	if cfg.Lock == nil && w.control != nil {
		cfg.Lock = consume.LockWith(w.control.LockSinksShared)
	}
	cfg.Assigned, cfg.Shards = w.assigned, w.conn.Shards()
	registry := w.registry
	if registry == nil {
		registry = prometheus.NewRegistry()
	}
	c, err := consume.New(cfg, target, registry, logTo(t))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	until(t, func() bool { return done(c) })
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func logTo(t *testing.T) *slog.Logger { return slog.New(slog.NewTextHandler(t.Output(), nil)) }

func until(t *testing.T, done func() bool) {
	t.Helper()
	bound := time.NewTimer(90 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer bound.Stop()
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-bound.C:
			t.Fatal("waited 90 s in vain")
		}
	}
}

// number is the answer to a question for one number.
func (w *world) number(t *testing.T, question string) uint64 {
	t.Helper()
	var n uint64
	if err := w.conn.QueryRow(context.Background(), question).Scan(&n); err != nil {
		t.Fatal(question, err)
	}
	return n
}

// breakAt lets inserts fail once they have come to a table, as if the server were out
// of memory there, until it is mended.
func (w *world) breakAt(t *testing.T, table string) {
	t.Helper()
	w.exec(t, "CREATE MATERIALIZED VIEW breaking TO deadletters AS SELECT '' AS log_topic, toInt32(throwIf(1, 'no memory', toInt16(241))) AS log_partition FROM "+table+
		" SETTINGS allow_custom_error_code_in_throwif = 1")
}

func (w *world) mend(t *testing.T) {
	t.Helper()
	w.exec(t, "DROP VIEW breaking SYNC")
}

func (w *world) exec(t *testing.T, statement string) {
	t.Helper()
	if err := w.conn.Exec(t.Context(), statement); err != nil {
		t.Fatal(statement, err)
	}
}
