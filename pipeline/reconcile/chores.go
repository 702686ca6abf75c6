package reconcile

import (
	"context"
	"errors"
	"fmt"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// Nightly compares everything, and mends what only lacks something: what a rollup has
// too much of may be all that is left of landing rows, and waits for a person. It is
// an error if something is not as it should be in the end.
func (c *Reconciler) Nightly(ctx context.Context) error {
	return c.chore(ctx, Scope{Mend: Missing})
}

// Suspicions repairs the months of batches that landed late: some rollups may have taken their rows before.
func (c *Reconciler) Suspicions(ctx context.Context) error {
	suspects, err := clickhouse.Suspects(ctx, c.warehouse)
	if err != nil {
		return err
	}
	type place struct {
		landing string
		month   clickhouse.Month
	}
	done := map[place]bool{}
	var errs []error
	for _, s := range suspects {
		at := place{s.Landing, clickhouse.Month(s.Month)}
		if done[at] {
			continue
		}
		done[at] = true
		errs = append(errs, c.chore(ctx, Scope{From: at.month, To: at.month, Landing: at.landing, Mend: Everything}))
	}
	return errors.Join(errs...)
}

func (c *Reconciler) chore(ctx context.Context, scope Scope) error {
	report, err := c.Reconcile(ctx, scope, func(int, int) {})
	if errors.Is(err, ErrBusy) {
		c.log.Info("not reconciled this time", "cause", err)
		return nil
	}
	if err != nil {
		return err
	}
	if report.Open > 0 {
		return fmt.Errorf("%d of %d months of rollups are not as they should be; run: answerscope reconcile", report.Open, report.Compared)
	}
	return nil
}
