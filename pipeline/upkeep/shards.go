package upkeep

import (
	"context"
	"fmt"
	"strings"

	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/clickhouse/schema"
	"github.com/answerscope/answerscope/sql/postgres"
)

// A ShardGrowth adds the last shard of ClickHouse's addresses to the cluster, while everything runs.
type ShardGrowth struct {
	DB         *postgres.DB
	ClickHouse clickhouse.Config
	Report     func(step string) // called before each step
}

// Pending lists the steps that remain, including those by hand.
func (g *ShardGrowth) Pending(ctx context.Context) (steps []Step, err error) {
	outdated, err := g.outdated(ctx)
	if err != nil {
		return nil, err
	}
	names, err := schema.PendingShard(ctx, g.ClickHouse)
	for _, command := range outdated {
		names = append(names, "restart "+command+" with the new addresses")
	}
	return stepsOf("clickhouse", names), err
}

// CheckMoment is nil: a shard may be added at any time.
func (g *ShardGrowth) CheckMoment(context.Context) error { return nil }

// Add does every step that it can, and returns what people must do before the next ones.
func (g *ShardGrowth) Add(ctx context.Context) error {
	// Asked before dimensions are copied: what these processes copy later would be missing.
	outdated, err := g.outdated(ctx)
	if err != nil {
		return err
	}
	if err := schema.AddShard(ctx, g.ClickHouse, g.Report); err != nil {
		return err
	}
	if len(outdated) > 0 {
		return fmt.Errorf("the shard is there: restart %s with its addresses behind the others in "+
			"ANSWERSCOPE_CLICKHOUSE_SHARDS, and run this again", strings.Join(outdated, ", "))
	}
	return nil
}

// outdated lists the commands that run without the addresses of the shard.
func (g *ShardGrowth) outdated(ctx context.Context) (commands []string, err error) {
	running, err := g.DB.RunningCommands(ctx)
	for _, r := range running {
		if r.Shards > 0 && r.Shards < len(g.ClickHouse.ShardServers()) && !strings.HasPrefix(r.Command, "cluster ") {
			commands = append(commands, "answerscope "+r.Command)
		}
	}
	return commands, err
}

// A ReplicaGrowth adds a replica at a host, which is among ClickHouse's addresses, while everything runs.
type ReplicaGrowth struct {
	ClickHouse clickhouse.Config
	Host       string
	Report     func(step string) // called before each step
}

// Pending lists the steps that remain, including those by hand.
func (g *ReplicaGrowth) Pending(ctx context.Context) (steps []Step, err error) {
	names, err := schema.PendingReplica(ctx, g.ClickHouse, g.Host)
	return stepsOf("clickhouse", names), err
}

// CheckMoment is nil: a replica may be added at any time.
func (g *ReplicaGrowth) CheckMoment(context.Context) error { return nil }

// Add does every step that it can, and returns what people must do before the next ones.
func (g *ReplicaGrowth) Add(ctx context.Context) error {
	return schema.AddReplica(ctx, g.ClickHouse, g.Host, g.Report)
}
