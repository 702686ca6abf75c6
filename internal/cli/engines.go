package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/answerscope/answerscope/deploy/engine"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/config"
	"github.com/answerscope/answerscope/internal/disk"
	"github.com/answerscope/answerscope/pipeline/upkeep"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// needs are the engines that a command works with.
type needs = upkeep.Stores

var (
	everything  = needs{ClickHouse: true, Postgres: true, Kafka: true}
	onlyControl = needs{Postgres: true}
	bothStores  = needs{ClickHouse: true, Postgres: true} // PostgreSQL has the lock under which an embedded schema is brought up
)

// engines are how a command reaches those that it needs: at given addresses, joined, or its own; and clients of its
// stores.
type engines struct {
	*process

	running          *engine.Engines // nil when every address is given
	clickhouseConfig clickhouse.Config
	postgresConfig   postgres.Config
	postgresGateway  string // its address with the login of /rest/v1; "": there is none
	postgresOwner    string // DSN of the login that migrates
	kafkaConnection  producer.Connection
	room             *disk.Watermark // of the data directory; nil when nothing is kept there

	db        *postgres.DB
	warehouse *clickhouse.Conn
}

// open finds the engines. Those without an address are joined or started under the data directory; exclusive starts
// them for a service at an address, and never joins.
func (p *process) open(ctx context.Context, need needs, exclusive bool, address string) (*engines, error) {
	if err := p.settings.Validate(); err != nil {
		return nil, usageError{err}
	}
	e := &engines{process: p, clickhouseConfig: clickhouse.DefaultConfig(), postgresConfig: postgres.DefaultConfig()}
	e.postgresConfig.Actor = p.actor()
	given := p.settings
	e.postgresConfig.DSN, e.postgresOwner, e.postgresGateway = given.Postgres.Reveal(), given.Postgres.Reveal(), given.Gateway.Reveal()
	e.clickhouseConfig.DSN, e.clickhouseConfig.Shards = given.ClickHouse.Reveal(), given.Shards.Reveal()
	if given.Shards.IsSet() {
		e.clickhouseConfig.Cluster = given.Cluster
	}
	e.kafkaConnection = producer.Connection{
		Brokers: given.Kafka.Brokers, TLS: given.Kafka.TLS, Trust: given.Kafka.Trust,
		Mechanism: given.Kafka.SASL, Username: given.KafkaUsername, Password: given.KafkaPassword,
	}
	if given.ClickHouseTrust.IsSet() {
		var err error
		if e.clickhouseConfig.TLS, err = given.ClickHouseTrust.TLS(); err != nil {
			return nil, fmt.Errorf("reach clickhouse: %w", err)
		}
	}
	embedded := p.embedded(need)
	if embedded == (needs{}) {
		return e, nil
	}
	e.room = disk.New(given.MinFree, given.DataDir)
	options := engine.Options{
		DataDir: given.DataDir, ClickHouse: embedded.ClickHouse, Postgres: embedded.Postgres, Kafka: embedded.Kafka,
		Owner: p.command, Exclusive: exclusive, Address: address, Room: e.room.Err, MinFree: given.MinFree, Log: p.log,
	}
	if embedded.ClickHouse {
		// Before the engine reads them; of joined engines that is their owner's task.
		options.Prepare = func() error { return p.renewAnalysts(p.usersDir(usersDirFlag{})) }
	}
	var err error
	if e.running, err = engine.Open(ctx, options); err != nil {
		return nil, err
	}
	if embedded.ClickHouse {
		e.clickhouseConfig.DSN = e.running.ClickHouse()
	}
	if embedded.Postgres {
		e.postgresConfig.DSN, e.postgresOwner, e.postgresGateway = e.running.PostgresService(), e.running.Postgres(), e.running.PostgresGateway()
	}
	if embedded.Kafka {
		e.kafkaConnection = embeddedKafka(e.running)
	}
	return e, nil
}

// embeddedKafka is how the embedded broker is reached by a process that may read the data directory.
func embeddedKafka(of *engine.Engines) producer.Connection {
	return producer.Connection{
		Brokers: of.Kafka(), Mechanism: engine.KafkaMechanism, Username: engine.KafkaUser, Password: config.NewSecret(of.KafkaPassword()),
	}
}

