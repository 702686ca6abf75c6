package reread

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// staleDays are the days on which a brand has stale answers, listed once a turn.
type staleDays struct {
	run    postgres.Reread
	filter clickhouse.StaleFilter
	days   []clickhouse.StaleDay // still to come
	total  int64                 // stale answers when the days were listed
}

// nextStale returns the next page of stale answers after a cursor; none when no later day has any.
func (r *Rereader) nextStale(
	ctx context.Context, s *staleDays, snapshot *postgres.Snapshot, cursor clickhouse.StaleCursor,
) ([]clickhouse.StaleAnswer, error) {
	if filter := r.staleFilter(snapshot); s.filter != filter || cursor == (clickhouse.StaleCursor{}) {
		s.filter = filter
		if err := r.listDays(ctx, s, cursor); err != nil {
			return nil, err
		}
	}
	for len(s.days) > 0 && s.days[0].Day.Before(cursor.Day) {
		s.days = s.days[1:]
	}
	for len(s.days) > 0 {
		var days []time.Time
		for answers := uint64(0); len(days) < len(s.days) && answers < uint64(r.cfg.PageSize); {
			answers += s.days[len(days)].Answers
			days = append(days, s.days[len(days)].Day)
		}
		page, err := clickhouse.StaleAnswers(ctx, r.warehouse, s.filter, days, cursor, r.cfg.PageSize)
		if err != nil || len(page) > 0 {
			return page, err
		}
		s.days = s.days[len(days):]
	}
	return nil, nil
}

// listDays lists the days from a cursor on.
func (r *Rereader) listDays(ctx context.Context, s *staleDays, cursor clickhouse.StaleCursor) error {
	first, err := r.firstUnfrozen(ctx)
	if err != nil {
		return err
	}
	for _, day := range []time.Time{s.run.FirstDay, cursor.Day} {
		if day.After(first) {
			first = day
		}
	}
	s.days, err = clickhouse.StaleDays(ctx, r.warehouse, s.filter, first, s.run.LastDay)
	s.total = 0
	for _, d := range s.days {
		s.total += int64(d.Answers)
	}
	return err
}

// staleFilter selects the answers of a brand with an older reading than one by the snapshot.
func (r *Rereader) staleFilter(snapshot *postgres.Snapshot) clickhouse.StaleFilter {
	return clickhouse.StaleFilter{
		OrganizationID: clickhouse.UUID(snapshot.OrganizationID), BrandID: clickhouse.UUID(snapshot.BrandID),
		Revision: snapshot.Revision, ExtractVersion: uint16(r.cfg.ExtractVersion),
	}
}

// firstUnfrozen is the first day that is not frozen: no row is inserted before it.
func (r *Rereader) firstUnfrozen(ctx context.Context) (time.Time, error) {
	first, err := within(ctx, r.cfg.Timeout, func(ctx context.Context) (time.Time, error) {
		return r.control.FrozenBefore(ctx, event.TopicAnswers)
	})
	if first.IsZero() {
		first = time.Unix(0, 0)
	}
	return first, err
}

// maxQueued bounds the brands of one statement.
const maxQueued = 5000

// Sweep queues every brand with a stale answer: answers that were under way with the earlier names, and all answers
// after an upgrade of the extractor. It looks at all days, since an import appends old answers; a projection has the
// readings of each brand and day, so that it reads no answers. It may run beside rereads.
func (r *Rereader) Sweep(ctx context.Context) error {
	first, err := r.firstUnfrozen(ctx)
	if err != nil {
		return err
	}
	brands, err := clickhouse.StaleBrands(ctx, r.warehouse, first)
	if err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	for chunk := range slices.Chunk(brands, maxQueued) {
		stale := make([]postgres.OutdatedBrand, len(chunk))
		for i, b := range chunk {
			stale[i] = postgres.OutdatedBrand{
				BrandID: uuid.UUID(b.BrandID), Revision: b.Revision, ExtractVersion: int(b.ExtractVersion),
			}
		}
		queued, err := within(ctx, r.cfg.Timeout, func(ctx context.Context) (int64, error) {
			return r.control.QueueOutdated(ctx, stale, r.cfg.ExtractVersion)
		})
		if err != nil {
			return fmt.Errorf("sweep: %w", err)
		}
		r.metrics.queued.Add(float64(queued))
		if queued > 0 {
			r.log.Info("brands queued to be reread", "brands", queued)
		}
	}
	return nil
}
