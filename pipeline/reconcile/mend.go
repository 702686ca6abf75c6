package reconcile

import (
	"context"
	"errors"
	"fmt"

	"github.com/answerscope/answerscope/sql/clickhouse/rollup"
	"github.com/answerscope/answerscope/sql/postgres"
)

// errMoved says that landing rows changed which were thought to be settled: somebody
// deletes, or purges.
var errMoved = errors.New("landing rows changed below the fence, as when a brand is purged; try again later")

// mend makes a cell's month anew and puts it in the place of the old one.
func (r *run) mend(ctx context.Context, c *cell) (err error) {
	anew, err := c.rollup.Rebuild(ctx, r.conn, c.month)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, anew.Close(context.WithoutCancel(ctx))) }()
	// Of everybody, whoever's rows were compared: a month is replaced as a whole.
	wanted, made := c.rollup.Wanted(r.conn, c.month, rollup.Whose{}), anew.Ledger()
	return r.held(ctx, task{
		prepare: func(ctx context.Context) error {
			if err := anew.Fill(ctx, r.cfg.Calm); err != nil {
				return err
			}
			if _, _, err := made.Tally(ctx, r.cfg.Calm); err != nil {
				return err
			}
			_, _, err := wanted.Tally(ctx, r.cfg.Calm)
			return err
		},
		left: func(ctx context.Context) (uint64, error) {
			rows, err := unread(ctx, wanted, made)
			if err != nil {
				return 0, err
			}
			behind, err := anew.Behind(ctx)
			return rows + behind, err
		},
		do: func(ctx context.Context, stop *postgres.ExclusiveSinkLock) error {
			if err := anew.Fill(ctx, r.cfg.Hurry); err != nil {
				return err
			}
			if err := r.proven(ctx, c, wanted, made); err != nil {
				return err
			}
			return r.standing(ctx, stop, anew.Replace)
		},
	})
}

// proven is nil where what was made is what the view makes of all landing rows, and
// the month has not been frozen since.
func (r *run) proven(ctx context.Context, c *cell, wanted, made *rollup.Ledger) error {
	want, err := r.atRest(ctx, wanted)
	if err != nil {
		return err
	}
	have, err := r.atRest(ctx, made)
	if err != nil {
		return err
	}
	if !want.Equal(have) {
		return fmt.Errorf("mend %s of %s: %w", c.month, c.rollup.Table, errMoved)
	}
	frozen, err := r.frozen(ctx, c.topic, c.month)
	if err == nil && frozen[c.month] {
		err = fmt.Errorf("mend %s of %s: the month was frozen meanwhile", c.month, c.rollup.Table)
	}
	return err
}

// standing replaces something in the warehouse while the sinks stand still, from before
// the server is asked until it has done so or says that it will not: a batch that
// came in between would be lost to what is replaced. It goes on when ctx ends.
func (r *run) standing(ctx context.Context, stop *postgres.ExclusiveSinkLock, replace func(context.Context) error) (err error) {
	if err := stop.Held(ctx); err != nil {
		return err
	}
	end, err := stop.Outlast(ctx, r.db, r.cfg.Outlast)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.cfg.Outlast*5/6)
	defer cancel()
	return replace(ctx)
}
