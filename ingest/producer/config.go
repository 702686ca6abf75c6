package producer

import (
	"errors"
	"fmt"
	"time"

	"github.com/answerscope/answerscope/ingest/event"
)

// Config says how records are appended. Sizes are bytes of keys and values.
type Config struct {
	Connection
	Prefix string // before the name of every topic

	AttemptTimeout time.Duration // of one request, after which it is sent again
	AckTimeout     time.Duration // of all attempts, from the first record's joining: then ErrAway

	Spool Spool

	batchRecords int // records of a batch at most; tests make it small
}

// Spool says where visits are kept on disk while no broker acknowledges them.
type Spool struct {
	Dir      string // "": nowhere; one process uses it at a time
	MaxBytes int64  // on disk; Append is ErrOverloaded when a record would not find room

	// PartitionsFile keeps the number of partitions that Kafka last reported: a process that starts while Kafka is away
	// takes it from there, and is not ready without it.
	PartitionsFile string
}

const (
	maxBatchBytes    = 1 << 20  // a larger record makes a batch of its own
	maxBufferedBytes = 64 << 20 // waiting and being sent: one half for Append, the other for AppendAll

	// lateAfter is how long a batch is being sent before the next one may go to another partition.
	lateAfter = 500 * time.Millisecond
	// spillAfter is the same with a spool: then the batch is written to disk and answered. With 8 ms the spool took a
	// fifth of all records, for no better p99.
	spillAfter = 20 * time.Millisecond
	// avoidFor is how long a partition is avoided after a batch was late, while others acknowledge.
	avoidFor = 30 * time.Second
)

// DefaultConfig needs Brokers.
func DefaultConfig() Config {
	return Config{
		AttemptTimeout: 4 * time.Second,
		AckTimeout:     8 * time.Second, // a command whose broker went away is to end within 10 s
		Spool:          Spool{MaxBytes: 1 << 30},
		batchRecords:   10_000,
	}
}

// Validate says everything that is wrong with c.
func (c Config) Validate() error {
	errs := []error{c.Connection.Validate()}
	want := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	want(c.AttemptTimeout > spillAfter, "attempt timeout %s: want more than %s", c.AttemptTimeout, spillAfter)
	want(c.AckTimeout >= c.AttemptTimeout, "ack timeout %s: want at least the attempt timeout, %s", c.AckTimeout, c.AttemptTimeout)
	want(c.Spool.Dir == "" || c.Spool.MaxBytes >= 4*event.MaxRecordBytes, "spool of %d bytes: want %d or more",
		c.Spool.MaxBytes, 4*event.MaxRecordBytes)
	want((c.Spool.Dir == "") == (c.Spool.PartitionsFile == ""), "spool: want a directory and a file of partitions, or neither")
	want(c.batchRecords > 0, "config %+v: want one that is made of DefaultConfig", c)
	return errors.Join(errs...)
}
