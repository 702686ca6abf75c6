package imports

import (
	"context"
	"fmt"
	"iter"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/answer"
	"github.com/answerscope/answerscope/ingest/event"
)

// Append appends the answers that are not in the warehouse, and returns when Kafka has them all; an error is an
// *Interrupted.
func (im *Importer) Append(ctx context.Context, answers iter.Seq[event.Answer]) (Summary, error) {
	s := newSession(im, event.TopicAnswers)
	to := target{topic: event.TopicAnswers, lookup: im.lookups.Answers}
	var facts []fact
	for a := range answers {
		if !s.seen.add(a.ID) {
			s.Skipped++
			continue
		}
		if len(facts) == im.limits.batchLines || a.Brand.ID != to.brand {
			if err := s.deliver(ctx, to, facts); err != nil {
				return s.Summary, s.interrupted(0, err)
			}
			facts, to.organization, to.brand = nil, a.OrganizationID, a.Brand.ID
		}
		facts = append(facts, fact{
			brand: a.Brand.ID, id: a.ID, at: a.AnsweredAt.Time,
			encode: func(_, _ uuid.UUID) ([]byte, error) {
				record, err := answer.Record(&a, im.now())
				return record.Value, err
			},
		})
	}
	if err := s.deliver(ctx, to, facts); err != nil {
		return s.Summary, s.interrupted(0, err)
	}
	return s.Summary, nil
}

// AppendVisits appends visits, and returns how many Kafka has. All of a brand come to one partition, where the sink
// drops those that were appended before: appending a history again adds nothing.
func (im *Importer) AppendVisits(ctx context.Context, visits iter.Seq[event.Visit]) (appended int, err error) {
	return appendEach(ctx, im, event.TopicVisits, visits, func(v *event.Visit) (brand uuid.UUID, value []byte, err error) {
		if err := v.Check(im.now()); err != nil {
			return v.BrandID, nil, fmt.Errorf("check visit %s: %w", v.ID, err)
		}
		value, err = event.EncodeVisit(nil, v)
		return v.BrandID, value, err
	})
}

// AppendCrawls is AppendVisits for crawls.
func (im *Importer) AppendCrawls(ctx context.Context, crawls iter.Seq[event.Crawl]) (appended int, err error) {
	return appendEach(ctx, im, event.TopicCrawls, crawls, func(c *event.Crawl) (brand uuid.UUID, value []byte, err error) {
		if err := c.Check(im.now()); err != nil {
			return c.BrandID, nil, fmt.Errorf("check crawl %s: %w", c.ID, err)
		}
		value, err = event.EncodeCrawl(nil, c)
		return c.BrandID, value, err
	})
}

func appendEach[T any](
	ctx context.Context, im *Importer, topic string, facts iter.Seq[T], encode func(*T) (brand uuid.UUID, value []byte, err error),
) (appended int, err error) {
	b := batch{Importer: im, topic: topic, appended: &appended}
	for fact := range facts {
		brand, value, err := encode(&fact)
		if err == nil {
			err = b.add(ctx, brand, value)
		}
		if err != nil {
			return appended, err
		}
	}
	err = b.flush(ctx)
	return appended, err
}
