package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/deploy/engine"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/sink"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/clickhouse/schema"
	"github.com/answerscope/answerscope/sql/postgres"
)

// A stack is the engines of one bench, in a temporary directory, and what the bench has opened on them.
type stack struct {
	dir        string
	connection producer.Connection // of the broker
	clickhouse string              // DSN
	postgres   string              // DSN
	gateway    string              // DSN of the same database, with the login of /rest/v1
	log        *slog.Logger
	stops      []func(context.Context) error // called in reverse
}

// engines are those that a bench needs.
type engines struct{ clickhouse, postgres, broker bool }

// startStack starts engines, creates the topics, and brings up the schema of PostgreSQL.
func startStack(ctx context.Context, need engines, broker string) (_ *stack, err error) {
	s := &stack{log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))}
	if s.dir, err = os.MkdirTemp("", "answerscope-bench-"); err != nil {
		return nil, fmt.Errorf("make the bench's directory: %w", err)
	}
	s.onClose(func(context.Context) error { return os.RemoveAll(s.dir) })
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if err := os.Chmod(s.dir, 0o755); err != nil { // under root PostgreSQL is another user
		return nil, fmt.Errorf("open the bench's directory: %w", err)
	}
	set, err := engine.Open(ctx, engine.Options{
		DataDir: filepath.Join(s.dir, "engines"), Owner: "bench", Log: s.log,
		ClickHouse: need.clickhouse, Postgres: need.postgres,
	})
	if err != nil {
		return nil, err
	}
	s.onClose(set.Stop)
	s.clickhouse, s.postgres, s.gateway = set.ClickHouse, set.Postgres, set.PostgresGateway
	if need.broker {
		if err := s.startBroker(ctx, broker == "apache"); err != nil {
			return nil, err
		}
		if err := s.createTopics(ctx, ""); err != nil {
			return nil, err
		}
	}
	if need.postgres {
		return s, postgres.Migrate(ctx, s.postgres, func(uint, string) {})
	}
	return s, nil
}

// startBroker starts a broker that needs no password, so that every program of a bench reaches it by its address alone.
func (s *stack) startBroker(ctx context.Context, apache bool) error {
	if apache {
		k, err := engine.StartApacheKafka(ctx, engine.ApacheKafkaConfig{Dir: filepath.Join(s.dir, "apache"), Log: s.log})
		if err != nil {
			return err
		}
		s.onClose(k.Stop)
		s.connection.Brokers = k.Brokers()
		return nil
	}
	k, err := engine.StartKafka(ctx, engine.KafkaConfig{Dir: filepath.Join(s.dir, "kafka"), NoPassword: true, Log: s.log})
	if err != nil {
		return err
	}
	s.onClose(k.Stop)
	s.connection.Brokers = k.Brokers()
	return nil
}

// onClose registers what is stopped when the bench is over, before what was registered earlier.
func (s *stack) onClose(stop func(context.Context) error) { s.stops = append(s.stops, stop) }

func (s *stack) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var errs []error
	for _, stop := range slices.Backward(s.stops) {
		errs = append(errs, stop(ctx))
	}
	return errors.Join(errs...)
}

func (s *stack) createTopics(ctx context.Context, prefix string) error {
	topics := producer.DefaultTopicsConfig()
	topics.Connection, topics.Prefix = s.connection, prefix
	_, err := producer.CreateTopics(ctx, topics)
	return err
}

// openPostgres connects to PostgreSQL until the bench is over.
func (s *stack) openPostgres(ctx context.Context) (*postgres.DB, error) {
	cfg := postgres.DefaultConfig()
	cfg.DSN = s.postgres
	db, err := postgres.Open(ctx, cfg)
	if err == nil {
		s.onClose(func(context.Context) error { db.Close(); return nil })
	}
	return db, err
}

// warehouse creates a database with the schema of ClickHouse, and connects to it until the bench is over.
func (s *stack) warehouse(ctx context.Context, name string) (*clickhouse.Conn, error) {
	cfg := clickhouse.DefaultConfig()
	cfg.DSN = s.clickhouse
	server, err := clickhouse.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	err = server.Exec(ctx, "CREATE DATABASE "+name+" ENGINE = Atomic")
	if err := errors.Join(err, server.Close()); err != nil {
		return nil, fmt.Errorf("create database %s: %w", name, err)
	}
	cfg.DSN = s.database(name)
	if err := schema.Migrate(ctx, cfg, func(string) {}); err != nil {
		return nil, err
	}
	return s.openWarehouse(ctx, name)
}

// openWarehouse connects to a database of the ClickHouse until the bench is over.
func (s *stack) openWarehouse(ctx context.Context, name string) (*clickhouse.Conn, error) {
	cfg := clickhouse.DefaultConfig()
	cfg.DSN = s.database(name)
	conn, err := clickhouse.Open(ctx, cfg)
	if err == nil {
		s.onClose(func(context.Context) error { return conn.Close() })
	}
	return conn, err
}

// database is the DSN of a database of the ClickHouse.
func (s *stack) database(name string) string {
	address, err := url.Parse(s.clickhouse)
	if err != nil {
		panic(err) // the engine made it
	}
	address.Path = "/" + name
	return address.String()
}

// appending runs do with a producer to the topics of a prefix.
func (s *stack) appending(ctx context.Context, prefix string, do func(*producer.Producer) error) error {
	cfg := producer.DefaultConfig()
	cfg.Connection, cfg.Prefix = s.connection, prefix
	log, err := producer.New(cfg, s.log, prometheus.NewRegistry())
	if err != nil {
		return err
	}
	return beside(ctx, log.Run, func(context.Context) error { return do(log) })
}

// consumer is the configuration of a new group that reads a topic.
func (s *stack) consumer(group, prefix, topic string) consume.Config {
	cfg := consume.DefaultConfig()
	cfg.Connection, cfg.Group, cfg.Topic = s.connection, group, prefix+topic
	if topic == event.TopicVisits {
		cfg.Limits = sink.VisitLimits(cfg.Limits)
	}
	return cfg
}

// consumeAll runs one consumer of a new group until n records are counted, and returns how long that took from the
// moment in which it had joined the group.
func consumeAll[T any](
	ctx context.Context, s *stack, cfg consume.Config, target consume.Target[T], counted *atomic.Int64, n int,
) (took time.Duration, err error) {
	consumer, err := consume.New(cfg, target, prometheus.NewRegistry(), s.log)
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	err = beside(ctx, consumer.Run, func(ctx context.Context) error {
		err := poll(ctx, 5*time.Millisecond, func() (bool, error) {
			if consumer.Ready(ctx) != nil {
				begin = time.Now()
			}
			return counted.Load() >= int64(n), nil
		})
		took = time.Since(begin)
		return err
	})
	if err != nil {
		err = fmt.Errorf("consume %s: %d of %d records: %w", cfg.Topic, counted.Load(), n, err)
	}
	return took, err
}

// beside runs do while run runs, and ends run after it. Where run ends first, the context of do ends for the same
// cause.
func beside(ctx context.Context, run, do func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan error, 1)
	go func() {
		err := run(ctx)
		cancel(err)
		ended <- err
	}()
	err := do(ctx)
	cancel(nil)
	return cmp.Or(err, <-ended)
}

// poll asks until the answer is true.
func poll(ctx context.Context, every time.Duration, done func() (bool, error)) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if is, err := done(); is || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
