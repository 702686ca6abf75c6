package reread

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// turn works on a brand until it is done or another one's turn has come, and lets go
// of it. An error is trouble with the stores or the log.
func (r *Rereader) turn(ctx context.Context, run postgres.Reread) error {
	why, pause, err := r.pages(ctx, run)
	switch {
	case errors.Is(err, postgres.ErrLeaseLost), errors.Is(err, postgres.ErrNotFound):
		return nil // another process has it now, or the brand is gone
	case ctx.Err() != nil:
		why, pause = "", 0
	case err != nil:
		why, pause = err.Error(), r.cfg.Retry
		err = fmt.Errorf("read brand %s again: %w", run.BrandID, err)
	}
	free := context.WithoutCancel(ctx)
	_, left := within(free, min(r.cfg.Silence, 2*time.Second), func(ctx context.Context) (struct{}, error) {
		return struct{}{}, r.queue.Pause(ctx, run.BrandID, pause, why)
	})
	return errors.Join(err, left)
}

// pages tells one page of a brand again after the other: until nothing older is left,
// which ends the run, or until the turn is over. It says why nothing more can be done
// for a while, if so.
func (r *Rereader) pages(ctx context.Context, run postgres.Reread) (why string, pause time.Duration, err error) {
	if waits, err := r.waits(ctx, run.BrandID); err != nil || waits {
		return waitsForPartition, r.cfg.Rest, err
	}
	over := time.Now().Add(r.cfg.Turn)
	run.FromStart = run.FromStart || run.CursorDay == nil // one that was left before its first page had landed
	at, left, days := placeOf(run), run.LeftOver, search{run: run}
	for ctx.Err() == nil {
		names, err := within(ctx, r.cfg.Silence, func(ctx context.Context) (postgres.Snapshot, error) { return r.control.Snapshot(ctx, run.BrandID) })
		if err != nil {
			return "", 0, err
		}
		stale, err := r.find(ctx, &days, &names, at)
		if err != nil {
			return "", 0, err
		}
		if err := r.begin(ctx, &run, days.total); err != nil {
			return "", 0, err
		}
		switch {
		case len(stale) > 0:
		case left == 0 && at.Day.After(time.Time{}):
			at = clickhouse.AnswerPlace{} // what landed behind the cursor meanwhile
			continue
		default:
			return "", 0, r.finish(ctx, run, left)
		}
		p, err := r.tell(ctx, &names, stale)
		if err != nil {
			return "", 0, err
		}
		refused, landed, err := r.land(ctx, &p)
		switch {
		case err != nil:
			return "", 0, err
		case !landed: // so that it is looked for again, and told if it did not
			return waitsForPartition, r.cfg.Rest, nil
		}
		p.left += refused
		r.metrics.left.Add(float64(p.left))
		at, left = p.end, left+int64(p.left)
		asked, err := r.advance(ctx, &p)
		if err != nil {
			return "", 0, err
		}
		if asked || time.Now().After(over) {
			return "", 0, nil
		}
	}
	return "", 0, ctx.Err()
}

// waitsForPartition is why a brand is left for a while.
const waitsForPartition = "its answers do not land: their partition stands still, or is far behind"

// placeOf is the place behind which a run goes on.
func placeOf(run postgres.Reread) clickhouse.AnswerPlace {
	if run.CursorDay == nil || run.CursorID == nil {
		return clickhouse.AnswerPlace{}
	}
	return clickhouse.AnswerPlace{Day: *run.CursorDay, ID: clickhouse.UUID(*run.CursorID)}
}

// A search goes through the days on which answers of a brand are older. Which days
// these are is asked once a turn.
type search struct {
	run   postgres.Reread
	of    clickhouse.Renewal
	stale []clickhouse.StaleDay // those that lie before us
	total int64                 // answers that were older when they were asked for
}

// find is the next page behind a place; none when no day behind it has any.
func (r *Rereader) find(ctx context.Context, s *search, names *postgres.Snapshot, at clickhouse.AnswerPlace) ([]clickhouse.StaleAnswer, error) {
	if of := r.renewal(names); s.of != of || at == (clickhouse.AnswerPlace{}) {
		s.of = of
		if err := r.look(ctx, s, at); err != nil {
			return nil, err
		}
	}
	for len(s.stale) > 0 && s.stale[0].Day.Before(at.Day) {
		s.stale = s.stale[1:]
	}
	for len(s.stale) > 0 {
		var days []time.Time
		for answers := uint64(0); len(days) < len(s.stale) && answers < uint64(r.cfg.Answers); {
			answers += s.stale[len(days)].Answers
			days = append(days, s.stale[len(days)].Day)
		}
		page, err := clickhouse.StaleAnswers(ctx, r.kept, s.of, days, at, r.cfg.Answers)
		if err != nil || len(page) > 0 {
			return page, err
		}
		s.stale = s.stale[len(days):] // all of these lie behind us
	}
	return nil, nil
}

// look asks for the days from a place on.
func (r *Rereader) look(ctx context.Context, s *search, at clickhouse.AnswerPlace) error {
	since, err := r.lives(ctx)
	if err != nil {
		return err
	}
	s.stale, err = clickhouse.StaleDays(ctx, r.kept, s.of, later(since, later(s.run.FirstDay, at.Day)), s.run.LastDay)
	s.total = 0
	for _, d := range s.stale {
		s.total += int64(d.Answers)
	}
	return err
}

