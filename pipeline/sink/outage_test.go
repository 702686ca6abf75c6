package sink_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/deploy/engine"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/sink"
)

// server is an engine of a test's own that can be stopped, killed and started again with its data.
type server struct {
	start   func(context.Context) (stopper, error)
	running stopper
}

type stopper interface{ Stop(context.Context) error }

// engineDir is a directory and the log of an engine of one test.
func engineDir(t *testing.T) (dir string, log *slog.Logger) {
	t.Helper()
	return filepath.Join(t.TempDir(), "engine"), slog.New(slog.DiscardHandler)
}

func (s *server) up(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var err error
	if s.running, err = s.start(ctx); err != nil {
		t.Fatal(err)
	}
}

// killed ends the server as kill -9 would.
func (s *server) killed(t *testing.T) {
	t.Helper()
	engine, killable := s.running.(interface{ Kill() })
	if !killable {
		t.Fatalf("%T is no process of its own", s.running)
	}
	engine.Kill()
}

func (s *server) down(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 2*time.Minute)
	defer cancel()
	if err := s.running.Stop(ctx); err != nil {
		t.Error(err)
	}
}

// ownClickHouse is a server that the test may stop. It does not sync what it inserts: that outlives a kill, though not
// a loss of power.
func ownClickHouse(t *testing.T) (s *server, dsn string) {
	t.Helper()
	dir, log := engineDir(t)
	s = &server{start: func(ctx context.Context) (stopper, error) {
		c, err := engine.StartClickHouse(ctx, engine.ClickHouseConfig{Dir: dir, NoSync: true, Log: log})
		if err == nil {
			dsn = c.DSN()
		}
		return c, err
	}}
	s.up(t)
	t.Cleanup(func() { s.down(t) })
	return s, dsn
}

// ownPostgres is a server that the test may stop. It syncs what it commits: without that a kill loses the last commits.
func ownPostgres(t *testing.T) (s *server, dsn string) {
	t.Helper()
	dir, log := engineDir(t)
	s = &server{start: func(ctx context.Context) (stopper, error) {
		p, err := engine.StartPostgres(ctx, engine.PostgresConfig{Dir: dir, Log: log})
		if err == nil {
			dsn = p.DSN()
		}
		return p, err
	}}
	s.up(t)
	t.Cleanup(func() { s.down(t) })
	return s, dsn
}

func ownBroker(t *testing.T, kind string) (s *server, brokers []string) {
	t.Helper()
	dir, log := engineDir(t)
	s = &server{start: func(ctx context.Context) (stopper, error) {
		if kind == "apache" {
			k, err := engine.StartApacheKafka(ctx, engine.ApacheKafkaConfig{Dir: dir, Log: log})
			if err == nil {
				brokers = k.Brokers()
			}
			return k, err
		}
		k, err := engine.StartKafka(ctx, engine.KafkaConfig{Dir: dir, NoSync: true, NoPassword: true, Log: log})
		if err == nil {
			brokers = k.Brokers()
		}
		return k, err
	}}
	s.up(t)
	t.Cleanup(func() { s.down(t) })
	return s, brokers
}

// reading counts the records that were decoded and inserted.
type reading struct {
	consume.Target[sink.Answer]
	read, landed, attempts atomic.Int64
}

func (r *reading) Decode(version int, record consume.Record) (sink.Answer, int, error) {
	r.read.Add(1)
	return r.Target.Decode(version, record)
}

func (r *reading) Insert(ctx context.Context, b *consume.Batch[sink.Answer], checkOwnership func() error) error {
	r.attempts.Add(1)
	err := r.Target.Insert(ctx, b, checkOwnership)
	if err == nil {
		r.landed.Add(int64(len(b.Items)))
	}
	return err
}

// While ClickHouse is away a partition keeps two batches in memory, however much the log has, tries less and less
// often, and reports its lag. Then every answer is there once.
//
// After a kill, the embedded engine forgets, when it starts, the tokens of inserts that were cut short. A server of the
// operator's does not: see ARCHITECTURE, counted once.
func TestClickHouseAway(t *testing.T) {
	t.Parallel()
	clickhouse, dsn := ownClickHouse(t)
	w := newEnvironmentOn(t, migratedAt(t, dsn), testkit.Kafka(t), 2)
	w.withControlPlane(t)
	w.registry = prometheus.NewRegistry()
	target := &reading{Target: w.sink(t)}
	limits := consume.Limits{Records: 20, Bytes: 1 << 20, Linger: 20 * time.Millisecond}
	w.append(t, answers(t, 0, 40)...)
	w.consume(t, target, limits, func(*consume.Consumer[sink.Answer]) bool {
		wait.For(t, "the records to land", func() bool { return target.landed.Load() == 40 })
		clickhouse.down(t)
		w.append(t, answers(t, 40, 140)...)
		before := target.attempts.Load()
		wait.For(t, "the metrics", func() bool {
			return gauge(t, w.registry, "answerscope_consume_lag_records") == 100 &&
				gauge(t, w.registry, "answerscope_consume_lag_seconds") > 3 && target.attempts.Load() > before+1
		})
		if n, most := target.read.Load()-target.landed.Load(), int64(2*limits.Records+1); n > most {
			t.Errorf("%d records in memory, want at most %d", n, most)
		}
		// 0.1, 0.2, 0.4, … s, each half to one and a half of it, and a lookup that waits 5 s for the server
		if n := target.attempts.Load() - before; n > 12 {
			t.Errorf("tried %d times, want at most 12 however long it took", n)
		}
		clickhouse.up(t)
		wait.For(t, "the records to land", func() bool { return target.landed.Load() == 140 })
		return true
	})
	w.wantEachOnce(t, 140)
	w.registry = nil
	w.killedUnderLoad(t, clickhouse, 140)
}

