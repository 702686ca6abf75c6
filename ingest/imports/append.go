package imports

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
)

// Append appends those of the answers that have not landed, and returns when Kafka has them all; an error is a
// *Interrupted.
func (in *Importer) Append(ctx context.Context, answers iter.Seq[event.Answer]) (Summary, error) {
	d := newDelivery(in)
	var batch []sourced
	for a := range answers {
		if !d.seen.add(a.ID) {
			d.summary.Skipped++
			continue
		}
		if len(batch) == in.limits.batchLines || len(batch) > 0 && batch[0].answer.Brand.ID != a.Brand.ID {
			if err := d.appendBatch(ctx, batch); err != nil {
				return d.summary, d.interrupted(0, err)
			}
			batch = batch[:0]
		}
		batch = append(batch, sourced{answer: a})
	}
	if err := d.appendBatch(ctx, batch); err != nil {
		return d.summary, d.interrupted(0, err)
	}
	return d.summary, nil
}

// appendBatch appends those of one brand's answers that have not landed.
func (d *delivery) appendBatch(ctx context.Context, batch []sourced) error {
	batch, err := withoutFrozen(ctx, d.store, event.TopicAnswers, batch,
		func(s sourced) time.Time { return s.answer.AnsweredAt.Time },
		func(s sourced, why error) { d.refuse(s.line, s.answer.Brand.ID, why) })
	if err != nil {
		return err
	}
	if len(batch) == 0 {
		return ctx.Err()
	}
	first := batch[0].answer
	landed, err := d.landed(ctx, d.landings.Answers, first.OrganizationID, first.Brand.ID, len(batch), func(n int) uuid.UUID { return batch[n].answer.ID })
	if err != nil {
		return err
	}
	return d.send(ctx, func(yield func(sourced) bool) {
		for n, s := range batch {
			if !landed[n] && !yield(s) {
				return
			}
		}
	})
}

// AppendVisits appends visits, and returns how many Kafka has. All of a brand come to one partition, where the sink
// drops those that were appended before: appending a history again adds nothing.
func (in *Importer) AppendVisits(ctx context.Context, visits iter.Seq[event.Visit]) (appended int, err error) {
	return appendFacts(ctx, in, event.TopicVisits, visits, func(v *event.Visit) (key uuid.UUID, value []byte, err error) {
		if err := v.Check(in.now()); err != nil {
			return v.BrandID, nil, fmt.Errorf("check visit %s: %w", v.ID, err)
		}
		value, err = event.EncodeVisit(nil, v)
		return v.BrandID, value, err
	})
}

// AppendCrawls is AppendVisits for crawls.
func (in *Importer) AppendCrawls(ctx context.Context, crawls iter.Seq[event.Crawl]) (appended int, err error) {
	return appendFacts(ctx, in, event.TopicCrawls, crawls, func(c *event.Crawl) (key uuid.UUID, value []byte, err error) {
		if err := c.Check(in.now()); err != nil {
			return c.BrandID, nil, fmt.Errorf("check crawl %s: %w", c.ID, err)
		}
		value, err = event.EncodeCrawl(nil, c)
		return c.BrandID, value, err
	})
}

// appendFacts appends the records that encode makes of facts, a batch at a time.
func appendFacts[T any](ctx context.Context, in *Importer, topic string, facts iter.Seq[T], encode func(*T) (key uuid.UUID, value []byte, err error)) (appended int, err error) {
	var records []producer.Record
	size := 0
	flush := func() error {
		n, err := in.producer.AppendAll(ctx, topic, records)
		appended += n
		records, size = records[:0], 0
		return err
	}
	for fact := range facts {
		key, value, err := encode(&fact)
		if err != nil {
			return appended, err
		}
		if len(records) == in.limits.batchLines || size+len(value) > in.limits.batchBytes {
			if err := flush(); err != nil {
				return appended, err
			}
		}
		records = append(records, producer.Record{Key: event.BrandKey(key), Value: value})
		size += len(value)
	}
	return appended, flush()
}
