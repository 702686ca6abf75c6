package imports

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/answer"
	"github.com/answerscope/answerscope/ingest/event"
)

// Append appends the answers that are not in the warehouse, and returns when Kafka has them all; an error is an
// *Interrupted.
func (im *Importer) Append(ctx context.Context, answers iter.Seq[event.Answer]) (Summary, error) {
	s := newImportRun(im, event.TopicAnswers)
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
	ids := func(v *event.Visit) (id, brand uuid.UUID) { return v.ID, v.BrandID }
	return appendEach(ctx, im, event.TopicVisits, visits, ids, event.EncodeVisit)
}

// AppendCrawls is AppendVisits for crawls.
func (im *Importer) AppendCrawls(ctx context.Context, crawls iter.Seq[event.Crawl]) (appended int, err error) {
	ids := func(c *event.Crawl) (id, brand uuid.UUID) { return c.ID, c.BrandID }
	return appendEach(ctx, im, event.TopicCrawls, crawls, ids, event.EncodeCrawl)
}

func appendEach[T any, P interface {
	*T
	Check(now time.Time) error
}](
	ctx context.Context, im *Importer, topic string, facts iter.Seq[T],
	ids func(P) (id, brand uuid.UUID), encode func([]byte, P) ([]byte, error),
) (appended int, err error) {
	b := batch{Importer: im, topic: topic, appended: &appended}
	for fact := range facts {
		id, brand := ids(&fact)
		if err := P(&fact).Check(im.now()); err != nil {
			return appended, fmt.Errorf("check %s of %s: %w", id, topic, err)
		}
		value, err := encode(nil, &fact)
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
