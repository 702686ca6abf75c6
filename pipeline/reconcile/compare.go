package reconcile

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/answerscope/answerscope/sql/clickhouse/rollup"
	"github.com/answerscope/answerscope/sql/postgres"
)

// reconcile compares a cell and repairs it if the scope says so. Without a difference the finding is nil.
func (r *run) reconcile(ctx context.Context, c *cell) (*Finding, error) {
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
	// It may have been frozen since the months were listed, and its rows gone by now.
	frozen, err := r.frozen(ctx, c.topic, c.month)
	if err != nil {
		return f, err
	}
	if frozen[c.month.First()] {
		r.report.leave(c.rollup.Table, c.month)
		return nil, nil
	}
	kept, err := r.keeps(ctx, c, f)
	switch {
	case err != nil:
		return f, err
	case kept:
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

// keeps says whether a rollup may have rows that its landing table has lost, so that only a person may have it
// repaired. It may while the rows of a broken part are lost, even if it has fewer, and else if it has more; surplus
// rows, and a batch that was repeated, make more, too.
func (r *run) keeps(ctx context.Context, c *cell, f *Finding) (bool, error) {
	if r.scope.Repair == RepairAll {
		return false, nil
	}
	of := landingMonth{c.topic, c.month}
	lost, err := hasLost(ctx, r.conn, of)
	if lost || err != nil {
		return lost, err
	}
	return f.hasMore() && r.scope.Repair != RepairRepeated && !slices.Contains(r.cleaned, of), nil
}

// same compares beside the sinks: false may only mean that rows came meanwhile.
func (r *run) same(ctx context.Context, c *cell) (bool, error) {
	want, stable, err := c.expected.Checksum(ctx, backgroundThreads)
	if err != nil || !stable {
		return false, err
	}
	have, stable, err := c.actual.Checksum(ctx, backgroundThreads)
	return stable && want.Equal(have), err
}

// confirm compares under the lock and notes what differs.
func (r *run) confirm(ctx context.Context, c *cell, f *Finding) error {
	return r.locked(ctx, work{
		prepare: func(ctx context.Context) error {
			_, err := r.same(ctx, c)
			return err
		},
		left: func(ctx context.Context) (uint64, error) { return unread(ctx, c.expected, c.actual) },
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

// unread is about how many rows the caches have to read.
func unread(ctx context.Context, caches ...*rollup.ChecksumCache) (rows uint64, err error) {
	for _, l := range caches {
		n, err := l.Unread(ctx)
		if err != nil {
			return 0, err
		}
		rows += n
	}
	return rows, nil
}

// merges is how often parts may be merged while they are read.
const merges = 20

// lockedChecksums are those of two tables into which nothing is inserted. Their parts may be merged.
func (r *run) lockedChecksums(ctx context.Context, expected, actual *rollup.ChecksumCache) (want, have rollup.Checksum, err error) {
	for range merges {
		var stable, alsoStable bool
		if want, stable, err = expected.Checksum(ctx, foregroundThreads); err != nil {
			return want, have, err
		}
		if have, alsoStable, err = actual.Checksum(ctx, foregroundThreads); err != nil || stable && alsoStable {
			return want, have, err
		}
	}
	return want, have, fmt.Errorf("%w: parts were merged %d times while they were read", errNotLocked, merges)
}

// brandsTimeout is how much longer the lock is held to learn which brands differ.
const brandsTimeout = 5 * time.Second

// brands are those that differ; none if the query takes too long.
func (r *run) brands(ctx context.Context, c *cell) []rollup.Brand {
	ctx, cancel := context.WithTimeout(ctx, brandsTimeout)
	defer cancel()
	brands, err := c.rollup.Brands(ctx, r.conn, c.month, r.scope.Owner, mostBrands)
	if err != nil {
		r.log.Info("brands that differ are unknown", "table", c.rollup.Table, "month", c.month, "cause", err)
	}
	return brands
}
