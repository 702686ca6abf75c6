package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
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
that reads on is refused. Analysts are let into new tables and
views; for those of a ClickHouse that is not embedded, say with --users-dir where their files are.

Example:

  ANSWERSCOPE_POSTGRES_DSN=… ANSWERSCOPE_CLICKHOUSE_DSN=… ANSWERSCOPE_KAFKA_BROKERS=kafka:9092 answerscope migrate`
}

// errPending says that `migrate --check` has listed something.
var errPending = errors.New("migrations are pending; run: answerscope migrate")

func (c *migrate) Run(ctx context.Context, p *process) error {
	everything := needs{clickhouse: true, postgres: true, kafka: true}
	e, err := p.open(ctx, everything, ownership{command: "migrate"})
	if err != nil {
		return err
	}
	steps, err := p.pending(ctx, everything, e)
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

// renewAnalysts gives the analysts of a users.d what this release has; nothing where there is none.
func (p *process) renewAnalysts(usersDir string) error {
	if usersDir == "" {
		return nil
	}
	renewed, err := clickhouse.RenewAnalysts(usersDir)
	for _, login := range renewed {
		p.log.Info("analyst renewed", "login", login)
	}
	return err
}

func (c *migrate) list(p *process, steps []step) error {
	for _, s := range steps {
		if c.JSON {
			if err := p.printJSON(s); err != nil {
				return err
			}
			continue
		}
		if err := p.print(s.String()); err != nil {
			return err
		}
	}
	if len(steps) > 0 {
		return errPending
	}
	return nil
}

// A step is one thing that is not as this binary wants it.
type step struct {
	Store string `json:"store"` // postgres, clickhouse or kafka
	Name  string `json:"name"`
}

func (s step) String() string { return s.Store + " " + s.Name }

// pending lists what must be done in the stores of need, in order.
func (p *process) pending(ctx context.Context, need needs, e *engines) ([]step, error) {
	var steps []step
	add := func(store string, names []string) {
		for _, name := range names {
			steps = append(steps, step{store, name})
		}
	}
	if need.postgres {
		names, err := postgres.Pending(ctx, e.postgres)
		if err != nil {
			return nil, err
		}
		add("postgres", names)
	}
	if need.clickhouse {
		names, err := clickhouse.Pending(ctx, e.clickhouseConfig())
		if err != nil {
			return nil, err
		}
		add("clickhouse", names)
	}
	if need.kafka {
		topics, err := producer.CheckTopics(ctx, p.topics(e))
		if err != nil {
			return nil, err
		}
		for _, t := range topics {
			if t.Missing {
				add("kafka", []string{"topic " + t.Name})
			}
			if len(t.Differs) > 0 {
				p.log.Warn("topic is not as configured and is used as it is", "topic", t.Name, "differs", strings.Join(t.Differs, "; "),
					"next", "nothing, if that is meant; else change the topic, or the setting")
			}
		}
	}
	return steps, nil
}

// migrate does the steps of the stores of need, under the lock, telling each as it is done.
func (p *process) migrate(ctx context.Context, need needs, e *engines, steps []step) error {
	if len(steps) == 0 {
		return nil
	}
	done := 0
	tell := func(store, name string) {
		done++
		p.tell("migrate %d of %d: %s %s", done, max(done, len(steps)), store, name)
	}
	return postgres.WithMigrationLock(ctx, e.postgres, func() error {
		if need.postgres {
			if err := postgres.Migrate(ctx, e.postgres, func(_ uint, name string) { tell("postgres", name) }); err != nil {
				return err
			}
		}
		if need.clickhouse {
			open, err := p.openBatches(ctx, e, steps)
			if err != nil {
				return err
			}
			if err := clickhouse.Migrate(ctx, e.clickhouseConfig(), func(name string) { tell("clickhouse", name) }, open...); err != nil {
				return err
			}
		}
		if !need.kafka {
			return nil
		}
		topics, err := producer.CreateTopics(ctx, p.topics(e))
		for _, t := range topics {
			if t.Missing {
				tell("kafka", fmt.Sprintf("topic %s, %d partitions", t.Name, t.Partitions))
			}
		}
		return err
	})
}

// openBatches are what an upgrade of the warehouse must know of the log: a batch of answers that was planned and not
// committed is replayed on the new tables.
func (p *process) openBatches(ctx context.Context, e *engines, steps []step) ([]clickhouse.Below, error) {
	var pending []string
	for _, s := range steps {
		if s.Store == "clickhouse" {
			pending = append(pending, s.Name)
		}
	}
	if !clickhouse.Upgrades(pending) {
		return nil, nil
	}
	if len(e.brokers) == 0 {
		return nil, errors.New("the tables of clickhouse are an earlier release's, and what is under way in kafka is not known here; run: answerscope migrate")
	}
	topic := p.Kafka.TopicPrefix + event.TopicAnswers
	batches, err := consume.OpenBatches(ctx, p.kafka(e), p.Kafka.TopicPrefix+groupOfAnswers, topic)
	var open []clickhouse.Below
	for _, b := range batches {
		p.log.Info("open batch is left to its replay", "topic", topic, "partition", b.Partition, "first", b.First)
		open = append(open, clickhouse.Below{Topic: topic, Partition: b.Partition, Offset: b.First})
	}
	return open, err
}

// upToDate brings up the stores that this process has started, and refuses to work on others that are behind.
func (p *process) upToDate(ctx context.Context, need needs, e *engines) error {
	mine := needs{}
	if e.own() {
		mine = p.inside(need)
	}
	patience, done := context.WithTimeout(ctx, ownerPatience)
	defer done()
	for {
		steps, err := p.pending(ctx, need, e)
		if err != nil {
			return err
		}
		if err := p.migrate(ctx, mine, e, steps); err != nil {
			return err
		}
		behind := slices.IndexFunc(steps, func(s step) bool { return !mine.holds(s.Store) })
		if behind < 0 {
			return nil
		}
		if joined := e.set != nil && e.set.Joined(); joined && lifecycle.Pause(patience, 200*time.Millisecond) == nil {
			continue
		}
		return fmt.Errorf("%s is behind this binary (%s is pending); run: answerscope migrate", steps[behind].Store, steps[behind].Name)
	}
}

// inside are those of need that have no address of their own.
func (p *process) inside(need needs) needs {
	return needs{
		clickhouse: need.clickhouse && !p.HasWarehouse(),
		postgres:   need.postgres && !p.Postgres.IsSet(),
		kafka:      need.kafka && len(p.Kafka.Brokers) == 0,
	}
}

// ownerPatience is how long the owner of joined engines may take to bring its stores up: they can be joined as soon as
// they run.
const ownerPatience = 30 * time.Second

func (n needs) holds(store string) bool {
	return n.postgres && store == "postgres" || n.clickhouse && store == "clickhouse" || n.kafka && store == "kafka"
}

// topics is how the topics of the log are made.
func (p *process) topics(e *engines) producer.TopicsConfig {
	return producer.TopicsConfig{
		Connection: p.kafka(e), Prefix: p.Kafka.TopicPrefix,
		Partitions: p.Kafka.Partitions, Replicas: p.Kafka.Replicas, Retention: p.Kafka.Retention,
	}
}
