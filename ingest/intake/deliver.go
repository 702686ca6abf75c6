package intake

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/answerscope/answerscope/ingest/answer"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/gofrs/uuid/v5"
)

// delivery brings answers that have not landed onto the log, and counts.
type delivery struct {
	*Intake
	seen    *seen
	summary Summary
}

func newDelivery(in *Intake) *delivery {
	return &delivery{Intake: in, seen: newSeen(in.config.Remembered), summary: Summary{Refusals: []Refusal{}}}
}

// told is an answer with the line that it came from, 0 for none.
type told struct {
	line   int
	answer event.Answer
}

// Append appends records that are already made, those that have not landed, and
// returns when Kafka has them all; an error is an *Interrupted.
func (in *Intake) Append(ctx context.Context, answers iter.Seq[event.Answer]) (Summary, error) {
	d := newDelivery(in)
	var batch []told
	for a := range answers {
		if !d.seen.add(a.ID) {
			d.summary.Skipped++
			continue
		}
		if len(batch) == in.config.BatchLines || len(batch) > 0 && batch[0].answer.Brand.ID != a.Brand.ID {
			if err := d.tell(ctx, batch); err != nil {
				return d.summary, &Interrupted{Summary: d.summary, Cause: err}
			}
			batch = batch[:0]
		}
		batch = append(batch, told{answer: a})
	}
	if err := d.tell(ctx, batch); err != nil {
		return d.summary, &Interrupted{Summary: d.summary, Cause: err}
	}
	return d.summary, nil
}

// tell appends what of a batch of one brand's answers has not landed.
func (d *delivery) tell(ctx context.Context, batch []told) error {
	batch, err := thawed(ctx, d.store, batch,
		func(t told) time.Time { return t.answer.AnsweredAt.Time },
		func(t told, why error) { d.refuse(t.line, t.answer.Brand.ID, why) })
	if err != nil {
		return err
	}
	if len(batch) == 0 {
		return ctx.Err()
	}
	first := batch[0].answer
	landed, err := d.landed(ctx, first.OrganizationID, first.Brand.ID, len(batch), func(n int) uuid.UUID { return batch[n].answer.ID })
	if err != nil {
		return err
	}
	return d.send(ctx, func(yield func(told) bool) {
		for n, t := range batch {
			if !landed[n] && !yield(t) {
				return
			}
		}
	})
}

// landed tells which of n answers have landed, and counts them as skipped.
func (d *delivery) landed(ctx context.Context, organization, brand uuid.UUID, n int, id func(n int) uuid.UUID) ([]bool, error) {
	ids := make([]uuid.UUID, n)
	for i := range ids {
		ids[i] = id(i)
	}
	found, err := d.landings.Landed(ctx, organization, brand, ids)
	if err != nil {
		return nil, fmt.Errorf("look up %d answers of brand %s: %w", n, brand, err)
	}
	landed := make([]bool, n)
	for i, id := range ids {
		if found[id] {
			landed[i] = true
			d.summary.Skipped++
		}
	}
	return landed, nil
}

// send appends answers and waits for Kafka to have them.
func (d *delivery) send(ctx context.Context, answers iter.Seq[told]) error {
	var records []producer.Record
	size := 0
	for t := range answers {
		record, err := answer.Record(&t.answer, d.now())
		if err != nil {
			d.refuse(t.line, t.answer.Brand.ID, err)
			continue
		}
		if size > 0 && size+len(record.Value) > d.config.BatchBytes {
			if err := d.append(ctx, records); err != nil {
				return err
			}
			records, size = records[:0], 0
		}
		records = append(records, record)
		size += len(record.Value)
	}
	return d.append(ctx, records)
}

func (d *delivery) append(ctx context.Context, records []producer.Record) error {
	if len(records) == 0 {
		return ctx.Err()
	}
	appended, err := d.log.AppendAll(ctx, event.TopicAnswers, records)
	d.summary.Imported += appended
	return err
}

func (d *delivery) refuse(line int, brand uuid.UUID, why error) {
	d.summary.Refused++
	if len(d.summary.Refusals) < d.config.Listed {
		d.summary.Refusals = append(d.summary.Refusals, Refusal{Line: line, Brand: brand, Reason: why.Error()})
	}
}
