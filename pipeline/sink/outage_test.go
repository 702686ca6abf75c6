package sink_test

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/deploy/engine"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/sink"
)

// server is an engine of a test's own, which goes away and comes back where it was.
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
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	var err error
	if s.running, err = s.start(ctx); err != nil {
		t.Fatal(err)
	}
}

// killed ends the server as kill -9 would.
func (s *server) killed(t *testing.T) {
	t.Helper()
	engine, mortal := s.running.(interface{ Kill() })
	if !mortal {
		t.Fatalf("%T is no process of its own", s.running)
	}
	engine.Kill()
}

func (s *server) down(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 30*time.Second)
	defer cancel()
	if err := s.running.Stop(ctx); err != nil {
		t.Error(err)
	}
}

// ownClickHouse is a server that the test may stop. What it has inserted it does not
// sync, as one that others run: that outlives a kill, though not a machine's.
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

// ownPostgres is a server that the test may stop. What it has committed is on its
// disk: without that a kill, too, takes the last commits away.
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
		k, err := engine.StartKafka(ctx, engine.KafkaConfig{Dir: dir, NoSync: true, Log: log})
		if err == nil {
			brokers = k.Brokers()
		}
		return k, err
	}}
	s.up(t)
	t.Cleanup(func() { s.down(t) })
	return s, brokers
}

// reading counts what was read and what has landed.
type reading struct {
	consume.Target[sink.Answer]
	read, landed, attempts atomic.Int64
}

func (r *reading) Read(version int, record consume.Record) (sink.Answer, int, error) {
	r.read.Add(1)
	return r.Target.Read(version, record)
}

func (r *reading) Land(ctx context.Context, b *consume.Batch[sink.Answer], ours func() error) error {
	r.attempts.Add(1)
	err := r.Target.Land(ctx, b, ours)
	if err == nil {
		r.landed.Add(int64(len(b.Items)))
	}
	return err
}

// While ClickHouse is away a partition keeps two batches in memory, however much the
// log holds, tries less and less often, and shows how far it is behind. Then every
// answer is there once.
func TestClickHouseAway(t *testing.T) {
	t.Parallel()
	clickhouse, dsn := ownClickHouse(t)
	w := newWorldOn(t, migratedAt(t, dsn), testkit.Kafka(t), 1)
	w.governed(t)
	w.registry = prometheus.NewRegistry()
	target := &reading{Target: w.sink(t)}
	limits := consume.Limits{Records: 20, Bytes: 1 << 20, Linger: 20 * time.Millisecond}
	w.tell(t, answers(t, 0, 100)...)
	w.consume(t, target, limits, func(*consume.Consumer[sink.Answer]) bool {
		until(t, func() bool { return target.landed.Load() == 100 })
		clickhouse.down(t)
		w.tell(t, answers(t, 100, 600)...)
		before, began := target.attempts.Load(), time.Now()
		until(t, func() bool {
			return gauge(t, w.registry, "answerscope_consume_lag_records") == 500 && gauge(t, w.registry, "answerscope_consume_lag_seconds") > 3 && target.attempts.Load() > before+1
		})
		if n, most := target.read.Load()-target.landed.Load(), int64(2*limits.Records+1); n > most {
			t.Errorf("%d records in memory, want at most %d", n, most)
		}
		// 0.1, 0.2, 0.4, … s, each half to one and a half of it, and a lookup that waits 5 s for the server
		if n, took := target.attempts.Load()-before, time.Since(began); n > 12 {
			t.Errorf("tried %d times in %s", n, took)
		}
		clickhouse.up(t)
		until(t, func() bool { return target.landed.Load() == 600 })
		return true
	})
	w.wantEachOnce(t, 600)
}

// While Postgres is away nothing is planned: the log keeps it.
func TestPostgresAway(t *testing.T) {
	t.Parallel()
	control, dsn := ownPostgres(t)
	w := newWorld(t, testkit.Kafka(t), 1)
	w.governedBy(t, dsn)
	w.registry = prometheus.NewRegistry()
	target := &reading{Target: w.sink(t)}
	w.tell(t, answers(t, 0, 20)...)
	w.consume(t, target, small, func(*consume.Consumer[sink.Answer]) bool {
		until(t, func() bool { return target.landed.Load() == 20 })
		control.down(t)
		w.tell(t, answers(t, 20, 40)...)
		until(t, func() bool { return gauge(t, w.registry, "answerscope_consume_lag_seconds") > 1 })
		if open := w.open(t); len(open) != 0 || target.landed.Load() != 20 {
			t.Errorf("%d landed, open %v while nobody knows what was deleted", target.landed.Load(), open)
		}
		control.up(t)
		until(t, func() bool { return target.landed.Load() == 40 })
		return true
	})
	w.wantEachOnce(t, 40)
}

