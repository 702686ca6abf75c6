package reread

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/fault"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// page is some answers of a brand, told again with the names of one moment.
type page struct {
	begun time.Time
	names *postgres.Snapshot
	told  []clickhouse.UUID      // in their order on the log
	left  int                    // that could not be told
	end   clickhouse.AnswerPlace // of its last answer
}

// chunk bounds the bytes that are held between the warehouse and the log.
const chunk = 4 << 20

// overhead is more than what a record costs on the log beside its value.
const overhead = 1 << 10

// errFull ends a page before its last answer.
var errFull = errors.New("page is full")

// tell appends answers of a brand as rereads, until the page is full.
func (r *Rereader) tell(ctx context.Context, names *postgres.Snapshot, stale []clickhouse.StaleAnswer) (page, error) {
	last := stale[len(stale)-1]
	p := page{begun: time.Now(), names: names, end: clickhouse.AnswerPlace{Day: last.Day, ID: last.ID}}
	key := event.AnswerKey(names.BrandID)
	var records []producer.Record
	bytes, waiting := 0, 0
	send := func() error {
		_, err := r.log.AppendAll(ctx, event.TopicAnswers, records)
		records, waiting = records[:0], 0
		return err
	}
	err := clickhouse.KeptAnswers(ctx, r.kept, clickhouse.UUID(names.OrganizationID), clickhouse.UUID(names.BrandID), stale, func(kept *clickhouse.KeptAnswer) error {
		if bytes >= r.cfg.Bytes {
			return errFull
		}
		p.end = clickhouse.AnswerPlace{Day: kept.Day, ID: kept.ID}
		value, err := r.encode(kept, names)
		if err != nil {
			if p.left++; p.left == 1 {
				r.logger.Warn("answer cannot be told again", "brand", names.BrandID, "answer", kept.ID, "cause", err,
					"next", "nothing tonight: its figures stay as they are; keep this line for whoever mends it")
			}
			return nil
		}
		p.told = append(p.told, kept.ID)
		records = append(records, producer.Record{Key: key, Value: value})
		bytes, waiting = bytes+len(value), waiting+len(value)
		if waiting >= chunk {
			return send()
		}
		return nil
	})
	switch {
	case err == nil:
		p.end = clickhouse.AnswerPlace{Day: last.Day, ID: last.ID} // whatever was deleted meanwhile
	case !errors.Is(err, errFull):
		return p, err
	}
	if err := send(); err != nil {
		return p, err
	}
	fault.Pass(fault.Requested)
	r.metrics.answers.Add(float64(len(p.told)))
	return p, nil
}

func (r *Rereader) encode(kept *clickhouse.KeptAnswer, names *postgres.Snapshot) ([]byte, error) {
	a, err := record(kept, names, r.cfg.ExtractVersion)
	if err != nil {
		return nil, err
	}
	if err := a.Check(time.Now()); err != nil {
		return nil, err
	}
	value, err := event.EncodeAnswer(nil, a)
	if err == nil && len(value) > event.MaxRecordBytes-overhead {
		return nil, fmt.Errorf("with its present names: %w", &event.TooLargeError{Bytes: len(value)})
	}
	return value, err
}