func (r *Rereader) renewal(names *postgres.Snapshot) clickhouse.Renewal {
	return clickhouse.Renewal{
		OrganizationID: clickhouse.UUID(names.OrganizationID), BrandID: clickhouse.UUID(names.BrandID),
		Revision: names.Revision, ExtractVersion: uint16(r.cfg.ExtractVersion),
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// begin notes once how many answers a run has before it that has told none yet.
func (r *Rereader) begin(ctx context.Context, run *postgres.Reread, total int64) error {
	if !run.FromStart {
		return nil
	}
	run.FromStart = false
	_, err := within(ctx, r.cfg.Silence, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, r.queue.Begin(ctx, run.BrandID, total)
	})
	return err
}

// finish ends a run that has nothing more to tell again.
func (r *Rereader) finish(ctx context.Context, run postgres.Reread, left int64) error {
	why := ""
	if left > 0 {
		why = fmt.Sprintf("%d answers stand as they were: they could not be told again, or were refused", left)
		r.logger.Warn("brand not wholly read again", "brand", run.BrandID, "answers", left,
			"next", "answerscope deadletters list, for what was refused; the sweep tries again within a day")
	}
	_, err := within(ctx, r.cfg.Silence, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, r.queue.Finish(ctx, run.BrandID, why, r.cfg.Late)
	})
	return err
}

// advance notes a page.
func (r *Rereader) advance(ctx context.Context, p *page) (asked bool, err error) {
	id := uuid.UUID(p.end.ID)
	return within(ctx, r.cfg.Silence, func(ctx context.Context) (bool, error) {
		return r.queue.Advance(ctx, p.names.BrandID, postgres.Page{
			CursorDay: &p.end.Day, CursorID: &id, Done: int64(len(p.told)), LeftOver: int64(p.left),
			Revision: p.names.Revision, ExtractVersion: r.cfg.ExtractVersion,
		})
	})
}

// land waits until a page has landed, and returns how many of its answers were refused;
// or until it is told to wait no longer, since its partition is behind.
func (r *Rereader) land(ctx context.Context, p *page) (refused int, landed bool, err error) {
	if len(p.told) == 0 {
		return 0, true, nil
	}
	begun, changed, held := time.Now(), time.Now(), p.begun
	seen, pending := watch{brand: p.names.BrandID, looked: begun, moved: begun}, p.told
	for wait := 50 * time.Millisecond; ; wait = min(wait*3/2, 2*time.Second) {
		before := len(pending)
		if pending, err = r.pending(ctx, p, pending); err != nil {
			return 0, false, err
		}
		if len(pending) == 0 {
			r.metrics.landing.Observe(time.Since(begun).Seconds())
			return 0, true, nil
		}
		if len(pending) < before || !seen.through() {
			changed = time.Now()
		}
		switch {
		case time.Since(changed) > settled:
			return len(pending), true, nil
		case !seen.through() && seen.end > 0 && (time.Since(seen.moved) > r.cfg.Still || time.Since(begun) > r.cfg.Landing):
			r.leave(p, &seen, len(pending), time.Since(begun))
			return 0, false, nil
		case time.Since(held) > r.cfg.Lease/3:
			held = time.Now()
			if err := r.hold(ctx, p.names.BrandID); err != nil {
				return 0, false, err
			}
		}
		if err := lifecycle.Pause(ctx, wait); err != nil {
			return 0, false, err
		}
		if err := seen.see(ctx, r); err != nil {
			return 0, false, err
		}
	}
}

// leave notes that a partition is behind.
func (r *Rereader) leave(p *page, seen *watch, lacking int, waited time.Duration) {
	r.behind[seen.place.Partition] = seen.end
	r.logger.Warn("reread does not land", "brand", p.names.BrandID, "answers", lacking, "waited", waited,
		"partition", seen.place.Partition, "landed", seen.place.Landed, "end", seen.end,
		"next", "see how far behind the sink of answers is on that partition; its brands are taken up again once it has landed these")
}

// settled is how long a replica may be behind the one that has the last answer of a
// page; what it lacks by then was refused.
const settled = 3 * time.Second

// pending are those of ids that stand with a reading older than the page's.
func (r *Rereader) pending(ctx context.Context, p *page, ids []clickhouse.UUID) ([]clickhouse.UUID, error) {
	keys := make([]clickhouse.AnswerKey, len(ids))
	for i, id := range ids {
		keys[i] = clickhouse.AnswerKey{OrganizationID: clickhouse.UUID(p.names.OrganizationID), BrandID: clickhouse.UUID(p.names.BrandID), ID: id}
	}
	due := func(id clickhouse.UUID) time.Time { return event.IDTime(uuid.UUID(id)) }
	standing, err := clickhouse.LandedAnswers(ctx, r.kept, keys, due, clickhouse.Below{})
	if err != nil {
		return nil, err
	}
	of := r.renewal(p.names)
	want := clickhouse.Reading{Revision: of.Revision, ExtractVersion: of.ExtractVersion}
	var pending []clickhouse.UUID
	for i, key := range keys {
		if was, there := standing[key]; there && was.Older(want) {
			pending = append(pending, ids[i])
		}
	}
	return pending, nil
}

// hold says that the brand is still in hand, while its page lands.
func (r *Rereader) hold(ctx context.Context, brand uuid.UUID) error {
	if err := r.survey(ctx); err != nil {
		return err
	}
	_, err := within(ctx, r.cfg.Silence, func(ctx context.Context) (bool, error) { return r.queue.Extend(ctx, brand) })
	return err
}
