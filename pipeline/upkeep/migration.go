// Package upkeep keeps the stores in order beside the sinks: it migrates them, copies edits to the warehouse, purges
// deleted brands, lets months expire and replays dead letters.
package upkeep

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/clickhouse/schema"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Stores is a selection of the three.
type Stores struct{ ClickHouse, Postgres, Kafka bool }

// Has reports whether the store of a step is selected.
func (s Stores) Has(step Step) bool {
	return map[string]bool{"postgres": s.Postgres, "clickhouse": s.ClickHouse, "kafka": s.Kafka}[step.Store]
}

// A Step is one pending migration, view, function or topic.
type Step struct {
	Store string `json:"store"` // postgres, clickhouse or kafka
	Name  string `json:"name"`
}

func (s Step) String() string { return s.Store + " " + s.Name }

// A Migrator brings the stores up to this binary under one lock: the schema of PostgreSQL, the schema of ClickHouse,
// then the topics of Kafka. PostgreSQL has the lock, so its address is needed to migrate any of them.
type Migrator struct {
	Postgres   string // DSN
	ClickHouse clickhouse.Config
	Topics     producer.TopicsConfig
	Sinks      []consume.SinkGroup             // every consumer group that inserts into a landing table
	Report     func(done, pending int, s Step) // called after each step
	Log        *slog.Logger
	Growing    bool // Pending lists also the steps that let a cluster grow

	Newer error // of the stores that a newer release has migrated; set by Pending
}

// Pending lists the steps of the selected stores, in order. A store that a newer release has migrated has none, and is
// added to Newer.
func (m *Migrator) Pending(ctx context.Context, in Stores) ([]Step, error) {
	var steps []Step
	add := func(store string, names ...string) {
		for _, name := range names {
			steps = append(steps, Step{store, name})
		}
	}
	if in.Postgres {
		names, err := postgres.Pending(ctx, m.Postgres)
		if err = m.unlessNewer(err, postgres.ErrNewer); err != nil {
			return nil, err
		}
		add("postgres", names...)
	}
	if in.ClickHouse {
		pending := schema.Pending
		if m.Growing {
			pending = schema.PendingGrowth
		}
		names, err := pending(ctx, m.ClickHouse)
		if err = m.unlessNewer(err, schema.ErrNewer); err != nil {
			return nil, err
		}
		add("clickhouse", names...)
	}
	if !in.Kafka {
		return steps, nil
	}
	topics, err := producer.CheckTopics(ctx, m.Topics)
	for _, t := range topics {
		if t.Missing {
			add("kafka", "topic "+t.Name)
		}
		if len(t.Differs) > 0 {
			m.Log.Warn("topic is not as configured and is used as it is",
				"topic", t.Name, "differs", strings.Join(t.Differs, "; "),
				"next", "nothing, if that is meant; else change the topic, or the setting")
		}
	}
	return steps, err
}

// unlessNewer adds the error of a store that is newer than this binary to Newer, and returns other errors.
func (m *Migrator) unlessNewer(err, newer error) error {
	if !errors.Is(err, newer) {
		return err
	}
	if !errors.Is(m.Newer, newer) {
		m.Newer = errors.Join(m.Newer, err)
	}
	return nil
}

// WarnNewer logs Newer, for a process that works on newer stores as they are.
func (m *Migrator) WarnNewer() {
	if m.Newer != nil {
		m.Log.Warn("schema is newer than this binary", "cause", m.Newer,
			"next", "start the release that has migrated it, here too")
	}
}

