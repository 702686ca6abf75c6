package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/answerscope/answerscope/deploy/engine"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/pipeline/migration"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// needs are the engines that a command works with.
type needs = migration.Stores

var (
	everything  = needs{ClickHouse: true, Postgres: true, Kafka: true}
	onlyControl = needs{Postgres: true}
	bothStores  = needs{ClickHouse: true, Postgres: true} // PostgreSQL has the lock under which an embedded schema is brought up
)

// engines are how a command reaches those that it needs: at given addresses, joined, or its own; and clients of its stores.
type engines struct {
	*process

	set        *engine.Engines // nil when every address is given
	clickhouse clickhouse.Config
	postgres   postgres.Config
	kafka      producer.Connection

	db        *postgres.DB
	warehouse *clickhouse.Conn
}

// open finds the engines. Those without an address are joined or started under the data directory; exclusive starts them
// for a service at an address, and never joins.
func (p *process) open(ctx context.Context, need needs, exclusive bool, address string) (*engines, error) {
	if err := p.Settings.Validate(); err != nil {
		return nil, usageError{err}
	}
	e := &engines{process: p, clickhouse: clickhouse.DefaultConfig(), postgres: postgres.DefaultConfig()}
	e.clickhouse.DSN, e.clickhouse.Shards, e.postgres.DSN = p.ClickHouse.Reveal(), p.Shards.Reveal(), p.Postgres.Reveal()
	if p.Shards.IsSet() {
		e.clickhouse.Cluster = p.Cluster
	}
	e.kafka = producer.Connection{
		Brokers: p.Kafka.Brokers, TLS: p.Kafka.TLS, Trust: p.Kafka.Trust,
		Mechanism: p.Kafka.SASL, Username: p.KafkaUsername, Password: p.KafkaPassword,
	}
	if p.ClickHouseTrust.IsSet() {
		var err error
		if e.clickhouse.TLS, err = p.ClickHouseTrust.TLS(); err != nil {
			return nil, fmt.Errorf("reach clickhouse: %w", err)
		}
	}
	embedded := p.embedded(need)
	if embedded == (needs{}) {
		return e, nil
	}
	options := engine.Options{
		DataDir: p.DataDir, ClickHouse: embedded.ClickHouse, Postgres: embedded.Postgres, Kafka: embedded.Kafka,
		Owner: p.command, Exclusive: exclusive, Address: address, Log: p.log,
	}
	if embedded.ClickHouse {
		// Before the engine reads them; of joined engines that is their owner's task.
		options.Prepare = func() error { return p.renewAnalysts(p.usersDir(usersAt{})) }
	}
	var err error
	if e.set, err = engine.Open(ctx, options); err != nil {
		return nil, err
	}
	if embedded.ClickHouse {
		e.clickhouse.DSN = e.set.ClickHouse()
	}
	if embedded.Postgres {
		e.postgres.DSN = e.set.Postgres()
	}
	if embedded.Kafka {
		e.kafka.Brokers = e.set.Kafka()
	}
	return e, nil
}

// embedded are those of need that have no address of their own.
func (p *process) embedded(need needs) needs {
	return needs{
		ClickHouse: need.ClickHouse && !p.HasWarehouse(),
		Postgres:   need.Postgres && !p.Postgres.IsSet(),
		Kafka:      need.Kafka && len(p.Kafka.Brokers) == 0,
	}
}

// lost is closed when an engine of the data directory is gone; never when there is none.
func (e *engines) lost() <-chan struct{} {
	if e.set == nil {
		return nil
	}
	return e.set.Lost()
}

// stopTimeout is how long engines of this process may take to stop in order before they are killed with it.
const stopTimeout = 30 * time.Second

// close stops the engines that this process owns.
func (e *engines) close() error {
	if e.set == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if err := e.set.Stop(ctx); err != nil {
		return fmt.Errorf("stop engines: %w", err)
	}
	return nil
}

// connect opens clients of the stores among need.
func (e *engines) connect(ctx context.Context, need needs) (err error) {
	if need.Postgres {
		if e.db, err = postgres.Open(ctx, e.postgres); err != nil {
			return err
		}
	}
	if need.ClickHouse {
		e.warehouse, err = clickhouse.Open(ctx, e.clickhouse)
	}
	return err
}

func (e *engines) disconnect() {
	if e.db != nil {
		e.db.Close()
	}
	if e.warehouse != nil {
		_ = e.warehouse.Close() // the command is over
	}
}

// brand finds an organization and its brand by their slugs; "" is no brand.
func (e *engines) brand(ctx context.Context, org, slug string) (o postgres.Organization, b postgres.Brand, err error) {
	if o, err = e.db.OrganizationBySlug(ctx, org); err == nil && slug != "" {
		b, err = e.db.BrandBySlug(ctx, o.ID, slug)
	}
	return o, b, err
}

// endTimeout is how long a command has to end by itself once its engines are gone.
const endTimeout = 7 * time.Second

// with runs a short command on the engines that it needs, with up-to-date schemas, and closes them. When engines that it
// has joined go away, the command is cancelled and returns what it has achieved as its error; one that does not return
// is left behind, because the process ends anyway.
func (p *process) with(ctx context.Context, need needs, do func(context.Context, *engines) error) error {
	e, err := p.open(ctx, need, false, "")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan error, 1)
	go func() { done <- e.connected(ctx, need, do) }()
	select {
	case err = <-done:
	case <-e.lost():
		cancel(e.set.Err())
		select {
		case err = <-done:
		case <-time.After(endTimeout):
			err = errors.New("gave up what was under way")
		}
		err = errors.Join(e.set.Err(), err)
	}
	return errors.Join(err, e.close())
}

func (e *engines) connected(ctx context.Context, need needs, do func(context.Context, *engines) error) error {
	if err := e.upToDate(ctx, need); err != nil {
		return err
	}
	defer e.disconnect()
	if err := e.connect(ctx, need); err != nil {
		return err
	}
	return do(ctx, e)
}
