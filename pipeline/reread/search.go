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

// A search goes through the days on which a brand has outdated answers. The days are asked for once a turn.
type search struct {
	run   postgres.Reread
	than  clickhouse.StaleFilter // what their readings are older than
	days  []clickhouse.StaleDay  // those ahead
	total int64                  // answers that were outdated when the days were asked for
}

// next gives the next page of outdated answers after a cursor; none when no day after it has any.
func (r *Rereader) next(ctx context.Context, s *search, names *postgres.Snapshot, cursor clickhouse.StaleCursor) ([]clickhouse.StaleAnswer, error) {
	if than := r.current(names); s.than != than || cursor == (clickhouse.StaleCursor{}) {
		s.than = than
		if err := r.findDays(ctx, s, cursor); err != nil {
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
		page, err := clickhouse.StaleAnswers(ctx, r.warehouse, s.than, days, cursor, r.cfg.PageSize)
		if err != nil || len(page) > 0 {
			return page, err
		}
		s.days = s.days[len(days):]
	}
	return nil, nil
}

// findDays asks for the days from a cursor on.
func (r *Rereader) findDays(ctx context.Context, s *search, cursor clickhouse.StaleCursor) error {
	first, err := r.firstKept(ctx)
	if err != nil {
		return err
	}
	for _, day := range []time.Time{s.run.FirstDay, cursor.Day} {
		if day.After(first) {
			first = day
		}
	}
	s.days, err = clickhouse.StaleDays(ctx, r.warehouse, s.than, first, s.run.LastDay)
	s.total = 0
	for _, d := range s.days {
		s.total += int64(d.Answers)
	}
	return err
}

// current is the reading that a brand's answers should have.
func (r *Rereader) current(names *postgres.Snapshot) clickhouse.StaleFilter {
	return clickhouse.StaleFilter{
		OrganizationID: clickhouse.UUID(names.OrganizationID), BrandID: clickhouse.UUID(names.BrandID),
		Revision: names.Revision, ExtractVersion: uint16(r.cfg.ExtractVersion),
	}
}

// firstKept is the first day that is not frozen: nothing is inserted before it.
func (r *Rereader) firstKept(ctx context.Context) (time.Time, error) {
	first, err := within(ctx, r.cfg.Timeout, func(ctx context.Context) (time.Time, error) {
		return r.control.FrozenBefore(ctx, event.TopicAnswers)
	})
	if first.IsZero() {
		first = time.Unix(0, 0)
	}
	return first, err
}

// sweptAtOnce bounds the brands of one statement.
const sweptAtOnce = 5000

// Sweep queues every brand with an outdated answer: one that was under way with the earlier names, and all after an
// upgrade of the extractor. It looks at all days, since an import appends old answers; a projection has the readings of
// each brand and day, so that it reads no answers. It is safe beside rereads.
func (r *Rereader) Sweep(ctx context.Context) error {
	first, err := r.firstKept(ctx)
	if err != nil {
		return err
	}
	brands, err := clickhouse.StaleBrands(ctx, r.warehouse, first)
	if err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	for some := range slices.Chunk(brands, sweptAtOnce) {
		oldest := make([]postgres.OutdatedBrand, len(some))
		for i, b := range some {
			oldest[i] = postgres.OutdatedBrand{BrandID: uuid.UUID(b.BrandID), Revision: b.Revision, ExtractVersion: int(b.ExtractVersion)}
		}
		queued, err := within(ctx, r.cfg.Timeout, func(ctx context.Context) (int64, error) {
			return r.control.QueueOutdated(ctx, oldest, r.cfg.ExtractVersion)
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
