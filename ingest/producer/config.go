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

	// Linger is how long the first record of a batch waits for others when nothing
	// is under way. While a batch is under way the next one grows anyhow.
	Linger time.Duration

	// InFlight is how many batches without a key are under way at once, per topic:
	// more make each of them smaller. A batch that is late or retried does not count,
	// so that one partition without a leader does not hold up the others.
	InFlight int

	MaxBatchBytes    int // a larger record makes a batch of its own
	MaxBatchRecords  int
	MaxBufferedBytes int // what waits and is under way: one half for Append, the other for AppendAll

	AttemptTimeout time.Duration // one request, after which it is sent again
	AckTimeout     time.Duration // all attempts, from the first record's joining: then ErrAway

	Spool Spool
}

// Spool says where Append keeps records on disk while no broker acknowledges them.
type Spool struct {
	Dir      string        // "": nowhere; one process has it at a time
	MaxBytes int64         // on disk; Append is ErrOverloaded when a record would not find room
	After    time.Duration // a batch that is not acknowledged by then is kept on disk, and answered
}

// DefaultConfig needs Brokers.
func DefaultConfig() Config {
	return Config{
		InFlight:         1,
		MaxBatchBytes:    1 << 20,
		MaxBatchRecords:  10_000,
		MaxBufferedBytes: 64 << 20,
		AttemptTimeout:   4 * time.Second,
		AckTimeout:       8 * time.Second, // a command whose broker went away is to end within 10 s
		Spool:            Spool{MaxBytes: 1 << 30, After: 20 * time.Millisecond},
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
	want(c.Linger >= 0 && c.Linger <= time.Second, "linger %s: want 0 to 1s", c.Linger)
	want(c.InFlight >= 1, "in flight %d: want 1 or more", c.InFlight)
	want(c.MaxBatchBytes >= 1 && c.MaxBatchBytes <= event.MaxRecordBytes, "max batch bytes %d: want 1 to %d", c.MaxBatchBytes, event.MaxRecordBytes)
	want(c.MaxBatchRecords >= 1, "max batch records %d: want 1 or more", c.MaxBatchRecords)
	want(c.MaxBufferedBytes >= 4*event.MaxRecordBytes, "max buffered bytes %d: want %d or more, so that each half holds the largest record", c.MaxBufferedBytes, 4*event.MaxRecordBytes)
	want(c.AttemptTimeout > 0, "attempt timeout %s: want more than 0", c.AttemptTimeout)
	want(c.AckTimeout >= c.AttemptTimeout, "ack timeout %s: want at least the attempt timeout, %s", c.AckTimeout, c.AttemptTimeout)
	want(c.Spool.Dir == "" || c.Spool.MaxBytes >= 4*event.MaxRecordBytes, "spool of %d bytes: want %d or more", c.Spool.MaxBytes, 4*event.MaxRecordBytes)
	want(c.Spool.Dir == "" || c.Spool.After > 0 && c.Spool.After <= c.AttemptTimeout, "spool after %s: want more than 0, up to the attempt timeout, %s", c.Spool.After, c.AttemptTimeout)
	return errors.Join(errs...)
}