// While Postgres is away nothing is planned: the log keeps the records. The sink locks of batches end with a killed
// server.
func TestPostgresAway(t *testing.T) {
	t.Parallel()
	control, dsn := ownPostgres(t)
	w := newEnvironment(t, testkit.Kafka(t), 2)
	w.withControlPlaneAt(t, dsn)
	w.registry = prometheus.NewRegistry()
	target := &reading{Target: w.sink(t)}
	w.append(t, answers(t, 0, 20)...)
	w.consume(t, target, small, func(*consume.Consumer[sink.Answer]) bool {
		wait.For(t, "the records to land", func() bool { return target.landed.Load() == 20 })
		control.down(t)
		w.append(t, answers(t, 20, 40)...)
		wait.For(t, "the metrics", func() bool { return gauge(t, w.registry, "answerscope_consume_lag_seconds") > 1 })
		if open := w.open(t); len(open) != 0 || target.landed.Load() != 20 {
			t.Errorf("%d landed, open %v while the tombstones are unknown", target.landed.Load(), open)
		}
		control.up(t)
		wait.For(t, "the records to land", func() bool { return target.landed.Load() == 40 })
		return true
	})
	w.wantEachOnce(t, 40)
	w.registry = nil
	w.killedUnderLoad(t, control, 40)
}

// kills is how often an engine is killed: once, or as often as the environment says, as in make test-crash.
func kills(t *testing.T) int {
	t.Helper()
	text := os.Getenv("ANSWERSCOPE_TEST_KILLS")
	if text == "" {
		return 1
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("ANSWERSCOPE_TEST_KILLS is %q: want a number of kills", text)
	}
	return n
}

// killedUnderLoad kills an engine while batches land, starts it again where it was, and wants every answer once, those
// that have landed before too.
func (w *environment) killedUnderLoad(t *testing.T, s *server, appended int) {
	t.Helper()
	const load, partitions = 60, 2
	random := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	target := &reading{Target: w.sink(t)}
	before := appended
	limits := consume.Limits{Records: 10, Bytes: 1 << 20, Linger: 20 * time.Millisecond}
	w.consume(t, target, limits, func(*consume.Consumer[sink.Answer]) bool {
		for range kills(t) {
			for partition := range partitions {
				w.appendTo(t, partition, answers(t, appended, appended+load)...)
				appended += load
			}
			begun := target.attempts.Load() + 1 + random.Int64N(4)
			wait.For(t, "a batch to begin", func() bool { return target.attempts.Load() >= begun })
			s.killed(t)
			landed := before + int(target.landed.Load())
			if t.Logf("killed when %d of %d had landed", landed, appended); landed >= appended {
				t.Error("killed while nothing was under way")
			}
			s.up(t)
		}
		wait.For(t, "the records to land", func() bool {
			return before+int(target.landed.Load()) >= appended &&
				len(w.open(t)) == 0
		})
		return true
	})
	w.reconcile(t)
	w.wantEachOnce(t, uint64(appended))
}

// A broker that restarts keeps its records, its groups and their plans. The consumers outlive it.
func TestBrokersRestart(t *testing.T) {
	t.Parallel()
	kinds := map[string]int{"kafka": 1}
	if testkit.All {
		kinds = map[string]int{"kafka": 2, "apache": 1}
	}
	for kind, restarts := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			broker, brokers := ownBroker(t, kind)
			w := newEnvironment(t, brokers, 2)
			first, second := &reading{Target: w.sink(t)}, &reading{Target: w.sink(t)}
			landed := func() int64 { return first.landed.Load() + second.landed.Load() }
			w.appendTo(t, 0, answers(t, 0, 20)...)
			w.consume(t, first, small, func(*consume.Consumer[sink.Answer]) bool {
				w.consume(t, second, small, func(*consume.Consumer[sink.Answer]) bool {
					for n := 20; n <= 20*restarts; n += 20 {
						wait.For(t, "the records to land", func() bool { return landed() >= int64(n) })
						broker.down(t)
						broker.up(t)
						w.appendTo(t, n/20%2, answers(t, n, n+20)...)
					}
					wait.For(t, "the records to land", func() bool {
						return landed() >= int64(20*restarts+20) &&
							len(w.open(t)) == 0
					})
					return true
				})
				return true
			})
			w.wantEachOnce(t, uint64(20*restarts+20))
		})
	}
}

// Consumers at work read the partitions that are added.
func TestPartitionsAreAdded(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t, testkit.ApacheKafka(t), 1)
	target := &reading{Target: w.sink(t)}
	w.append(t, answers(t, 0, 10)...)
	w.consume(t, target, small, func(*consume.Consumer[sink.Answer]) bool {
		wait.For(t, "the records to land", func() bool { return target.landed.Load() == 10 })
		w.addPartitions(t, 3)
		w.appendTo(t, 1, answers(t, 10, 20)...)
		w.appendTo(t, 2, answers(t, 20, 30)...)
		w.appendTo(t, 0, answers(t, 30, 40)...)
		wait.For(t, "the records to land", func() bool { return target.landed.Load() == 40 })
		return true
	})
	w.wantEachOnce(t, 40)
}
