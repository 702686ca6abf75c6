package reconcile

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/clickhouse/rollup"
	"github.com/answerscope/answerscope/sql/postgres"
)

// progress compares log_progress. It has no months, and still counts rows that were purged or have expired: a
// partition's offset must be no less than the landing rows' and no more than the consumer group's.
func (r *shardRun) progress(ctx context.Context) (*Finding, error) {
	f := &Finding{RollupMonth: RollupMonth{Table: "log_progress"}, State: Differs}
	for range 2 {
		if wrong, _, err := r.wrongOffsets(ctx); err != nil {
			return f, err
		} else if len(wrong) == 0 {
			return nil, nil
		}
	}
	err := r.locked(ctx, work{
		do: func(ctx context.Context, lock *postgres.ExclusiveSinkLock) error {
			wrong, right, err := r.wrongOffsets(ctx)
			if err != nil || len(wrong) == 0 {
				return err
			}
			f.Offsets = wrong
			if r.scope.Repair == RepairNothing {
				return nil
			}
			replace := func(ctx context.Context) error { return rollup.ReplaceProgress(ctx, r.conn, right) }
			if err := r.replaceLocked(ctx, lock, replace); err != nil {
				return err
			}
			f.State = Repaired
			return nil
		},
	})
	if err == nil && f.Offsets == nil {
		return nil, nil
	}
	return f, err
}

// wrongOffsets returns the wrong offsets of log_progress, and the right offsets of all partitions. Landing rows are
// read first and the consumer group last, so that both bounds hold beside the sinks, except for batches half inserted.
func (r *shardRun) wrongOffsets(ctx context.Context) (wrong []WrongOffset, right rollup.Progress, err error) {
	landed, err := rollup.LandedProgress(ctx, r.conn)
	if err != nil {
		return nil, nil, err
	}
	recorded, err := rollup.StoredProgress(ctx, r.conn)
	if err != nil {
		return nil, nil, err
	}
	inserted, err := r.inserted(ctx)
	if err != nil {
		return nil, nil, err
	}
	right = maps.Clone(recorded)
	for partition, last := range landed {
		right[partition] = max(last, valueOr(recorded, partition, last))
	}
	for partition, have := range right {
		if last, ok := inserted[partition]; ok && have > last {
			right[partition] = max(last, valueOr(landed, partition, last))
		}
	}
	for partition, want := range right {
		if have, ok := recorded[partition]; !ok || have != want {
			have = valueOr(recorded, partition, -1)
			wrong = append(wrong, WrongOffset{partition.Topic, partition.Partition, want, have})
		}
	}
	slices.SortFunc(wrong, func(a, b WrongOffset) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	return wrong, right, nil
}

func valueOr(p rollup.Progress, partition clickhouse.TopicPartition, fallback int64) int64 {
	if last, ok := p[partition]; ok {
		return last
	}
	return fallback
}

// inserted returns the last offset that each consumer group may have inserted.
func (r *shardRun) inserted(ctx context.Context) (rollup.Progress, error) {
	all := rollup.Progress{}
	for _, sink := range r.reconciler.cfg.Sinks {
		partitions, err := consume.Positions(ctx, r.reconciler.cfg.Connection, sink.Group, sink.Topic)
		if err != nil {
			return nil, err
		}
		for _, p := range partitions {
			if p.Committed >= 0 {
				all[clickhouse.TopicPartition{Topic: sink.Topic, Partition: p.Partition}] = p.Last()
			}
		}
	}
	return all, nil
}
