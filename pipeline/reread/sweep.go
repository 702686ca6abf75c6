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

// sweptAtOnce bounds the brands of one statement.
const sweptAtOnce = 5000

// Sweep queues every brand of which an answer stands with an older reading: answers
// that were under way with the earlier names, and all after an upgrade of the
// extractor. It asks of all days, since what was under way may be of any of them: an
// import tells old answers. The warehouse keeps the readings of each brand and day, so
// that it reads no answers. It is safe beside rereads.
func (r *Rereader) Sweep(ctx context.Context) error {
	since, err := r.lives(ctx)
	if err != nil {
		return err
	}
	brands, err := clickhouse.StaleBrands(ctx, r.kept, since)
	if err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	for some := range slices.Chunk(brands, sweptAtOnce) {
		stale := make([]postgres.OutdatedBrand, len(some))
		for i, b := range some {
			stale[i] = postgres.OutdatedBrand{BrandID: uuid.UUID(b.BrandID), Revision: b.Revision, ExtractVersion: int(b.ExtractVersion)}
		}
		queued, err := within(ctx, r.cfg.Silence, func(ctx context.Context) (int64, error) {
			return r.control.QueueOutdated(ctx, stale, r.cfg.ExtractVersion)
		})
		if err != nil {
			return fmt.Errorf("sweep: %w", err)
		}
		r.metrics.queued.Add(float64(queued))
		if queued > 0 {
			r.logger.Info("brands to be read again", "brands", queued)
		}
	}
	return nil
}

// lives is the first day of which answers are kept for sure: what is frozen lands no
// more.
func (r *Rereader) lives(ctx context.Context) (time.Time, error) {
	since, err := within(ctx, r.cfg.Silence, func(ctx context.Context) (time.Time, error) {
		return r.control.FrozenBefore(ctx, event.TopicAnswers)
	})
	if since.IsZero() {
		since = time.Unix(0, 0)
	}
	return since, err
}
