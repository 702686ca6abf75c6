package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/answerscope/answerscope/internal/service"
	"github.com/answerscope/answerscope/pipeline"
	"github.com/answerscope/answerscope/pipeline/upkeep"
	"github.com/answerscope/answerscope/sql/postgres"
)

// clusterCmd groups the commands that make an installation larger. ClickHouse grows by migrate.
type clusterCmd struct {
	AddPartitions addPartitionsCmd `cmd:"" help:"Give every topic more partitions, so that more pipelines share them."`
}

// addPartitionsCmd is the command cluster add-partitions.
type addPartitionsCmd struct {
	Partitions int  `arg:"" help:"How many each topic is to have."`
	Check      bool `help:"Change nothing; print the steps that remain and exit 1 if any does."`
	JSON       bool `name:"json" help:"One JSON object a line."`
}

// Validate wants a number that Kafka takes.
func (c *addPartitionsCmd) Validate() error {
	if c.Partitions < 1 {
		return fmt.Errorf("%d partitions: want 1 or more", c.Partitions)
	}
	return nil
}

// errStepsRemain is the result of --check where the steps could be done now.
var errStepsRemain = errors.New("these steps remain; run it again without --check")

// Run does the steps that remain while no other process migrates.
func (c *addPartitionsCmd) Run(ctx context.Context, p *process) error {
	on, err := p.connect(ctx, service.Needs{Postgres: true, Kafka: true})
	if err != nil {
		return err
	}
	topics := on.Migrator().Topics
	topics.Partitions = c.Partitions
	g := &upkeep.PartitionGrowth{
		DB: on.DB, Topics: topics, Readers: pipeline.KeyedReaders(topics.Prefix), Still: 5 * time.Second,
	}
	return postgres.WithMigrationLock(ctx, on.Owner, func() error {
		steps, err := g.Pending(ctx)
		if err != nil || len(steps) == 0 {
			return err
		}
		if !c.Check {
			if err := g.Add(ctx); err != nil {
				return err
			}
			return printList(p, c.JSON, steps, upkeep.Step.String)
		}
		if err := printList(p, c.JSON, steps, upkeep.Step.String); err != nil {
			return err
		}
		if err := g.CheckMoment(ctx); err != nil {
			return err
		}
		return errStepsRemain
	})
}
