package service

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/deploy/engine"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/config"
	"github.com/answerscope/answerscope/internal/disk"
	"github.com/answerscope/answerscope/pipeline"
	"github.com/answerscope/answerscope/pipeline/upkeep"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Engines are the engines of a process, at given addresses, joined or started by it, and clients of its databases.
type Engines struct {
	*Process

	Running    *engine.Engines // nil when every address is given
	ClickHouse clickhouse.Config
	Postgres   postgres.Config
	Gateway    string // DSN of the same PostgreSQL with the login of /rest/v1; "" without one
	Owner      string // DSN of the login that migrates
	Kafka      producer.Connection
	Room       *disk.Watermark // of the data directory; nil when no engine keeps anything there

	DB        *postgres.DB
	Warehouse *clickhouse.Conn
}

// Open finds the engines. Those without an address are joined or started under the data directory; exclusive starts
// them for a server at an address, and never joins.
func (p *Process) Open(ctx context.Context, need Needs, exclusive bool, address string) (*Engines, error) {
	e, err := p.given()
	embedded := p.Embedded(need)
	if err != nil || embedded == (Needs{}) {
		return e, err
	}
	settings := p.Settings
	e.Room = disk.New(settings.MinFree, settings.DataDir)
	options := engine.Options{
		DataDir: settings.DataDir, ClickHouse: embedded.ClickHouse, Postgres: embedded.Postgres, Kafka: embedded.Kafka,
		Owner: p.Command, Restoring: p.Restores, Exclusive: exclusive, Address: address,
		Room: e.Room.Err, MinFree: settings.MinFree, Log: p.Log,
	}
	if embedded.ClickHouse {
		// Before the engine reads them; of joined engines that is their owner's task.
		options.Prepare = func() error { return p.RenewAnalysts(engine.ClickHouseUsersDir(settings.DataDir)) }
	}
	if e.Running, err = engine.Open(ctx, options); err != nil {
		return nil, err
	}
	if embedded.ClickHouse {
		e.ClickHouse.DSN = e.Running.ClickHouse
	}
	if embedded.Postgres {
		e.Postgres.DSN, e.Owner, e.Gateway = e.Running.PostgresService, e.Running.Postgres, e.Running.PostgresGateway
	}
	if embedded.Kafka {
		e.Kafka = producer.Connection{
			Brokers: e.Running.Kafka, Mechanism: engine.KafkaMechanism, Username: engine.KafkaUser,
			Password: config.NewSecret(e.Running.KafkaPassword),
		}
	}
	return e, nil
}

// given has the engines whose addresses are set.
func (p *Process) given() (*Engines, error) {
	s := p.Settings
	e := &Engines{
		Process: p, ClickHouse: clickhouse.DefaultConfig(), Postgres: postgres.DefaultConfig(),
		Owner: s.Postgres.Reveal(), Gateway: s.Gateway.Reveal(),
		Kafka: producer.Connection{
			Brokers: s.Kafka.Brokers, TLS: s.Kafka.TLS, Trust: s.Kafka.Trust,
			Mechanism: s.Kafka.SASL, Username: s.KafkaUsername, Password: s.KafkaPassword,
		},
	}
	e.Postgres.DSN, e.Postgres.Actor = s.Postgres.Reveal(), p.Actor
	e.ClickHouse.DSN, e.ClickHouse.Shards = s.ClickHouse.Reveal(), s.Shards.Reveal()
	e.Postgres.Command = p.Command
	if s.Shards.IsSet() {
		e.ClickHouse.Cluster = s.Cluster
	}
	var err error
	if s.ClickHouseTrust.IsSet() {
		if e.ClickHouse.TLS, err = s.ClickHouseTrust.TLS(); err != nil {
			err = fmt.Errorf("reach clickhouse: %w", err)
		}
	}
	return e, err
}

// Address is where the server answers whose engines were joined; "" without one.
func (e *Engines) Address() string {
	if e.Running == nil {
		return ""
	}
	return e.Running.Address
}

// lost is closed when an engine of the data directory is gone; never when there is none.
func (e *Engines) lost() <-chan struct{} {
	if e.Running == nil {
		return nil
	}
	return e.Running.Lost()
}

// OpenClients opens clients of the databases among need.
func (e *Engines) OpenClients(ctx context.Context, need Needs) (err error) {
	if need.Postgres {
		if e.DB, err = postgres.Open(ctx, e.Postgres); err != nil {
			return err
		}
	}
	if need.ClickHouse {
		e.Warehouse, err = clickhouse.Open(ctx, e.ClickHouse)
	}
	return err
}

// disconnect closes the clients.
func (e *Engines) disconnect() {
	if e.DB != nil {
		e.DB.Close()
	}
	if e.Warehouse != nil {
		_ = e.Warehouse.Close() // the command is over
	}
}

// stopTimeout is how long engines of this process may take to stop in order before they are killed with it.
const stopTimeout = 30 * time.Second

// Close closes the clients, and stops the engines that this process owns.
func (e *Engines) Close() error {
	e.disconnect()
	return e.stop()
}

// stop stops the engines that this process owns.
func (e *Engines) stop() error {
	if e.Running == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if err := e.Running.Stop(ctx); err != nil {
		return fmt.Errorf("stop engines: %w", err)
	}
	return nil
}

// NewProducer makes a producer that is not running yet, with a spool if that has a directory.
func (e *Engines) NewProducer(metrics prometheus.Registerer, spool producer.Spool) (*producer.Producer, error) {
	cfg := producer.DefaultConfig()
	cfg.Connection, cfg.Prefix, cfg.Room = e.Kafka, e.Settings.Kafka.TopicPrefix, e.Room.Err
	if spool.Dir != "" {
		cfg.Spool = spool
	}
	return producer.New(cfg, e.Log, metrics)
}

// Migrator brings up the stores of the engines, and prints each step.
func (e *Engines) Migrator() *upkeep.Migrator {
	kafka := e.Settings.Kafka
	return &upkeep.Migrator{
		Postgres: e.Owner, ClickHouse: e.ClickHouse, Sinks: pipeline.Sinks(kafka.TopicPrefix), Log: e.Log,
		Report: func(done, pending int, s upkeep.Step) { e.Say("migrate %d of %d: %s", done, pending, s) },
		Topics: producer.TopicsConfig{
			Connection: e.Kafka, Prefix: kafka.TopicPrefix, Partitions: kafka.Partitions, Replicas: kafka.Replicas,
			Retention: kafka.Retention,
		},
	}
}

// upToDate brings up the stores that this process has started, and refuses to work on others that are behind.
func (e *Engines) upToDate(ctx context.Context, need Needs) error {
	joined, started := e.Running != nil && e.Running.Joined(), Needs{}
	if e.Running != nil && !joined {
		started = e.Embedded(need)
	}
	return e.Migrator().Ensure(ctx, need, started, joined)
}
