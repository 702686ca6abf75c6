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

// errPending says that `migrate --check` has listed something.
var errPending = errors.New("migrations are pending; run: answerscope migrate")

func (c *migrate) Run(ctx context.Context, p *process) error {
	e, err := p.open(ctx, everything, false, "")
	if err != nil {
		return err
	}
	steps, err := e.migrator().Pending(ctx, everything)
	switch {
	case err != nil:
	case c.Check:
		if err = printList(p, c.JSON, steps, migration.Step.String); err == nil && len(steps) > 0 {
			err = errPending
		}
	default:
		if err = e.migrate(ctx, everything, steps); err == nil {
			err = p.renewAnalysts(p.usersDir(c.usersAt))
		}
	}
	return errors.Join(err, e.close())
}

func (e *engines) migrator() *migration.Migrator {
	m := &migration.Migrator{
		Postgres: e.postgres.DSN, ClickHouse: e.clickhouse, Log: e.log,
		Topics: producer.TopicsConfig{
			Connection: e.kafka, Prefix: e.Kafka.TopicPrefix,
			Partitions: e.Kafka.Partitions, Replicas: e.Kafka.Replicas, Retention: e.Kafka.Retention,
		},
	}
	for group, topic := range sinks {
		m.Sinks = append(m.Sinks, migration.Sink{Group: e.Kafka.TopicPrefix + group, Topic: e.Kafka.TopicPrefix + topic, Landing: topic})
	}
	return m
}

// migrate does the pending steps of the selected stores, and says on stderr which are done.
func (e *engines) migrate(ctx context.Context, in needs, pending []migration.Step) error {
	if len(pending) == 0 {
		return nil
	}
	done := 0
	return e.migrator().Migrate(ctx, in, pending, func(s migration.Step) {
		done++
		e.say("migrate %d of %d: %s", done, max(done, len(pending)), s)
	})
}

// upToDate brings up the stores that this process has started, and refuses to work on others that are behind.
func (e *engines) upToDate(ctx context.Context, need needs) error {
	own, joined := needs{}, e.set != nil && e.set.Joined()
	if e.set != nil && !joined {
		own = e.embedded(need)
	}
	waiting, done := context.WithTimeout(ctx, ownerTimeout)
	defer done()
	for {
		steps, err := e.migrator().Pending(ctx, need)
		if err != nil {
			return err
		}
		if own != (needs{}) {
			if err := e.migrate(ctx, own, steps); err != nil {
				return err
			}
		}
		behind := slices.IndexFunc(steps, func(s migration.Step) bool { return !own.Has(s) })
		if behind < 0 {
			return nil
		}
		if joined && lifecycle.Pause(waiting, 200*time.Millisecond) == nil {
			continue
		}
		return fmt.Errorf("%s is behind this binary (%s is pending); run: answerscope migrate", steps[behind].Store, steps[behind].Name)
	}
}

// ownerTimeout is how long the owner of joined engines may take to bring its stores up: they can be joined as soon as
// they run.
const ownerTimeout = 30 * time.Second
