package sink

import (
	"errors"
	"strings"
	"time"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// Item is a decoded record: a row of the landing table, or a dead letter.
type Item[R Row] struct {
	row    R
	reread bool // row is a new reading of an earlier answer
	dead   *clickhouse.DeadLetter
}

// Decode makes the item of a record. A malformed record becomes a dead letter, byte for byte. The error is an
// event.ErrNewer for a record of a newer version and a reread for a later extractor.
func (s *Sink[R]) Decode(version int, r consume.Record) (item Item[R], month int, err error) {
	row, reread, err := s.topic.decode(version, r)
	switch {
	case errors.Is(err, event.ErrNewer):
		return Item[R]{}, 0, err
	case err != nil:
		dead := deadLetter(&r, "malformed", err.Error())
		return Item[R]{dead: &dead}, int(clickhouse.MonthOf(dead.AppendedAt)), nil
	}
	return Item[R]{row: row, reread: reread}, int(row.Month()), nil
}

// maxDetail bounds the error text of a dead letter, in bytes.
const maxDetail = 4 << 10

// deadLetter keeps a record byte for byte.
func deadLetter(r *consume.Record, reason, detail string) clickhouse.DeadLetter {
	at := r.Time.UTC().Truncate(time.Millisecond)
	if at.Year() < 1970 || at.Year() > 2199 { // a producer's clock may be wrong, and the column must hold the time
		at = time.UnixMilli(0).UTC()
	}
	dead := clickhouse.DeadLetter{
		LogTopic:     r.Topic,
		LogPartition: r.Partition,
		LogOffset:    r.Offset,
		AppendedAt:   at,
		Key:          string(r.Key),
		Value:        string(r.Value),
		Reason:       reason,
		Detail:       strings.ToValidUTF8(detail[:min(len(detail), maxDetail)], ""),
	}
	for _, h := range r.Headers {
		dead.HeaderKeys = append(dead.HeaderKeys, h.Key)
		dead.HeaderValues = append(dead.HeaderValues, string(h.Value))
	}
	return dead
}
