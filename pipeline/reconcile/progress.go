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

// progress compares log_progress. It has no months, and rightly still has rows that were purged or have expired: for
// each partition it must have no less than the landing rows, and no more than its consumer group has inserted.
func (r *run) progress(ctx context.Context) (*Finding, error) {
	f := &Finding{RollupMonth: RollupMonth{Table: "log_progress"}, State: Differs}
	for range 2 {
		if wrong, _, err := r.wrongOffsets(ctx); err != nil {
			return f, err
		} else if len(wrong) == 0 {
			return nil, nil
		}
	}
	err := r.locked(ctx, work{
		prepare: func(context.Context) error { return nil },
		left:    func(context.Context) (uint64, error) { return 0, nil },
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

// wrongOffsets are the wrong offsets of log_progress, and all as they should be. Landing rows are asked first and the
// consumer group last, so that both bounds hold beside the sinks but for batches half inserted.
func (r *run) wrongOffsets(ctx context.Context) (wrong []WrongOffset, right rollup.Progress, err error) {
	landed, err := rollup.LandedProgress(ctx, r.conn)
	if err != nil {
		return nil, nil, err
	}
	kept, err := rollup.StoredProgress(ctx, r.conn)
	if err != nil {
		return nil, nil, err
	}
	inserted, err := r.inserted(ctx)
	if err != nil {
		return nil, nil, err
	}
	right = maps.Clone(kept)
	for of, last := range landed {
		right[of] = max(last, valueOr(kept, of, last))
	}
	for of, have := range right {
		if last, ok := inserted[of]; ok && have > last {
			right[of] = max(last, valueOr(landed, of, last))
		}
	}
	for of, want := range right {
		if have, ok := kept[of]; !ok || have != want {
			wrong = append(wrong, WrongOffset{of.Topic, of.Partition, want, valueOr(kept, of, -1)})
		}
	}
	slices.SortFunc(wrong, func(a, b WrongOffset) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	return wrong, right, nil
}

func valueOr(p rollup.Progress, of clickhouse.TopicPartition, none int64) int64 {
	if last, ok := p[of]; ok {
		return last
	}
	return none
}

// inserted is how far each consumer group has inserted.
func (r *run) inserted(ctx context.Context) (rollup.Progress, error) {
	all := rollup.Progress{}
	for _, sink := range r.cfg.Sinks {
		partitions, err := consume.Positions(ctx, r.cfg.Connection, sink.Group, sink.Topic)
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
