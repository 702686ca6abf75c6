package reconcile

import (
	"context"
	"fmt"
	"time"

	"github.com/answerscope/answerscope/sql/clickhouse/rollup"
	"github.com/answerscope/answerscope/sql/postgres"
)

// reconcile compares a cell, and mends it where it should. A nil finding is that all
// is well.
func (r *run) reconcile(ctx context.Context, c *cell) (*Finding, error) {
	f := &Finding{Place: Place{Table: c.rollup.Table, Month: c.month}, State: Differs}
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
	switch {
	case frozen[c.month]:
		r.report.leave(c.rollup.Table, c.month)
		return nil, nil
	case r.scope.Mend == Nothing:
		return f, nil
	case r.scope.Mend == Missing && tooMuch(f.Differences):
		f.State = Kept
		return f, nil
	}
	if err := r.mend(ctx, c); err != nil {
		return f, err
	}
	f.State = Mended
	return f, nil
}

// same compares beside the sinks. That it is false means little.
func (r *run) same(ctx context.Context, c *cell) (bool, error) {
	want, settled, err := c.wanted.Tally(ctx, r.cfg.Calm)
	if err != nil || !settled {
		return false, err
	}
	have, settled, err := c.kept.Tally(ctx, r.cfg.Calm)
	return settled && want.Equal(have), err
}

// confirm compares while the sinks are held, and says what differs.
func (r *run) confirm(ctx context.Context, c *cell, f *Finding) error {
	return r.held(ctx, task{
		prepare: func(ctx context.Context) error {
			_, err := r.same(ctx, c)
			return err
		},
		left: func(ctx context.Context) (uint64, error) { return unread(ctx, c.wanted, c.kept) },
		do: func(ctx context.Context, stop *postgres.ExclusiveSinkLock) error {
			want, err := r.atRest(ctx, c.wanted)
			if err != nil {
				return err
			}
			have, err := r.atRest(ctx, c.kept)
			if err != nil {
				return err
			}
			if f.Differences = c.rollup.Differences(want, have); f.Differences != nil {
				f.Brands = r.brands(ctx, c)
			}
			return stop.Held(ctx)
		},
	})
}

// unread is how many rows ledgers have to read, about.
func unread(ctx context.Context, ledgers ...*rollup.Ledger) (rows uint64, err error) {
	for _, l := range ledgers {
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

// atRest tallies a table into which nothing is inserted. Its parts may be merged.
func (r *run) atRest(ctx context.Context, l *rollup.Ledger) (rollup.Tally, error) {
	for range merges {
		tally, settled, err := l.Tally(ctx, r.cfg.Hurry)
		if err != nil || settled {
			return tally, err
		}
	}
	return rollup.Tally{}, fmt.Errorf("%w: parts were merged %d times while they were read", errNotHeld, merges)
}

// brandsPatience is how much longer sinks are held to learn which brands differ.
const brandsPatience = 5 * time.Second

// brands are those that differ; none when it takes too long to ask.
func (r *run) brands(ctx context.Context, c *cell) []rollup.Brand {
	ctx, cancel := context.WithTimeout(ctx, brandsPatience)
	defer cancel()
	brands, err := c.rollup.Brands(ctx, r.conn, c.month, r.scope.Whose, mostBrands)
	if err != nil {
		r.log.Info("brands that differ are not known", "table", c.rollup.Table, "month", c.month, "cause", err)
	}
	return brands
}

// tooMuch says that a rollup has more of something than its landing rows make.
func tooMuch(differences []rollup.Difference) bool {
	for _, d := range differences {
		if d.Have.Units > d.Want.Units {
			return true
		}
	}
	return false
}
