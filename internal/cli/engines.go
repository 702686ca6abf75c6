package cli

import (
	"context"
	"crypto/tls"
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

var everything = needs{ClickHouse: true, Postgres: true, Kafka: true}

// engines are the addresses of the engines: given ones, those of engines that the command has joined, or its own.
type engines struct {
	set        *engine.Engines // nil when every address is given
	shards     string          // DSNs with credentials, in place of clickhouse
	cluster    string          // the name that the servers of shards give their cluster
	clickhouse string          // DSN with credentials
	trust      *tls.Config     // nil: the system's trust
	postgres   string          // DSN with credentials
	brokers    []string
}

// own tells that the embedded engines were started by this process.
func (e *engines) own() bool { return e.set != nil && !e.set.Joined() }

// lost is closed when an engine of the data directory is gone; never when there is none.
func (e *engines) lost() <-chan struct{} {
	if e.set == nil {
		return nil
	}
	return e.set.Lost()
}

// ownership is how a command uses the data directory.
type ownership struct {
	command   string // its name, shown to other commands that want the directory
	exclusive bool   // own the engines, do not join another's
	address   string // where it serves
}

// open finds the engines. Those without an address are joined or started under the data directory.
func (p *process) open(ctx context.Context, need needs, how ownership) (*engines, error) {
	if err := p.Settings.Validate(); err != nil {
		return nil, usageError{err}
	}
	e := &engines{clickhouse: p.ClickHouse.Reveal(), shards: p.Shards.Reveal(), cluster: p.Cluster, postgres: p.Postgres.Reveal(), brokers: p.Kafka.Brokers}
	if p.ClickHouseTrust.IsSet() {
		var err error
		if e.trust, err = p.ClickHouseTrust.TLS(); err != nil {
			return nil, fmt.Errorf("reach clickhouse: %w", err)
		}
	}
	embedded := p.embedded(need)
	if embedded == (needs{}) {
		return e, nil
	}
	options := engine.Options{
		DataDir: p.DataDir, ClickHouse: embedded.ClickHouse, Postgres: embedded.Postgres, Kafka: embedded.Kafka,
		Owner: how.command, Exclusive: how.exclusive, Address: how.address, Log: p.log,
	}
	if embedded.ClickHouse {
		// Before the engine reads them; of joined engines that is their owner's task.
		options.Prepare = func() error { return p.renewAnalysts(p.usersDir(usersAt{})) }
	}
	set, err := engine.Open(ctx, options)
	if err != nil {
		return nil, err
	}
	e.set = set
	if embedded.ClickHouse {
		e.clickhouse = set.ClickHouse()
	}
	if embedded.Postgres {
		e.postgres = set.Postgres()
	}
	if embedded.Kafka {
		e.brokers = set.Kafka()
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

func (e *engines) openPostgres(ctx context.Context) (*postgres.DB, error) {
	cfg := postgres.DefaultConfig()
	cfg.DSN = e.postgres
	return postgres.Open(ctx, cfg)
}

func (e *engines) openClickHouse(ctx context.Context) (*clickhouse.Conn, error) {
	return clickhouse.Open(ctx, e.clickhouseConfig())
}

func (e *engines) clickhouseConfig() clickhouse.Config {
	cfg := clickhouse.DefaultConfig()
	cfg.DSN, cfg.Shards, cfg.TLS = e.clickhouse, e.shards, e.trust
	if e.shards != "" {
		cfg.Cluster = e.cluster
	}
	return cfg
}

// kafka is how the log is reached.
func (p *process) kafka(e *engines) producer.Connection {
	return producer.Connection{
		Brokers: e.brokers, TLS: p.Kafka.TLS, Trust: p.Kafka.Trust,
		Mechanism: p.Kafka.SASL, Username: p.KafkaUsername, Password: p.KafkaPassword,
	}
}

// connections are the engines of a short command, with clients of the stores that it needs.
type connections struct {
	*engines
	db        *postgres.DB
	warehouse *clickhouse.Conn
}

func (e *engines) connect(ctx context.Context, need needs) (c *connections, err error) {
	c = &connections{engines: e}
	if need.Postgres {
		if c.db, err = e.openPostgres(ctx); err != nil {
			return c, err
		}
	}
	if need.ClickHouse {
		c.warehouse, err = e.openClickHouse(ctx)
	}
	return c, err
}

func (c *connections) disconnect() {
	if c.db != nil {
		c.db.Close()
	}
	if c.warehouse != nil {
		_ = c.warehouse.Close() // the command is over
	}
}

// brand finds an organization and its brand by their slugs; "" is no brand.
func (c *connections) brand(ctx context.Context, org, slug string) (o postgres.Organization, b postgres.Brand, err error) {
	if o, err = c.db.OrganizationBySlug(ctx, org); err == nil && slug != "" {
		b, err = c.db.BrandBySlug(ctx, o.ID, slug)
	}
	return o, b, err
}

// endTimeout is how long a command has to end by itself once its engines are gone.
const endTimeout = 7 * time.Second

// with runs a short command on the engines that it needs, with up-to-date schemas, and closes them. When engines that it
// has joined go away, the command is cancelled and returns what it has achieved as its error; one that does not return
// is left behind, because the process ends anyway.
func (p *process) with(ctx context.Context, need needs, command string, do func(context.Context, *connections) error) error {
	e, err := p.open(ctx, need, ownership{command: command})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan error, 1)
	go func() { done <- p.connected(ctx, need, e, do) }()
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

func (p *process) connected(ctx context.Context, need needs, e *engines, do func(context.Context, *connections) error) error {
	if err := p.upToDate(ctx, need, e); err != nil {
		return err
	}
	c, err := e.connect(ctx, need)
	defer c.disconnect()
	if err != nil {
		return err
	}
	return do(ctx, c)
}
