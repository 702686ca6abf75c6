package tracking

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/fault"
	"github.com/answerscope/answerscope/internal/lifecycle"
)

const (
	landedInterval   = 500 * time.Millisecond // between two look-ups in the warehouse
	landedIDs        = 1000                   // of one look-up
	deadLetterEvery  = 10                     // look-ups
	sinkWait         = 30 * time.Second       // at most, for batches in flight when the last answer is found
	cancelledWait    = 30 * time.Second       // at most, for the answers of a cancelled job
	landingTimeout   = runTimeout + 24*time.Hour
	maxAppendBackoff = 15 * time.Second
)

// appendAnswers appends stored records until all runs were asked and the log has every record.
func (w *worker) appendAnswers(ctx context.Context, allAsked <-chan struct{}) error {
	for last := false; !last; {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-w.recordStored:
		case <-allAsked:
			last = true
		}
		for more := true; more; {
			var err error
			if more, err = w.appendSome(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// appendSome appends some of the stored records, and reports whether there were any. While Kafka is away it waits.
func (w *worker) appendSome(ctx context.Context) (more bool, err error) {
	stored, err := retryRead(ctx, w.claim.UnappendedAnswers)
	if err != nil || len(stored) == 0 {
		return false, err
	}
	ids, records := make([]uuid.UUID, len(stored)), make([]producer.Record, len(stored))
	for i, s := range stored {
		ids[i], records[i] = s.ID, producer.Record{Key: event.BrandKey(w.claim.BrandID), Value: []byte(s.Answer)}
	}
	backoff := lifecycle.Backoff{First: landedInterval, Max: maxAppendBackoff}
	warned := false
	err = lifecycle.Retry(ctx, backoff, nil, func(err error, _ time.Duration) {
		if !warned {
			w.log.Warn("answers of a tracking job wait for the log", "cause", err,
				"next", "check that kafka answers; they are stored, and appended once it does")
		}
		warned = true
	}, func(ctx context.Context) error {
		_, err := w.Append(ctx, event.TopicAnswers, records)
		return err
	})
	if err != nil {
		return false, err
	}
	fault.Pass(fault.Appended)
	for {
		marked, err := retryRead(ctx, func(ctx context.Context) (bool, error) {
			return w.claim.ClearAppended(ctx, ids)
		})
		if err != nil {
			return false, err
		}
		if marked {
			fault.Pass(fault.Marked)
			return true, nil
		}
		if err := lifecycle.Pause(ctx, landedInterval); err != nil { // a backup is made
			return false, err
		}
	}
}

// awaitLanded returns once the warehouse has every answer of the job. It gives up answers that the log has lost, after
// a day, and does not wait long for a cancelled job.
func (w *worker) awaitLanded(ctx, asking context.Context) error {
	if allEnded, err := retryRead(ctx, w.claim.BeginLanding); err != nil {
		return err
	} else if !allEnded {
		return errUnfinished
	}
	missing, err := retryRead(ctx, w.claim.AnswerIDs)
	if err != nil {
		return err
	}
	waiting, done := lifecycle.Finishing(asking, cancelledWait)
	defer done()
	for lookups, warehouseAway := 1, false; len(missing) > 0 && waiting.Err() == nil; lookups++ {
		missing, err = w.missing(ctx, missing, lookups%deadLetterEvery == 0)
		if err != nil && !warehouseAway && ctx.Err() == nil {
			w.log.Warn("landing of a tracking job unknown", "cause", err, "next", "check that clickhouse answers")
		}
		warehouseAway = err != nil
		if err == nil && len(missing) > 0 && w.Now().After(w.claim.CreatedAt.Add(landingTimeout)) {
			w.log.Warn("answers of a tracking job have not landed in a day, and are given up", "answers", len(missing),
				"next", "if the sink is behind, nothing: they land later; if the log lost them, track the brand again")
			err = w.giveUpRuns(ctx, missing, platform.Unavailable, "its answer is not in the warehouse")
			if err != nil {
				return err
			}
			break
		}
		if len(missing) > 0 {
			if err := lifecycle.Pause(ctx, landedInterval); err != nil {
				return err
			}
		}
	}
	return w.awaitSinks(ctx)
}

// awaitSinks waits for the batches in flight: an insert writes an answer's row and its rollups in no known order.
func (w *worker) awaitSinks(ctx context.Context) error {
	began := time.Now()
	inserting, err := retryRead(ctx, w.DB.ActiveSinks)
	for err == nil && len(inserting) > 0 && time.Since(began) < sinkWait {
		if err := lifecycle.Pause(ctx, landedInterval/5); err != nil {
			return err
		}
		var still []int
		still, err = retryRead(ctx, w.DB.ActiveSinks)
		inserting = slices.DeleteFunc(inserting, func(sink int) bool { return !slices.Contains(still, sink) })
	}
	return err
}

// missing returns the answers that the warehouse lacks. It looks no further than the first thousand with a gap, and
// gives up the dead letters among them if findDead is set.
func (w *worker) missing(ctx context.Context, ids []uuid.UUID, findDead bool) ([]uuid.UUID, error) {
	for len(ids) > 0 {
		page, rest := ids[:min(landedIDs, len(ids))], ids[min(landedIDs, len(ids)):]
		landed, err := w.Landed(ctx, w.claim.OrganizationID, w.claim.BrandID, page)
		if err != nil {
			return ids, err
		}
		page = without(page, landed)
		if findDead && len(page) > 0 {
			if page, err = w.giveUpDead(ctx, page); err != nil {
				return ids, err
			}
		}
		if len(page) > 0 {
			return slices.Concat(page, rest), nil
		}
		ids = rest
	}
	return nil, nil
}

// giveUpDead gives up runs whose records are dead letters, and returns the other ids.
func (w *worker) giveUpDead(ctx context.Context, ids []uuid.UUID) ([]uuid.UUID, error) {
	dead, err := w.Dead(ctx, w.claim.OrganizationID, w.claim.BrandID, ids)
	if err != nil || len(dead) == 0 {
		return ids, err
	}
	reason := "the record of its answer is a dead letter"
	if err := w.giveUpRuns(ctx, slices.Collect(maps.Keys(dead)), platform.ChangedShape, reason); err != nil {
		return ids, err
	}
	w.log.Warn("answers of a tracking job are dead letters", "answers", len(dead),
		"next", "answerscope deadletters list")
	return without(ids, dead), nil
}

func (w *worker) giveUpRuns(ctx context.Context, answers []uuid.UUID, class platform.Class, reason string) error {
	return retry(ctx, func(ctx context.Context) error { return w.claim.GiveUp(ctx, answers, string(class), reason) })
}

func without(ids []uuid.UUID, excluded map[uuid.UUID]bool) (rest []uuid.UUID) {
	for _, id := range ids {
		if !excluded[id] {
			rest = append(rest, id)
		}
	}
	return rest
}
