package reread

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

const stalledReason = "its answers are not inserted: their partition makes no progress, or is far behind"

// turn rereads a brand until it is done or turnTime is over, then releases it. Its error is a failure of the stores or
// the log.
func (r *Rereader) turn(ctx context.Context, run postgres.Reread) error {
	reason, pause, err := r.pages(ctx, run)
	switch {
	case errors.Is(err, postgres.ErrLeaseLost), errors.Is(err, postgres.ErrNotFound):
		return nil // another process has claimed it, or the brand is deleted
	case ctx.Err() != nil:
		reason, pause = "", 0
	case err != nil:
		reason, pause = err.Error(), r.cfg.RetryPause
		err = fmt.Errorf("reread brand %s: %w", run.BrandID, err)
	}
	released := exec(context.WithoutCancel(ctx), min(r.cfg.Timeout, 2*time.Second), func(ctx context.Context) error {
		return r.queue.Pause(ctx, run.BrandID, pause, reason)
	})
	return errors.Join(err, released)
}

// pages appends one page of a brand after the other, until no answer is stale, which ends the run, or until the turn is
// over. A reason explains why the brand has to wait for a pause.
func (r *Rereader) pages(ctx context.Context, run postgres.Reread) (reason string, pause time.Duration, err error) {
	if stalled, err := r.isStalled(ctx, run.BrandID); err != nil || stalled {
		return stalledReason, r.cfg.StallPause, err
	}
	deadline := time.Now().Add(turnTime)
	run.FromStart = run.FromStart || run.CursorDay == nil // its first page was not inserted
	cursor, failed, days := cursorOf(run), run.LeftOver, staleDays{run: run}
	for ctx.Err() == nil {
		snapshot, err := within(ctx, r.cfg.Timeout, func(ctx context.Context) (postgres.Snapshot, error) {
			return r.control.Snapshot(ctx, run.BrandID)
		})
		if err != nil {
			return "", 0, err
		}
		stale, err := r.nextStale(ctx, &days, &snapshot, cursor)
		if err != nil {
			return "", 0, err
		}
		if err := r.begin(ctx, &run, days.total); err != nil {
			return "", 0, err
		}
		if len(stale) == 0 {
			if failed == 0 && cursor.Day.After(time.Time{}) {
				cursor = clickhouse.StaleCursor{} // once more: answers may have been inserted before the cursor
				continue
			}
			return "", 0, r.finish(ctx, run, failed)
		}
		p, inserted, err := r.page(ctx, &snapshot, stale)
		if err != nil {
			return "", 0, err
		}
		if !inserted { // if they still are not, the next turn finds these answers again
			return stalledReason, r.cfg.StallPause, nil
		}
		cursor, failed = p.end, failed+int64(p.failed)
		requested, err := r.advance(ctx, &p)
		if err != nil || requested || time.Now().After(deadline) {
			return "", 0, err
		}
	}
	return "", 0, ctx.Err()
}

// page appends stale answers and waits until they are inserted.
func (r *Rereader) page(
	ctx context.Context, snapshot *postgres.Snapshot, stale []clickhouse.StaleAnswer,
) (p page, inserted bool, err error) {
	if p, err = r.append(ctx, snapshot, stale); err != nil {
		return p, false, err
	}
	refused, inserted, err := r.awaitInserted(ctx, &p)
	if err == nil && inserted {
		p.failed += refused
		r.metrics.failed.Add(float64(p.failed))
	}
	return p, inserted, err
}

// cursorOf is the position after which a run goes on.
func cursorOf(run postgres.Reread) clickhouse.StaleCursor {
	if run.CursorDay == nil || run.CursorID == nil {
		return clickhouse.StaleCursor{}
	}
	return clickhouse.StaleCursor{Day: *run.CursorDay, ID: clickhouse.UUID(*run.CursorID)}
}

// begin saves the number of stale answers at a run's start.
func (r *Rereader) begin(ctx context.Context, run *postgres.Reread, total int64) error {
	if !run.FromStart {
		return nil
	}
	run.FromStart = false
	return exec(ctx, r.cfg.Timeout, func(ctx context.Context) error { return r.queue.Begin(ctx, run.BrandID, total) })
}

// finish ends a run.
func (r *Rereader) finish(ctx context.Context, run postgres.Reread, failed int64) error {
	reason := ""
	if failed > 0 {
		reason = fmt.Sprintf("%d answers keep their older reading: they could not be appended, or were refused", failed)
		r.log.Warn("brand not wholly reread", "brand", run.BrandID, "answers", failed,
			"next", "answerscope deadletters list, for what was refused; the sweep tries again within a day")
	}
	return exec(ctx, r.cfg.Timeout, func(ctx context.Context) error {
		return r.queue.Finish(ctx, run.BrandID, reason, r.cfg.FollowUp)
	})
}

// advance saves the progress of a run. requested reports that the run is to begin again, for a newer edit.
func (r *Rereader) advance(ctx context.Context, p *page) (requested bool, err error) {
	id := uuid.UUID(p.end.ID)
	return within(ctx, r.cfg.Timeout, func(ctx context.Context) (bool, error) {
		return r.queue.Advance(ctx, p.snapshot.BrandID, postgres.Page{
			CursorDay: &p.end.Day, CursorID: &id, Done: int64(len(p.ids)), LeftOver: int64(p.failed),
			Revision: p.snapshot.Revision, ExtractVersion: r.cfg.ExtractVersion,
		})
	})
}
