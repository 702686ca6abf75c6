package answer

import (
	"fmt"
	"time"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
)

// MaxRecordBytes is the largest record value: 4 KiB below the topic's limit, which counts the key and the batch's
// header too.
const MaxRecordBytes = event.MaxRecordBytes - 4<<10

// Record checks an answer and encodes it for the log. now is the clock: an answer lies at most a day after it.
func Record(a *event.Answer, now time.Time) (producer.Record, error) {
	if err := a.Check(now); err != nil {
		return producer.Record{}, err
	}
	value, err := event.EncodeAnswer(nil, a)
	if err != nil {
		return producer.Record{}, err
	}
	if len(value) > MaxRecordBytes {
		return producer.Record{}, fmt.Errorf("record of %d bytes: want at most %d", len(value), MaxRecordBytes)
	}
	return producer.Record{Key: event.AnswerKey(a.Brand.ID), Value: value}, nil
}
