package reconcile

import (
	"context"
	"errors"
	"fmt"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// Nightly compares everything and repairs what only lacks something: what a rollup has too much of may be all that is left
// of lost landing rows, and waits for a person. It is an error if a difference is left.
func (c *Reconciler) Nightly(ctx context.Context) error {
	return c.task(ctx, Scope{Repair: RepairMissing})
}

// Suspects repairs the suspect months: those of batches some of whose rows a rollup may have counted before.
func (c *Reconciler) Suspects(ctx context.Context) error {
	suspects, err := clickhouse.Suspects(ctx, c.warehouse)
	if err != nil {
		return err
	}
	type landingMonth struct {
		landing string
		month   clickhouse.Month
	}
	done := map[landingMonth]bool{}
	var errs []error
	for _, s := range suspects {
		at := landingMonth{s.Landing, clickhouse.Month(s.Month)}
		if done[at] {
			continue
		}
		done[at] = true
		errs = append(errs, c.task(ctx, Scope{From: at.month, To: at.month, Landing: at.landing, Repair: RepairAll}))
	}
	return errors.Join(errs...)
}

func (c *Reconciler) task(ctx context.Context, scope Scope) error {
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