// Migrate brings the selected stores up, if anything is pending, and reports each step. It may be killed and run again
// at any point.
func (m *Migrator) Migrate(ctx context.Context, in Stores, pending []Step) error {
	if len(pending) == 0 {
		return nil
	}
	done := 0
	report := func(s Step) {
		done++
		m.Report(done, max(done, len(pending)), s)
	}
	return postgres.WithMigrationLock(ctx, m.Postgres, func() error {
		if in.Postgres {
			step := func(_ uint, name string) { report(Step{"postgres", name}) }
			if err := postgres.Migrate(ctx, m.Postgres, step); err != nil {
				return err
			}
		}
		if in.ClickHouse {
			if err := m.suspectOpenBatches(ctx, pending); err != nil {
				return err
			}
			step := func(name string) { report(Step{"clickhouse", name}) }
			if err := schema.Replicate(ctx, m.ClickHouse, m.lockSinks(ctx), step); err != nil {
				return err
			}
			if err := schema.Migrate(ctx, m.ClickHouse, step); err != nil {
				return err
			}
		}
		if !in.Kafka {
			return nil
		}
		topics, err := producer.CreateTopics(ctx, m.Topics)
		for _, t := range topics {
			if t.Missing {
				report(Step{"kafka", fmt.Sprintf("topic %s, %d partitions", t.Name, t.Partitions)})
			}
		}
		return err
	})
}

// lockSinks returns a function that keeps the sinks of a shard from inserting until release.
func (m *Migrator) lockSinks(ctx context.Context) func(shard int) (release func() error, err error) {
	return func(shard int) (func() error, error) {
		c := postgres.DefaultConfig()
		c.DSN, c.Command = m.Postgres, "migrate"
		db, err := postgres.Open(ctx, c)
		if err != nil {
			return nil, err
		}
		lock, err := db.LockSinksExclusive(ctx, shard, sinksTimeout)
		if err != nil {
			db.Close()
			return nil, err
		}
		return func() error { defer db.Close(); return lock.Release() }, nil
	}
}

// suspectOpenBatches marks the months in which batches have rows that were planned and not committed, before rollups
// are rebuilt: a rebuild counts those rows, and their replay adds them to a rollup that lacks the batch's token. Once
// they are replayed their months are reconciled.
func (m *Migrator) suspectOpenBatches(ctx context.Context, pending []Step) error {
	var names []string
	for _, s := range pending {
		if s.Store == "clickhouse" {
			names = append(names, s.Name)
		}
	}
	if !schema.Rebuilds(names) {
		return nil
	}
	if len(m.Topics.Brokers) == 0 {
		return errors.New("rollups of clickhouse are to be rebuilt, and kafka's open batches are unknown " +
			"without its address; run: answerscope migrate")
	}
	conn, err := clickhouse.Open(ctx, m.ClickHouse)
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, sink := range m.Sinks {
		batches, err := consume.OpenBatches(ctx, m.Topics.Connection, sink.Group, sink.Topic)
		if err != nil {
			return err
		}
		for _, b := range batches {
			first := clickhouse.LogPosition{Topic: sink.Topic, Partition: b.Partition, Offset: b.Committed}
			m.Log.Info("months of an open batch are reconciled after its replay", "batch", first.String())
			if err := clickhouse.MarkSuspectsFrom(ctx, conn, sink.Landing, first); err != nil {
				return err
			}
		}
	}
	return nil
}

// sinksTimeout is how long batches that are under way may take to end.
const sinksTimeout = 10 * time.Second

// ownerTimeout is how long the owner of joined engines may take to migrate its stores: they can be joined as soon as
// they run.
const ownerTimeout = 30 * time.Second

// Ensure migrates the selected stores that this process has started, and returns an error if others are behind. Newer
// stores it leaves as they are. For stores of joined engines it waits until their owner has migrated them.
func (m *Migrator) Ensure(ctx context.Context, in, started Stores, joined bool) error {
	waiting, done := context.WithTimeout(ctx, ownerTimeout)
	defer done()
	for {
		steps, err := m.Pending(ctx, in)
		if err != nil {
			return err
		}
		if started != (Stores{}) {
			if err := m.Migrate(ctx, started, steps); err != nil {
				return err
			}
		}
		behind := slices.IndexFunc(steps, func(s Step) bool { return !started.Has(s) })
		if behind < 0 {
			m.WarnNewer()
			return nil
		}
		if joined && lifecycle.Pause(waiting, 200*time.Millisecond) == nil {
			continue
		}
		step := steps[behind]
		return fmt.Errorf("%s is behind this binary (%s is pending); run: answerscope migrate", step.Store, step.Name)
	}
}
