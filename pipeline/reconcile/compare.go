package reconcile

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/answerscope/answerscope/sql/clickhouse/rollup"
	"github.com/answerscope/answerscope/sql/postgres"
)

// reconcile compares a cell and repairs it if it is in the scope's repairs. Without a difference the finding is nil.
func (r *shardRun) reconcile(ctx context.Context, c *cell) (*Finding, error) {
	f := &Finding{RollupMonth: RollupMonth{Table: c.rollup.Table, Month: c.month}, State: Differs}
	for range 2 {
		same, err := r.same(ctx, c)
		if err != nil {
			return f, err
		}
		if same {
			return nil, nil
		}
	}
	if err := r.confirm(ctx, c, f); err != nil {
		return f, err
	}
	if f.Differences == nil {
		return nil, nil
	}
	// The month may have been frozen since the months were listed, and its rows have expired.
	frozen, err := r.reconciler.frozen(ctx, c.topic, c.month)
	if err != nil {
		return f, err
	}
	if frozen[c.month.First()] {
		r.report.addFrozen(c.rollup.Table, c.month)
		return nil, nil
	}
	keep, err := r.mustKeep(ctx, c, f)
	switch {
	case err != nil:
		return f, err
	case keep:
		f.State = Kept
		return f, nil
	case r.scope.Repair == RepairNothing:
		return f, nil
	}
	if err := r.repair(ctx, c); err != nil {
		return f, err
	}
	f.State = Repaired
	return f, nil
}

// mustKeep reports whether a rollup may have rows that its landing table has lost, so that only a person may have it
// repaired. That is so while the rows of a broken part are lost, even if the rollup has fewer rows, and else if it has
// more, unless surplus rows or a repeated batch explain that.
func (r *shardRun) mustKeep(ctx context.Context, c *cell, f *Finding) (bool, error) {
	if r.scope.Repair == RepairAll {
		return false, nil
	}
	landing := landingMonth{c.topic, c.month}
	lost, err := hasLost(ctx, r.conn, landing)
	if lost || err != nil {
		return lost, err
	}
	return f.hasMore() && r.scope.Repair != RepairRepeated && !slices.Contains(r.cleaned, landing), nil
}

// same compares beside the sinks: false may mean no more than that rows came meanwhile.
func (r *shardRun) same(ctx context.Context, c *cell) (bool, error) {
	want, stable, err := c.expected.Checksum(ctx, backgroundThreads)
	if err != nil || !stable {
		return false, err
	}
	have, stable, err := c.actual.Checksum(ctx, backgroundThreads)
	return stable && want.Equal(have), err
}

// confirm compares under the lock and adds the differences to the finding.
func (r *shardRun) confirm(ctx context.Context, c *cell, f *Finding) error {
	return r.locked(ctx, work{
		prepare: func(ctx context.Context) error {
			_, err := r.same(ctx, c)
			return err
		},
		unread: func(ctx context.Context) (uint64, error) { return unread(ctx, c.expected, c.actual) },
		do: func(ctx context.Context, lock *postgres.ExclusiveSinkLock) error {
			want, have, err := r.lockedChecksums(ctx, c.expected, c.actual)
			if err != nil {
				return err
			}
			if f.Differences = c.rollup.Differences(want, have); f.Differences != nil {
				f.Brands = r.brands(ctx, c)
			}
			return lock.Held(ctx)
		},
	})
}

// unread estimates how many rows the caches have to read.
func unread(ctx context.Context, caches ...*rollup.ChecksumCache) (rows uint64, err error) {
	for _, cache := range caches {
		n, err := cache.Unread(ctx)
		if err != nil {
			return 0, err
		}
		rows += n
	}
	return rows, nil
}

// maxMerges is how often parts may be merged while they are read.
const maxMerges = 20

// lockedChecksums reads the checksums of two tables into which nothing is inserted. Their parts may be merged.
func (r *shardRun) lockedChecksums(
	ctx context.Context, expected, actual *rollup.ChecksumCache,
) (want, have rollup.Checksum, err error) {
	for range maxMerges {
		var stable, alsoStable bool
		if want, stable, err = expected.Checksum(ctx, foregroundThreads); err != nil {
			return want, have, err
		}
		if have, alsoStable, err = actual.Checksum(ctx, foregroundThreads); err != nil || stable && alsoStable {
			return want, have, err
		}
	}
	return want, have, fmt.Errorf("%w: parts were merged %d times while they were read", errNotLocked, maxMerges)
}

// brandsTimeout bounds how much longer the lock is held to find the brands that differ.
const brandsTimeout = 5 * time.Second

// brands lists the brands that differ; none if the query takes too long.
func (r *shardRun) brands(ctx context.Context, c *cell) []rollup.Brand {
	ctx, cancel := context.WithTimeout(ctx, brandsTimeout)
	defer cancel()
	brands, err := c.rollup.Brands(ctx, r.conn, c.month, r.scope.Owner, maxBrands)
	if err != nil {
		r.reconciler.log.Info("brands that differ are unknown", "table", c.rollup.Table, "month", c.month, "cause", err)
	}
	return brands
}
