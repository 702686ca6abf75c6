package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/answerscope/answerscope/internal/service"
	"github.com/answerscope/answerscope/pipeline"
	"github.com/answerscope/answerscope/pipeline/upkeep"
	"github.com/answerscope/answerscope/sql/clickhouse/schema"
	"github.com/answerscope/answerscope/sql/postgres"
)

// clusterCmd groups the commands that make an installation larger.
type clusterCmd struct {
	AddShard      addShardCmd      `cmd:"" help:"Take another ClickHouse server, or several replicas, as a shard."`
	AddReplica    addReplicaCmd    `cmd:"" help:"Take another ClickHouse server as a replica of a shard."`
	AddPartitions addPartitionsCmd `cmd:"" help:"Give every topic more partitions, so that more pipelines share them."`
}

// growthFlags are common to the commands of cluster.
type growthFlags struct {
	Check bool `help:"Change nothing; print the steps that remain and exit 1 if any does."`
	JSON  bool `name:"json" help:"One JSON object a line."`
}

// A growth lists its steps, and what each must wait for.
type growth interface {
	Pending(ctx context.Context) ([]upkeep.Step, error)
	CheckMoment(ctx context.Context) error
	Add(ctx context.Context) error
}

// errStepsRemain is the result of --check where the steps could be done now.
var errStepsRemain = errors.New("these steps remain; run it again without --check")

// grow does the steps that remain while no other process migrates or grows.
func (f growthFlags) grow(ctx context.Context, p *process, on *service.Engines, g growth) error {
	return postgres.WithMigrationLock(ctx, on.Owner, func() error {
		steps, err := g.Pending(ctx)
		if err != nil || len(steps) == 0 {
			return err
		}
		if !f.Check {
			if err := g.Add(ctx); err != nil {
				return err
			}
			return printList(p, f.JSON, steps, upkeep.Step.String)
		}
		if err := printList(p, f.JSON, steps, upkeep.Step.String); err != nil {
			return err
		}
		if err := g.CheckMoment(ctx); err != nil {
			return err
		}
		return errStepsRemain
	})
}

// addPartitionsCmd is the command cluster add-partitions.
type addPartitionsCmd struct {
	Partitions int `arg:"" help:"How many each topic is to have."`
	growthFlags
}

// Validate wants a number that Kafka takes.
func (c *addPartitionsCmd) Validate() error {
	if c.Partitions < 1 {
		return fmt.Errorf("%d partitions: want 1 or more", c.Partitions)
	}
	return nil
}

func (c *addPartitionsCmd) Run(ctx context.Context, p *process) error {
	on, err := p.connect(ctx, service.Needs{Postgres: true, Kafka: true})
	if err != nil {
		return err
	}
	topics := on.Migrator().Topics
	topics.Partitions = c.Partitions
	return c.grow(ctx, p, on, &upkeep.PartitionGrowth{
		DB: on.DB, Topics: topics, Readers: pipeline.KeyedReaders(topics.Prefix), Still: 5 * time.Second,
	})
}

// addShardCmd is the command cluster add-shard.
type addShardCmd struct {
	Hosts string `arg:"" help:"host:port of its server; of replicas, separated by commas."`
	growthFlags
}

func (c *addShardCmd) Run(ctx context.Context, p *process) error {
	on, err := p.connect(ctx, service.Control)
	if err != nil {
		return err
	}
	cluster, err := on.ClickHouse.WithShard(c.Hosts)
	if err != nil {
		return usageError{err}
	}
	return c.grow(ctx, p, on, &upkeep.ShardGrowth{DB: on.DB, ClickHouse: cluster, Report: p.sayStep})
}

// addReplicaCmd is the command cluster add-replica.
type addReplicaCmd struct {
	Host string `arg:"" help:"host:port of the server."`
	growthFlags
}

func (c *addReplicaCmd) Run(ctx context.Context, p *process) error {
	on, err := p.connect(ctx, service.Control)
	if err != nil {
		return err
	}
	shard, err := schema.ShardOfReplica(ctx, on.ClickHouse, c.Host)
	if err != nil {
		return err
	}
	cluster, err := on.ClickHouse.WithReplica(shard, c.Host)
	if err != nil {
		return usageError{err}
	}
	return c.grow(ctx, p, on, &upkeep.ReplicaGrowth{ClickHouse: cluster, Host: c.Host, Report: p.sayStep})
}

// sayStep prints a step of ClickHouse before it is done.
func (p *process) sayStep(step string) { p.say("clickhouse %s", step) }
