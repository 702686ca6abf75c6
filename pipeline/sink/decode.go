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
	reread bool // row is a new reading of an answer that was recorded before
	dead   *clickhouse.DeadLetter
}

// Decode makes the item of a record. One that cannot be decoded becomes a dead letter, byte for byte. One of a newer
// version, or a reread for a later extractor, is an error.
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

// maxDetail bounds what is kept of the reason, in bytes.
const maxDetail = 4 << 10

// deadLetter keeps a record byte for byte.
func deadLetter(r *consume.Record, reason, detail string) clickhouse.DeadLetter {
	at := r.Time.UTC().Truncate(time.Millisecond)
	if at.Year() < 1970 || at.Year() > 2199 { // whatever a producer's clock said, the column must hold it
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