// embedded are those of need that have no address of their own.
func (p *process) embedded(need needs) needs {
	return needs{
		ClickHouse: need.ClickHouse && !p.settings.HasWarehouse(),
		Postgres:   need.Postgres && !p.settings.Postgres.IsSet(),
		Kafka:      need.Kafka && len(p.settings.Kafka.Brokers) == 0,
	}
}

// address is where the service answers whose engines were joined; "" without one.
func (e *engines) address() string {
	if e.running == nil {
		return ""
	}
	return e.running.Address()
}

// lost is closed when an engine of the data directory is gone; never when there is none.
func (e *engines) lost() <-chan struct{} {
	if e.running == nil {
		return nil
	}
	return e.running.Lost()
}

// stopTimeout is how long engines of this process may take to stop in order before they are killed with it.
const stopTimeout = 30 * time.Second

// close stops the engines that this process owns.
func (e *engines) close() error {
	if e.running == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if err := e.running.Stop(ctx); err != nil {
		return fmt.Errorf("stop engines: %w", err)
	}
	return nil
}

// connect opens clients of the stores among need.
func (e *engines) connect(ctx context.Context, need needs) (err error) {
	if need.Postgres {
		if e.db, err = postgres.Open(ctx, e.postgresConfig); err != nil {
			return err
		}
	}
	if need.ClickHouse {
		e.warehouse, err = clickhouse.Open(ctx, e.clickhouseConfig)
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

// organization finds an organization by its slug; the error of one that does not exist lists those that do.
func (e *engines) organization(ctx context.Context, slug string) (postgres.Organization, error) {
	o, err := e.db.OrganizationBySlug(ctx, slug)
	if !errors.Is(err, postgres.ErrNotFound) {
		return o, err
	}
	list, err := e.db.ListOrganizations(ctx)
	if err != nil {
		return o, err
	}
	return o, notFound("organization", slug, list, func(o postgres.Organization) string { return o.Slug }, "answerscope org add NAME")
}

// brand finds an organization and its brand by their slugs; "" is no brand.
func (e *engines) brand(ctx context.Context, org, slug string) (o postgres.Organization, b postgres.Brand, err error) {
	if o, err = e.organization(ctx, org); err != nil || slug == "" {
		return o, b, err
	}
	b, err = e.db.BrandBySlug(ctx, o.ID, slug)
	if errors.Is(err, postgres.ErrNotFound) {
		err = e.noBrand(ctx, o, slug)
	}
	return o, b, err
}

// noBrand says that an organization has no such brand, and which it has.
func (e *engines) noBrand(ctx context.Context, o postgres.Organization, name string) error {
	list, err := e.db.Brands(ctx, o.ID)
	if err != nil {
		return err
	}
	return notFound("brand", name, list, func(b postgres.Brand) string { return b.Slug }, "answerscope brand add NAME --org "+o.Slug)
}

// listedBy adds the command that lists what exists to an error that something does not; other errors stay.
func listedBy(command string, err error) error {
	if errors.Is(err, postgres.ErrNotFound) {
		return fmt.Errorf("%w; `%s` prints them", err, command)
	}
	return err
}

// notFound says what does not exist, what does instead, and how one is made.
func notFound[T any](what, name string, list []T, slug func(T) string, add string) error {
	if len(list) == 0 {
		return fmt.Errorf("%s %q %w: there is none yet; %s adds one", what, name, postgres.ErrNotFound, add)
	}
	var slugs []string
	for _, item := range list[:min(len(list), 20)] {
		slugs = append(slugs, slug(item))
	}
	more := ""
	if len(list) > len(slugs) {
		more = fmt.Sprintf(" and %d more", len(list)-len(slugs))
	}
	return fmt.Errorf("%s %q %w: want one of %s%s", what, name, postgres.ErrNotFound, strings.Join(slugs, ", "), more)
}

// endTimeout is how long a command has to end by itself once its engines are gone.
const endTimeout = 7 * time.Second

// with runs a short command on the engines that it needs, with up-to-date schemas, and closes them. When engines that
// it has joined go away, the command is cancelled and returns what it has achieved as its error; one that does not
// return is left behind, because the process ends anyway.
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
		cancel(e.running.Err())
		select {
		case err = <-done:
		case <-time.After(endTimeout):
			err = errors.New("gave up what was under way")
		}
		err = errors.Join(e.running.Err(), err)
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
