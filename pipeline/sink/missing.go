package sink

import (
	"context"
	"errors"

	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// Missing is what the landing table lacks of some records that have landed, as after the loss of a part.
type Missing[R Row] struct {
	Rows    []R
	Records int // that make them
	Present int // records that lack nothing
}

// Table is the landing table.
func (s *Sink[R]) Table() clickhouse.Table[R] { return s.topic.table }

// Missing finds what is lost of items. It takes the steps of a batch that lands, but sees all rows of all partitions:
// an id may have come once more since. What of the month was lost comes back as it was, also a correction, but for one
// between two that were kept. With a lock, deleted brands are left out; under the exclusive one the result stays true.
func (s *Sink[R]) Missing(ctx context.Context, conn *clickhouse.Conn, items []Item[R], lock consume.SinkLock) (Missing[R], error) {
	lookUp := *s
	lookUp.cache = nil // it has ids of lost rows
	if s.topic.counted != nil {
		lookUp.topic.landed = s.topic.counted
	}
	in := insertion[R]{Sink: &lookUp, conn: conn, Batch: &consume.Batch[Item[R]]{Items: items, Lock: lock, FetchAll: isFrozen}}
	if err := in.dispose(ctx); err != nil {
		return Missing[R]{}, err
	}
	err := in.deduplicate(ctx)
	return Missing[R]{in.rows, in.outcomes[inserted] + in.outcomes[corrected], in.outcomes[duplicate] + in.outcomes[outdated]}, err
}

// ErrFrozen is returned for records of a month that has been frozen.
var ErrFrozen = errors.New("the month is frozen: its facts expire, and its sums stay")

func isFrozen(context.Context, []int64) ([]*consume.Record, error) { return nil, ErrFrozen }
