package upkeep

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/sql/postgres"
)

// A PartitionGrowth adds partitions to the topics. A brand's records change partition with that: of its records one
// partition would be read beside the other, out of their order, and processes look the number up once. So every keyed
// record must have been read, and no process that appends some may run.
type PartitionGrowth struct {
	DB      *postgres.DB
	Topics  producer.TopicsConfig // with the number of partitions that is wanted
	Readers []consume.SinkGroup   // the groups that read records with keys
	Still   time.Duration         // how long nothing may be appended
}

// Pending lists the topics that have fewer partitions.
func (g *PartitionGrowth) Pending(ctx context.Context) (steps []Step, err error) {
	topics, err := producer.CheckTopics(ctx, g.Topics)
	if err != nil {
		return nil, err
	}
	for _, t := range topics {
		switch want := g.Topics.Partitions; {
		case t.Missing:
			return nil, fmt.Errorf("topic %s does not exist; run: answerscope migrate", t.Name)
		case t.Partitions > want:
			return nil, fmt.Errorf("topic %s has %d partitions: want as many or more, Kafka cannot take any away",
				t.Name, t.Partitions)
		case t.Partitions < want:
			name := fmt.Sprintf("topic %s, %d to %d partitions", t.Name, t.Partitions, want)
			steps = append(steps, Step{"kafka", name})
		}
	}
	return steps, nil
}

// Add adds the partitions if this is a moment for it.
func (g *PartitionGrowth) Add(ctx context.Context) error {
	if err := g.CheckMoment(ctx); err != nil {
		return err
	}
	return producer.AddPartitions(ctx, g.Topics)
}

// CheckMoment returns what must be done before partitions can be added.
func (g *PartitionGrowth) CheckMoment(ctx context.Context) error {
	if err := errors.Join(g.checkRead(ctx), g.checkCommands(ctx)); err != nil {
		return err
	}
	// A program of others may append, without a connection to PostgreSQL.
	if err := lifecycle.Pause(ctx, g.Still); err != nil {
		return err
	}
	return errors.Join(g.checkRead(ctx), g.checkCommands(ctx))
}

// checkCommands wants no process that may append a record with a key.
func (g *PartitionGrowth) checkCommands(ctx context.Context) error {
	running, err := g.DB.RunningCommands(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, command := range running {
		switch name, _, _ := strings.Cut(command, " "); name {
		case "collector", "queryapi", "cluster", "migrate": // the last has the lock: it is this process
		default:
			errs = append(errs, fmt.Errorf("answerscope %s is running: stop it until there are more partitions",
				command))
		}
	}
	return errors.Join(errs...)
}

// checkRead wants every group to have read everything.
func (g *PartitionGrowth) checkRead(ctx context.Context) error {
	var errs []error
	for _, reader := range g.Readers {
		positions, err := consume.Positions(ctx, g.Topics.Connection, reader.Group, reader.Topic)
		lag := int64(0)
		for _, p := range positions {
			lag += p.End - max(0, p.Committed)
		}
		if err == nil && lag != 0 {
			err = fmt.Errorf("group %s has not read %d records of topic %s: let a pipeline run until it has, and stop "+
				"what appends", reader.Group, lag, reader.Topic)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
