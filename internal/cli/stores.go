package cli

import (
	"context"

	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// openStores connects a service to both stores.
func openStores(ctx context.Context, s *service) error {
	var err error
	if s.db, err = s.openPostgres(ctx); err != nil {
		return err
	}
	s.onClose("postgres", func() error { s.db.Close(); return nil })
	s.ready.Provide("postgres", s.db.Ping)

	if s.warehouse, err = s.openClickHouse(ctx); err != nil {
		return err
	}
	s.onClose("clickhouse", s.warehouse.Close)
	s.ready.Provide("clickhouse", s.warehouse.Ping)
	return nil
}

// openPostgres connects to the control plane.
func (e *engines) openPostgres(ctx context.Context) (*postgres.DB, error) {
	cfg := postgres.DefaultConfig()
	cfg.DSN = e.postgres
	return postgres.Open(ctx, cfg)
}

// clickhouseConfig is how the warehouse is reached.
func (e *engines) clickhouseConfig() clickhouse.Config {
	cfg := clickhouse.DefaultConfig()
	cfg.DSN, cfg.Shards, cfg.TLS = e.clickhouse, e.shards, e.trust
	if e.shards != "" {
		cfg.Cluster = e.cluster
	}
	return cfg
}

func (e *engines) openClickHouse(ctx context.Context) (*clickhouse.Conn, error) {
	return clickhouse.Open(ctx, e.clickhouseConfig())
}

// kafka is how the log is reached.
func (p *process) kafka(e *engines) producer.Connection {
	return producer.Connection{
		Brokers: e.brokers, TLS: p.Kafka.TLS, Trust: p.Kafka.Trust,
		Mechanism: p.Kafka.SASL, Username: p.KafkaUsername, Password: p.KafkaPassword,
	}
}