// killedUnderLoad kills an engine while batches land, starts it again where it was,
// and wants every answer once.
func (w *world) killedUnderLoad(t *testing.T, s *server) {
	t.Helper()
	const kills, load, partitions = 3, 60, 2
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	target := &reading{Target: w.sink(t)}
	limits := consume.Limits{Records: 10, Bytes: 1 << 20, Linger: 20 * time.Millisecond}
	told := 0
	w.consume(t, target, limits, func(*consume.Consumer[sink.Answer]) bool {
		for range kills {
			for partition := range partitions {
				w.tellTo(t, partition, answers(t, told, told+load)...)
				told += load
			}
			begun := target.attempts.Load() + 1 + random.Int64N(4)
			until(t, func() bool { return target.attempts.Load() >= begun })
			<-time.After(time.Duration(random.IntN(50)) * time.Millisecond) // a batch takes some 50
			s.killed(t)
			landed := target.landed.Load()
			if t.Logf("killed when %d of %d had landed", landed, told); landed >= int64(told) {
				t.Error("killed in peace")
			}
			s.up(t)
		}
		until(t, func() bool { return target.landed.Load() >= int64(told) && len(w.open(t)) == 0 })
		return true
	})
	w.wantEachOnce(t, uint64(told))
}

// The engine of ours forgets, when it starts, the tokens of inserts that the kill cut short. One that others run does not:
// see ARCHITECTURE, counted once.
func TestClickHouseKilledUnderLoad(t *testing.T) {
	t.Parallel()
	clickhouse, dsn := ownClickHouse(t)
	w := newWorldOn(t, migratedAt(t, dsn), testkit.Kafka(t), 2)
	w.governed(t)
	w.killedUnderLoad(t, clickhouse)
}

// The holds of batches go with the server, in the middle of them.
func TestPostgresKilledUnderLoad(t *testing.T) {
	t.Parallel()
	control, dsn := ownPostgres(t)
	w := newWorld(t, testkit.Kafka(t), 2)
	w.governedBy(t, dsn)
	w.killedUnderLoad(t, control)
}

// A broker that restarts keeps its records, its groups and their plans. The consumers
// outlive it.
func TestBrokersRestart(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"kafka", "apache"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			broker, brokers := ownBroker(t, kind)
			w := newWorld(t, brokers, 2)
			first, second := &reading{Target: w.sink(t)}, &reading{Target: w.sink(t)}
			landed := func() int64 { return first.landed.Load() + second.landed.Load() }
			w.tellTo(t, 0, answers(t, 0, 20)...)
			w.consume(t, first, small, func(*consume.Consumer[sink.Answer]) bool {
				w.consume(t, second, small, func(*consume.Consumer[sink.Answer]) bool {
					for n := 20; n <= 60; n += 20 {
						until(t, func() bool { return landed() >= int64(n) })
						broker.down(t)
						broker.up(t)
						w.tellTo(t, n/20%2, answers(t, n, n+20)...)
					}
					until(t, func() bool { return landed() >= 80 && w.number(t, "SELECT count() FROM answers") == 80 })
					return true
				})
				return true
			})
			w.wantEachOnce(t, 80)
		})
	}
}

// Partitions that are added are read by the consumers that are at work.
func TestPartitionsAreAdded(t *testing.T) {
	t.Parallel()
	testkit.Brokers(t, func(t *testing.T, brokers []string, _ string) {
		w := newWorld(t, brokers, 1)
		target := &reading{Target: w.sink(t)}
		w.tell(t, answers(t, 0, 20)...)
		w.consume(t, target, small, func(*consume.Consumer[sink.Answer]) bool {
			until(t, func() bool { return target.landed.Load() == 20 })
			client := &kafka.Client{Addr: kafka.TCP(brokers...)}
			made, err := client.CreatePartitions(t.Context(), &kafka.CreatePartitionsRequest{Topics: []kafka.TopicPartitionsConfig{{Name: w.topic, Count: 3}}})
			if err == nil {
				err = errors.Join(made.Errors[w.topic])
			}
			if err != nil {
				t.Fatal(err)
			}
			w.tellTo(t, 1, answers(t, 20, 40)...)
			w.tellTo(t, 2, answers(t, 40, 60)...)
			w.tellTo(t, 0, answers(t, 60, 80)...)
			until(t, func() bool { return target.landed.Load() == 80 })
			return true
		})
		w.wantEachOnce(t, 80)
	})
}
