package tracking

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/fault"
	"github.com/answerscope/answerscope/internal/lifecycle"
)

const (
	landInterval = 500 * time.Millisecond // between two looks for answers in the warehouse
	landMost     = 1000                   // ids of one look
	landAsDead   = 10                     // looks until one for dead letters
	// landSettles is how long the batches may take at most that were being inserted when the last answer was seen.
	landSettles = 30 * time.Second
	// landCancelled is how long a cancelled job waits at most for answers that it has.
	landCancelled = 30 * time.Second
	// landWithin is when a job has landed at the latest, after its start: a day after its last run has ended.
	landWithin = runTimeout + 24*time.Hour
)

// appendAnswers appends stored records until all is asked and the log has every one. While Kafka is away it waits.
func (w *worker) appendAnswers(ctx context.Context, asked <-chan struct{}) error {
	for {
		last := false
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-w.ended:
		case <-asked:
			last = true
		}
		for {
			more, err := w.appendSome(ctx)
			if err != nil {
				return err
			}
			if !more {
				break
			}
		}
		if last {
			return nil
		}
	}
}

// appendSome appends some of the stored records, and reports whether there were any.
func (w *worker) appendSome(ctx context.Context) (bool, error) {
	stored, err := retryRead(ctx, w.claim.UnappendedAnswers)
	if err != nil || len(stored) == 0 {
		return false, err
	}
	ids, records := make([]uuid.UUID, len(stored)), make([]producer.Record, len(stored))
	for i, s := range stored {
		ids[i], records[i] = s.ID, producer.Record{Key: event.BrandKey(w.claim.BrandID), Value: []byte(s.Answer)}
	}
	wait := backoff.NewExponentialBackOff()
	wait.MaxInterval = 15 * time.Second
	for away := false; ; away = true {
		if _, err = w.Append(ctx, event.TopicAnswers, records); err == nil {
			break
		}
		if !away && ctx.Err() == nil {
			w.log.Warn("answers of a tracking job wait for the log", "job", w.claim.ID, "cause", err, "next", "check that kafka answers; they are stored, and appended once it does")
		}
		if err := lifecycle.Pause(ctx, wait.NextBackOff()); err != nil {
			return false, err
		}
	}
	fault.Pass(fault.Appended)
	for marked := false; !marked; {
		if marked, err = retryRead(ctx, func(ctx context.Context) (bool, error) { return w.claim.ClearAppended(ctx, ids) }); err != nil {
			return false, err
		}
		if !marked { // a backup is made
			if err := lifecycle.Pause(ctx, landInterval); err != nil {
				return false, err
			}
		}
	}
	fault.Pass(fault.Marked)
	return true, nil
}

// land waits until the warehouse has every answer of the job, and finishes it. It does not wait for ever: what the log
// has lost does not land.
func (w *worker) land(ctx, asking context.Context) error {
	if all, err := retryRead(ctx, w.claim.BeginLanding); err != nil || !all {
		if err == nil {
			err = errUnfinished
		}
		return err
	}
	missing, err := retryRead(ctx, w.claim.AnswerIDs)
	if err != nil {
		return err
	}
	var cancelled time.Time
	for looks, away := 1, false; len(missing) > 0; looks++ {
		if cancelled.IsZero() && errors.Is(context.Cause(asking), errCancelled) {
			cancelled = time.Now()
		}
		missing, err = w.stillMissing(ctx, missing, looks%landAsDead == 0)
		if err != nil && !away && ctx.Err() == nil {
			w.log.Warn("landing of a tracking job unknown", "job", w.claim.ID, "cause", err, "next", "check that clickhouse answers")
		}
		away = err != nil
		if !cancelled.IsZero() && time.Since(cancelled) > landCancelled {
			break
		}
		if err == nil && len(missing) > 0 && w.Now().After(w.claim.CreatedAt.Add(landWithin)) {
			if err := w.giveUpLost(ctx, missing); err != nil {
				return err
			}
			break
		}
		if len(missing) > 0 {
			if err := lifecycle.Pause(ctx, landInterval); err != nil {
				return err
			}
		}
	}
	if err := w.settle(ctx); err != nil {
		return err
	}
	return retry(ctx, w.claim.Finish)
}

// settle waits for the batches that are being inserted: an insert writes an answer's row and its rollups in no known
// order.
func (w *worker) settle(ctx context.Context) error {
	began := time.Now()
	atWork, err := retryRead(ctx, w.DB.ActiveSinks)
	for err == nil && len(atWork) > 0 && time.Since(began) < landSettles {
		if err := lifecycle.Pause(ctx, landInterval/5); err != nil {
			return err
		}
		var now []int
		now, err = retryRead(ctx, w.DB.ActiveSinks)
		atWork = slices.DeleteFunc(atWork, func(connection int) bool { return !slices.Contains(now, connection) })
	}
	return err
}

// stillMissing are those of ids that the warehouse lacks; if it is asked for them, without dead letters.
func (w *worker) stillMissing(ctx context.Context, ids []uuid.UUID, askForDead bool) ([]uuid.UUID, error) {
	for len(ids) > 0 {
		some, others := ids[:min(landMost, len(ids))], ids[min(landMost, len(ids)):]
		landed, err := w.Landed(ctx, w.claim.OrganizationID, w.claim.BrandID, some)
		if err != nil {
			return ids, err
		}
		missing := without(some, landed)
		if askForDead && len(missing) > 0 {
			if missing, err = w.giveUpDead(ctx, missing); err != nil {
				return ids, err
			}
		}
		if len(missing) > 0 {
			return slices.Concat(missing, others), nil
		}
		ids = others
	}
	return nil, nil
}

// giveUpDead gives up runs whose records are dead letters, and returns the other ids.
func (w *worker) giveUpDead(ctx context.Context, ids []uuid.UUID) ([]uuid.UUID, error) {
	dead, err := w.Dead(ctx, w.claim.OrganizationID, w.claim.BrandID, ids)
	if err != nil || len(dead) == 0 {
		return ids, err
	}
	err = retry(ctx, func(ctx context.Context) error {
		return w.claim.GiveUp(ctx, slices.Collect(maps.Keys(dead)), string(platform.ChangedShape), "the record of its answer is a dead letter")
	})
	if err != nil {
		return ids, err
	}
	w.log.Warn("answers of a tracking job are dead letters", "job", w.claim.ID, "answers", len(dead), "next", "answerscope deadletters list")
	return without(ids, dead), nil
}

// giveUpLost gives up runs whose records have not landed in time.
func (w *worker) giveUpLost(ctx context.Context, ids []uuid.UUID) error {
	w.log.Warn("answers of a tracking job have not landed in a day, and are given up", "job", w.claim.ID, "answers", len(ids),
		"next", "if the sink is behind, nothing: they land later; if the log lost them, track the brand again")
	return retry(ctx, func(ctx context.Context) error {
		return w.claim.GiveUp(ctx, ids, string(platform.Unavailable), "its answer is not in the warehouse")
	})
}

func without(ids []uuid.UUID, found map[uuid.UUID]bool) (rest []uuid.UUID) {
	for _, id := range ids {
		if !found[id] {
			rest = append(rest, id)
		}
	}
	return rest
}
