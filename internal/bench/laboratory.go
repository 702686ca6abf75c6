package bench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/deploy/engine"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// laboratory is a broker with our topics and a ClickHouse, of a bench's own.
type laboratory struct {
	dir        string
	connection producer.Connection
	server     string // DSN of the ClickHouse
	log        *slog.Logger
	stops      []func(context.Context) error
}

func newLaboratory(ctx context.Context, o Options) (_ *laboratory, err error) {
	dir, err := os.MkdirTemp("", "answerscope-bench-")
	if err != nil {
		return nil, fmt.Errorf("make the bench's directory: %w", err)
	}
	l := &laboratory{dir: dir, log: slog.New(slog.DiscardHandler)}
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	home, err := engine.FindHome("")
	if err != nil {
		return nil, err
	}
	if err := l.startBroker(ctx, home, o.Broker); err != nil {
		return nil, err
	}
	c, err := engine.StartClickHouse(ctx, engine.ClickHouseConfig{Dir: filepath.Join(dir, "clickhouse"), Home: home, Log: l.log})
	if err != nil {
		return nil, err
	}
	l.server, l.stops = c.DSN(), append(l.stops, c.Stop)
	topics := producer.DefaultTopicsConfig()
	topics.Connection = l.connection
	_, err = producer.CreateTopics(ctx, topics)
	return l, err
}

func (l *laboratory) startBroker(ctx context.Context, home engine.Home, broker string) error {
	if broker == "apache" {
		k, err := engine.StartApacheKafka(ctx, engine.ApacheKafkaConfig{Dir: filepath.Join(l.dir, "apache"), Home: home, Log: l.log})
		if err != nil {
			return err
		}
		l.connection.Brokers, l.stops = k.Brokers(), append(l.stops, k.Stop)
		return nil
	}
	k, err := engine.StartKafka(ctx, engine.KafkaConfig{Dir: filepath.Join(l.dir, "kafka"), Log: l.log})
	if err != nil {
		return err
	}
	l.connection.Brokers, l.stops = k.Brokers(), append(l.stops, k.Stop)
	return nil
}

func (l *laboratory) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for _, stop := range l.stops {
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
	address, err := url.Parse(l.server)
	if err != nil {
		return nil, fmt.Errorf("parse clickhouse address: %w", err)
	}
	address.Path = "/" + name
	cfg.DSN = address.String()
	if err := clickhouse.Migrate(ctx, cfg, func(string) {}); err != nil {
		return nil, err
	}
	return clickhouse.Open(ctx, cfg)
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
	cfg := producer.DefaultConfig()
	cfg.Connection = l.connection
	log, err := producer.New(cfg, l.log, prometheus.NewRegistry())
	if err != nil {
		return nil, err
	}
	running, stop := context.WithCancel(ctx)
	stopped := make(chan error, 1)
	go func() { stopped <- log.Run(running) }()
	_, err = log.AppendAll(ctx, event.TopicAnswers, appended)
	stop()
	return records, errors.Join(err, <-stopped)
}

// consumeAll runs one consumer of a new group until it has landed n records of
// topic answers, and returns how long that took from the first batch's start.
func consumeAll[T any](ctx context.Context, l *laboratory, group string, target consume.Target[T], landed *atomic.Int64, n int) (time.Duration, error) {
	cfg := consume.DefaultConfig()
	cfg.Connection, cfg.Group, cfg.Topic = l.connection, group, event.TopicAnswers
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
