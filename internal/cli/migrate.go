package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/pipeline/upkeep"
)

// migrateCmd brings up what records and rows are kept in.
type migrateCmd struct {
	Check bool `help:"Change nothing; print what is pending and exit 1 if anything is."`
	JSON  bool `name:"json" help:"One JSON object a line."`
	usersDirFlag
}

// errPending says that `migrate --check` has listed something.
var errPending = errors.New("migrations are pending; run: answerscope migrate")

func (c *migrateCmd) Run(ctx context.Context, p *process) error {
	e, err := p.open(ctx, everything, false, "")
	if err != nil {
		return err
	}
	migrator := e.migrator()
	steps, err := migrator.Pending(ctx, everything)
	switch {
	case err != nil:
	case migrator.Newer != nil:
		err = fmt.Errorf("%w; run that release, or a later one", migrator.Newer)
	case c.Check:
		if err = printList(p, c.JSON, steps, upkeep.Step.String); err == nil && len(steps) > 0 {
			err = errPending
		}
	default:
		if err = migrator.Migrate(ctx, everything, steps); err == nil {
			err = p.renewAnalysts(p.usersDir(c.usersDirFlag))
		}
	}
	return errors.Join(err, e.close())
}

func (e *engines) migrator() *upkeep.Migrator {
	return &upkeep.Migrator{
		Postgres: e.postgresOwner, ClickHouse: e.clickhouseConfig, Sinks: e.sinks(), Log: e.log,
		Report: func(done, pending int, s upkeep.Step) { e.say("migrate %d of %d: %s", done, pending, s) },
		Topics: producer.TopicsConfig{
			Connection: e.kafkaConnection, Prefix: e.settings.Kafka.TopicPrefix,
			Partitions: e.settings.Kafka.Partitions, Replicas: e.settings.Kafka.Replicas, Retention: e.settings.Kafka.Retention,
		},
	}
}

// upToDate brings up the stores that this process has started, and refuses to work on others that are behind.
func (e *engines) upToDate(ctx context.Context, need needs) error {
	joined, started := e.running != nil && e.running.Joined(), needs{}
	if e.running != nil && !joined {
		started = e.embedded(need)
	}
	return e.migrator().Ensure(ctx, need, started, joined)
}
