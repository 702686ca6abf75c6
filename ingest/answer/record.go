package answer

import (
	"time"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
)

// Record checks an answer and encodes it for the log. now is the clock: an answer lies at most a day after it.
func Record(a *event.Answer, now time.Time) (producer.Record, error) {
	if err := a.Check(now); err != nil {
		return producer.Record{}, err
	}
	value, err := event.EncodeAnswer(nil, a)
	if err != nil {
		return producer.Record{}, err
	}
	return producer.Record{Key: event.BrandKey(a.Brand.ID), Value: value}, nil
}
