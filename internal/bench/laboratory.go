package bench

import (
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
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// laboratory is what engines a bench asks for, for itself alone.
type laboratory struct {
	dir        string
	home       engine.Home
	connection producer.Connection // once startBroker has run
	server     string              // DSN of the ClickHouse, unless it was made without one
	control    string              // DSN of the PostgreSQL, once startPostgres has run
	log        *slog.Logger
	stops      []func(context.Context) error
}

// newLaboratory has a ClickHouse.
func newLaboratory(ctx context.Context) (*laboratory, error) {
	l, err := emptyLaboratory()
	if err != nil {
		return nil, err
	}
	c, err := engine.StartClickHouse(ctx, engine.ClickHouseConfig{Dir: filepath.Join(l.dir, "clickhouse"), Home: l.home, Log: l.log})
	if err != nil {
		l.close()
		return nil, err
	}
	l.server, l.stops = c.DSN(), append(l.stops, c.Stop)
	return l, nil
}

func emptyLaboratory() (_ *laboratory, err error) {
	dir, err := os.MkdirTemp("", "answerscope-bench-")
	if err != nil {
		return nil, fmt.Errorf("make the bench's directory: %w", err)
	}
	l := &laboratory{dir: dir, log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))}
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	if l.home, err = engine.FindHome(""); err != nil {
		return nil, err
	}
	return l, nil
}

// startBroker adds a broker with our topics.
func (l *laboratory) startBroker(ctx context.Context, broker string) error {
	if broker == "apache" {
		k, err := engine.StartApacheKafka(ctx, engine.ApacheKafkaConfig{Dir: filepath.Join(l.dir, "apache"), Home: l.home, Log: l.log})
		if err != nil {
			return err
		}
		l.connection.Brokers, l.stops = k.Brokers(), append(l.stops, k.Stop)
	} else {
		k, err := engine.StartKafka(ctx, engine.KafkaConfig{Dir: filepath.Join(l.dir, "kafka"), Log: l.log})
		if err != nil {
			return err
		}
		l.connection.Brokers, l.stops = k.Brokers(), append(l.stops, k.Stop)
	}
	return l.createTopics(ctx, "")
}

func (l *laboratory) createTopics(ctx context.Context, prefix string) error {
	topics := producer.DefaultTopicsConfig()
	topics.Connection, topics.Prefix = l.connection, prefix
	_, err := producer.CreateTopics(ctx, topics)
	return err
}

// startPostgres adds a control plane with our schema.
func (l *laboratory) startPostgres(ctx context.Context) (*postgres.DB, error) {
	// Others must pass: under root PostgreSQL is another user.
	if err := os.Chmod(l.dir, 0o755); err != nil {
		return nil, fmt.Errorf("open the bench's directory: %w", err)
	}
	p, err := engine.StartPostgres(ctx, engine.PostgresConfig{Dir: filepath.Join(l.dir, "postgres"), Home: l.home, Log: l.log})
	if err != nil {
		return nil, err
	}
	l.control, l.stops = p.DSN(), append(l.stops, p.Stop)
	if err := postgres.Migrate(ctx, p.DSN(), func(uint, string) {}); err != nil {
		return nil, err
	}
	cfg := postgres.DefaultConfig()
	cfg.DSN = p.DSN()
	return postgres.Open(ctx, cfg)
}

func (l *laboratory) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for _, stop := range slices.Backward(l.stops) {
		if err := stop(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
		}
	}
	if err := os.RemoveAll(l.dir); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
	}
}

// warehouse is a fresh database with our schema.
func (l *laboratory) warehouse(ctx context.Context, name string) (*clickhouse.Conn, error) {
	cfg := clickhouse.DefaultConfig()
	cfg.DSN = l.server
	server, err := clickhouse.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	err = server.Exec(ctx, "CREATE DATABASE "+name+" ENGINE = Atomic")
	if err := errors.Join(err, server.Close()); err != nil {
		return nil, fmt.Errorf("create database %s: %w", name, err)
	}
	if cfg.DSN, err = l.database(name); err != nil {
		return nil, err
	}
	if err := clickhouse.Migrate(ctx, cfg, func(string) {}); err != nil {
		return nil, err
	}
	return clickhouse.Open(ctx, cfg)
}

// database is the DSN of a database of the ClickHouse.
func (l *laboratory) database(name string) (string, error) {
	address, err := url.Parse(l.server)
	if err != nil {
		return "", fmt.Errorf("parse clickhouse address: %w", err)
	}
	address.Path = "/" + name
	return address.String(), nil
}

// tell appends n answers and returns them as records.
func (l *laboratory) tell(ctx context.Context, n int) ([]consume.Record, error) {
	records := make([]consume.Record, n)
	appended := make([]producer.Record, n)
	for i := range n {
		a := someAnswer(i)
		value, err := event.EncodeAnswer(nil, &a)
		if err != nil {
			return nil, err
		}
		records[i] = consume.Record{Topic: event.TopicAnswers, Offset: int64(i), Value: value}
		appended[i] = producer.Record{Key: event.AnswerKey(a.Brand.ID), Value: value}
	}
	return records, l.appending(ctx, "", func(log *producer.Producer) error {
		_, err := log.AppendAll(ctx, event.TopicAnswers, appended)
		return err
	})
}

// appending runs do with a producer of the laboratory's broker, to topics of a
// prefix.
func (l *laboratory) appending(ctx context.Context, prefix string, do func(*producer.Producer) error) error {
	cfg := producer.DefaultConfig()
	cfg.Connection, cfg.Prefix = l.connection, prefix
	log, err := producer.New(cfg, l.log, prometheus.NewRegistry())
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	stopped := make(chan error, 1)
	go func() { stopped <- log.Run(running) }()
	err = do(log)
	stop()
	return errors.Join(err, <-stopped)
}

// reading is how a new group reads a topic.
func (l *laboratory) reading(group, topic string) consume.Config {
	cfg := consume.DefaultConfig()
	cfg.Connection, cfg.Group, cfg.Topic = l.connection, group, topic
	return cfg
}

// consumeAll runs one consumer of a new group until it has landed n records, and
// returns how long that took from the first batch's start.
func consumeAll[T any](ctx context.Context, l *laboratory, cfg consume.Config, target consume.Target[T], landed *atomic.Int64, n int) (time.Duration, error) {
	consumer, err := consume.New(cfg, target, prometheus.NewRegistry(), l.log)
	if err != nil {
		return 0, err
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- consumer.Run(running) }()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	begin := time.Now()
	for landed.Load() < int64(n) {
		select {
		case <-look.C:
			if consumer.Ready(ctx) != nil {
				begin = time.Now() // joining the group is not what is measured
			}
		case err := <-ended:
			return 0, fmt.Errorf("consumer ended with %d of %d records: %w", landed.Load(), n, err)
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
	took := time.Since(begin)
	stop()
	return took, <-ended
}
