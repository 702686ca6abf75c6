package reread

import (
	"context"
	"fmt"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/pipeline/consume"
)

// isStalled says whether the partition of a brand is stalled. Many brands share a partition; those of others are reread
// meanwhile.
func (r *Rereader) isStalled(ctx context.Context, brand uuid.UUID) (bool, error) {
	if len(r.stalled) == 0 {
		return false, nil
	}
	progress, err := r.progress(ctx)
	if err != nil {
		return false, err
	}
	for _, p := range progress {
		if end := r.stalled[p.Partition]; p.Committed >= end || p.End < end { // the latter: the log was replaced
			delete(r.stalled, p.Partition)
		}
	}
	of, err := progressOf(progress, brand)
	_, is := r.stalled[of.Partition]
	return is, err
}

// progress asks how far the sink of answers is.
func (r *Rereader) progress(ctx context.Context) ([]consume.Position, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, r.cfg.Timeout, fmt.Errorf("no response from the brokers within %v", r.cfg.Timeout))
	defer cancel()
	return consume.Positions(ctx, r.cfg.Connection, r.cfg.Group, r.cfg.Topic)
}

// progressOf is that of the partition of a brand's answers.
func progressOf(progress []consume.Position, brand uuid.UUID) (consume.Position, error) {
	if len(progress) == 0 {
		return consume.Position{}, fmt.Errorf("find partition of brand %s: the topic has none", brand)
	}
	return progress[producer.Partition(event.BrandKey(brand), len(progress))], nil
}

// watch follows the partition of a page that was appended.
type watch struct {
	brand    uuid.UUID
	lookedAt time.Time
	movedAt  time.Time // when the sink was last seen to have inserted more
	end      int64     // the page is below it; 0 before the first look
	consume.Position
}

// look asks for the progress again, if the last look is old enough.
func (w *watch) look(ctx context.Context, r *Rereader) error {
	if time.Since(w.lookedAt) < r.cfg.ProgressInterval {
		return nil
	}
	progress, err := r.progress(ctx)
	if err != nil {
		return err
	}
	now, err := progressOf(progress, w.brand)
	if err != nil {
		return err
	}
	if w.end == 0 {
		w.end = now.End
	} else if now.Committed != w.Committed {
		w.movedAt = time.Now()
	}
	w.Position, w.lookedAt = now, time.Now()
	return nil
}

// passed says whether the sink is past the page.
func (w *watch) passed() bool { return w.end > 0 && w.Committed >= w.end }
