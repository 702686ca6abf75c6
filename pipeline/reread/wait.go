package reread

import (
	"context"
	"fmt"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// replicaLag bounds how far a replica is behind. Answers that it lacks after that time were refused.
const replicaLag = 3 * time.Second

// awaitInserted waits until the sink has inserted a page and returns how many of its answers were refused. inserted is
// false when the partition makes no progress.
func (r *Rereader) awaitInserted(ctx context.Context, p *page) (refused int, inserted bool, err error) {
	if len(p.ids) == 0 {
		return 0, true, nil
	}
	began, changed, renewed := time.Now(), time.Now(), p.began
	sink, pending := sinkProgress{brand: p.snapshot.BrandID, readAt: began, movedAt: began}, p.ids
	for wait := 50 * time.Millisecond; ; wait = min(wait*3/2, 2*time.Second) {
		before := len(pending)
		if pending, err = r.pending(ctx, p, pending); err != nil {
			return 0, false, err
		}
		if len(pending) == 0 {
			r.metrics.landing.Observe(time.Since(began).Seconds())
			return 0, true, nil
		}
		if len(pending) < before || !sink.passed() {
			changed = time.Now()
		}
		late := time.Since(sink.movedAt) > r.cfg.StallTimeout || time.Since(began) > pageTimeout
		switch {
		case time.Since(changed) > replicaLag:
			return len(pending), true, nil
		case !sink.passed() && sink.end > 0 && late:
			r.stall(p, &sink, len(pending), time.Since(began))
			return 0, false, nil
		case time.Since(renewed) > r.cfg.Lease/3:
			renewed = time.Now()
			if err := r.renewLease(ctx, p.snapshot.BrandID); err != nil {
				return 0, false, err
			}
		}
		if err := lifecycle.Pause(ctx, wait); err != nil {
			return 0, false, err
		}
		if err := sink.update(ctx, r); err != nil {
			return 0, false, err
		}
	}
}

// pending returns the ids whose current row has an older reading than the page's.
func (r *Rereader) pending(ctx context.Context, p *page, ids []clickhouse.UUID) ([]clickhouse.UUID, error) {
	filter := r.staleFilter(p.snapshot)
	keys := make([]clickhouse.Key, len(ids))
	for i, id := range ids {
		keys[i] = clickhouse.Key{OrganizationID: filter.OrganizationID, BrandID: filter.BrandID, ID: id}
	}
	landed, err := clickhouse.LandedAnswers(ctx, r.warehouse, keys, clickhouse.LogLimit{})
	if err != nil {
		return nil, err
	}
	want := clickhouse.ReadingVersion{Revision: filter.Revision, ExtractVersion: filter.ExtractVersion}
	var pending []clickhouse.UUID
	for i, key := range keys {
		if version, ok := landed[key]; ok && version.Older(want) {
			pending = append(pending, ids[i])
		}
	}
	return pending, nil
}

// renewLease keeps the brand for this process while its page is inserted.
func (r *Rereader) renewLease(ctx context.Context, brand uuid.UUID) error {
	if err := r.report(ctx); err != nil {
		return err
	}
	_, err := within(ctx, r.cfg.Timeout, func(ctx context.Context) (bool, error) { return r.queue.Extend(ctx, brand) })
	return err
}

// sinkProgress follows the partition of a page that was appended.
type sinkProgress struct {
	brand    uuid.UUID
	readAt   time.Time
	movedAt  time.Time // when the sink last had inserted more
	end      int64     // the page is below it; 0 before the first reading
	position consume.Position
}

// update reads the progress, if the last reading is old enough.
func (s *sinkProgress) update(ctx context.Context, r *Rereader) error {
	if time.Since(s.readAt) < r.cfg.ProgressInterval {
		return nil
	}
	positions, err := r.positions(ctx)
	if err != nil {
		return err
	}
	position, err := positionOf(positions, s.brand)
	if err != nil {
		return err
	}
	if s.end == 0 {
		s.end = position.End
	} else if position.Committed != s.position.Committed {
		s.movedAt = time.Now()
	}
	s.position, s.readAt = position, time.Now()
	return nil
}

// passed reports whether the sink is past the page.
func (s *sinkProgress) passed() bool { return s.end > 0 && s.position.Committed >= s.end }

// stall records that the brands of a partition wait until it has inserted a page.
func (r *Rereader) stall(p *page, s *sinkProgress, pending int, waited time.Duration) {
	r.stalled[s.position.Partition] = s.end
	r.log.Warn("reread is not inserted", "brand", p.snapshot.BrandID, "answers", pending, "waited", waited,
		"partition", s.position.Partition, "inserted", max(0, s.position.Committed), "end", s.end,
		"next", "see why the sink of answers is behind on that partition; its brands go on once it has inserted these")
}

// isStalled reports whether the partition of a brand is stalled. Many brands share a partition; brands of others are
// reread meanwhile.
func (r *Rereader) isStalled(ctx context.Context, brand uuid.UUID) (bool, error) {
	if len(r.stalled) == 0 {
		return false, nil
	}
	positions, err := r.positions(ctx)
	if err != nil {
		return false, err
	}
	for _, p := range positions {
		if end := r.stalled[p.Partition]; p.Committed >= end || p.End < end { // the latter: the log was replaced
			delete(r.stalled, p.Partition)
		}
	}
	position, err := positionOf(positions, brand)
	_, stalled := r.stalled[position.Partition]
	return stalled, err
}

// positions asks the brokers for the progress of the sink of answers.
func (r *Rereader) positions(ctx context.Context) ([]consume.Position, error) {
	timeout := r.cfg.Timeout
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("no response from the brokers within %v", timeout))
	defer cancel()
	return consume.Positions(ctx, r.cfg.Connection, r.cfg.Group, r.cfg.Topic)
}

// positionOf selects the partition of a brand's answers.
func positionOf(positions []consume.Position, brand uuid.UUID) (consume.Position, error) {
	if len(positions) == 0 {
		return consume.Position{}, fmt.Errorf("find partition of brand %s: the topic has none", brand)
	}
	return positions[producer.Partition(event.BrandKey(brand), len(positions))], nil
}
