package intake

import (
	"context"
	"fmt"
	"iter"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
)

// AppendVisits appends visits that are already made, and returns how many Kafka
// has. All of a brand come to one partition, where the sink drops what was told
// before: telling a history again adds nothing to it, even while it is on its way.
func (in *Intake) AppendVisits(ctx context.Context, visits iter.Seq[event.Visit]) (appended int, err error) {
	var records []producer.Record
	size := 0
	flush := func() error {
		n, err := in.log.AppendAll(ctx, event.TopicVisits, records)
		appended += n
		records, size = records[:0], 0
		return err
	}
	for v := range visits {
		if err := v.Check(in.now()); err != nil {
			return appended, fmt.Errorf("check visit %s: %w", v.ID, err)
		}
		value, err := event.EncodeVisit(nil, &v)
		if err != nil {
			return appended, fmt.Errorf("encode visit %s: %w", v.ID, err)
		}
		if len(records) == in.config.BatchLines || size+len(value) > in.config.BatchBytes {
			if err := flush(); err != nil {
				return appended, err
			}
		}
		records = append(records, producer.Record{Key: []byte(v.BrandID.String()), Value: value})
		size += len(value)
	}
	return appended, flush()
}
