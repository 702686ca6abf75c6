package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/pipeline/migration"
)

// migrate brings up what records and rows are kept in.
type migrate struct {
	Check bool `help:"Change nothing; print what is pending and exit 1 if anything is."`
	JSON  bool `name:"json" help:"One JSON object a line."`
	usersAt
}

func (migrate) Help() string {
	return `Brings up the schemas of PostgreSQL and ClickHouse and the topics of Kafka, under one lock. It may be killed and run
again at any point, and does nothing where nothing is pending. Stop every pipeline of an earlier release first: a group
that reads on is refused. Analysts get access to new tables and views; for those of a ClickHouse that is not embedded, say
with --users-dir where their files are.

Example:

  ANSWERSCOPE_POSTGRES_DSN=… ANSWERSCOPE_CLICKHOUSE_DSN=… ANSWERSCOPE_KAFKA_BROKERS=kafka:9092 answerscope migrate`
}

// errPending says that `migrate --check` has listed something.
var errPending = errors.New("migrations are pending; run: answerscope migrate")

func (c *migrate) Run(ctx context.Context, p *process) error {
	e, err := p.open(ctx, everything, ownership{command: "migrate"})
	if err != nil {
		return err
	}
	steps, err := p.migrator(e).Pending(ctx, everything)
	switch {
	case err != nil:
	case c.Check:
		err = c.list(p, steps)
	default:
		if err = p.migrate(ctx, everything, e, steps); err == nil {
			err = p.renewAnalysts(p.usersDir(c.usersAt))
		}
	}
	return errors.Join(err, e.close())
}

func (c *migrate) list(p *process, steps []migration.Step) error {
	if err := printList(p, c.JSON, steps, migration.Step.String); err != nil {
		return err
	}
	if len(steps) > 0 {
		return errPending
	}
	return nil
}

func (p *process) migrator(e *engines) *migration.Migrator {
	m := &migration.Migrator{
		Postgres: e.postgres, ClickHouse: e.clickhouseConfig(), Log: p.log,
		Topics: producer.TopicsConfig{
			Connection: p.kafka(e), Prefix: p.Kafka.TopicPrefix,
			Partitions: p.Kafka.Partitions, Replicas: p.Kafka.Replicas, Retention: p.Kafka.Retention,
		},
	}
	for group, topic := range sinks {
		m.Sinks = append(m.Sinks, migration.Sink{Group: p.Kafka.TopicPrefix + group, Topic: p.Kafka.TopicPrefix + topic, Landing: topic})
	}
	return m
}

// migrate does the pending steps of the selected stores, and says on stderr which are done.
func (p *process) migrate(ctx context.Context, in needs, e *engines, pending []migration.Step) error {
	if len(pending) == 0 {
		return nil
	}
	done := 0
	return p.migrator(e).Migrate(ctx, in, pending, func(s migration.Step) {
		done++
		p.say("migrate %d of %d: %s", done, max(done, len(pending)), s)
	})
}

// upToDate brings up the stores that this process has started, and refuses to work on others that are behind.
func (p *process) upToDate(ctx context.Context, need needs, e *engines) error {
	own := needs{}
	if e.own() {
		own = p.embedded(need)
	}
	waiting, done := context.WithTimeout(ctx, ownerTimeout)
	defer done()
	for {
		steps, err := p.migrator(e).Pending(ctx, need)
		if err != nil {
			return err
		}
		if own != (needs{}) {
			if err := p.migrate(ctx, own, e, steps); err != nil {
				return err
			}
		}
		behind := slices.IndexFunc(steps, func(s migration.Step) bool { return !own.Has(s) })
		if behind < 0 {
			return nil
		}
		if joined := e.set != nil && e.set.Joined(); joined && lifecycle.Pause(waiting, 200*time.Millisecond) == nil {
			continue
		}
		return fmt.Errorf("%s is behind this binary (%s is pending); run: answerscope migrate", steps[behind].Store, steps[behind].Name)
	}
}

// ownerTimeout is how long the owner of joined engines may take to bring its stores up: they can be joined as soon as
// they run.
const ownerTimeout = 30 * time.Second
