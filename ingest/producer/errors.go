package producer

import (
	"errors"

	"github.com/answerscope/answerscope/ingest/event"
)

// The reasons why an append failed, for errors.Is.
var (
	// ErrTooLarge: the record does not fit on the log. It was not sent.
	ErrTooLarge = event.ErrTooLarge

	// ErrOverloaded: too much is waiting to be acknowledged. The record was not
	// sent; trying again a little later is right.
	ErrOverloaded = errors.New("producer overloaded")

	// ErrAway: no acknowledgement came within AckTimeout. The record may be on the
	// log, now or later, or not: appending it again is right, because readers count
	// an id once.
	ErrAway = errors.New("kafka away")

	// ErrStopped: the producer is stopping. The record was not sent.
	ErrStopped = errors.New("producer stopped")
)
