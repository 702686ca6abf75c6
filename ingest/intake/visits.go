package intake

import (
	"context"
	"fmt"
	"iter"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
)

// AppendVisits appends visits that are already made, and returns how many Kafka
// has. All of a brand come to one partition, where the sink drops what was told
// before: telling a history again adds nothing to it, even while it is on its way.
func (in *Intake) AppendVisits(ctx context.Context, visits iter.Seq[event.Visit]) (appended int, err error) {
	return appendMade(ctx, in, event.TopicVisits, visits, func(v *event.Visit) (key uuid.UUID, value []byte, err error) {
		if err := v.Check(in.now()); err != nil {
			return v.BrandID, nil, fmt.Errorf("check visit %s: %w", v.ID, err)
		}
		value, err = event.EncodeVisit(nil, v)
		return v.BrandID, value, err
	})
}

// AppendCrawls is AppendVisits for crawls.
func (in *Intake) AppendCrawls(ctx context.Context, crawls iter.Seq[event.Crawl]) (appended int, err error) {
	return appendMade(ctx, in, event.TopicCrawls, crawls, func(c *event.Crawl) (key uuid.UUID, value []byte, err error) {
		if err := c.Check(in.now()); err != nil {
			return c.BrandID, nil, fmt.Errorf("check crawl %s: %w", c.ID, err)
		}
		value, err = event.EncodeCrawl(nil, c)
		return c.BrandID, value, err
	})
}

// appendMade appends facts as the records that record makes of them, a batch at a time.
func appendMade[T any](ctx context.Context, in *Intake, topic string, facts iter.Seq[T], record func(*T) (key uuid.UUID, value []byte, err error)) (appended int, err error) {
	var records []producer.Record
	size := 0
	flush := func() error {
		n, err := in.log.AppendAll(ctx, topic, records)
		appended += n
		records, size = records[:0], 0
		return err
	}
	for fact := range facts {
		key, value, err := record(&fact)
		if err != nil {
			return appended, err
		}
		if len(records) == in.config.BatchLines || size+len(value) > in.config.BatchBytes {
			if err := flush(); err != nil {
				return appended, err
			}
		}
		records = append(records, producer.Record{Key: []byte(key.String()), Value: value})
		size += len(value)
	}
	return appended, flush()
}
