package producer

import (
	"bytes"
	"context"
	"io"
	"time"

	"github.com/segmentio/kafka-go/protocol"
)

// batch is what one request carries. Its bytes are copies, so that whoever
// appends may reuse theirs even when they do not wait for the end.
type batch struct {
	born     time.Time
	closes   time.Time // when no more records may join
	deadline time.Time // when its oldest record stops waiting
	data     []byte    // key, value, key, value, …
	ends     []span
	live     int           // bytes of data and overhead reserved by Append
	bulk     int           // and by AppendAll
	done     chan struct{} // closed when err is set for good
	err      error
}

// span is where a record's key and value end in data.
type span struct {
	key, value int
	keyed      bool
}

// overhead is what a record costs beside its bytes, on the wire and here.
const overhead = 64

func weight(key, value []byte) int { return len(key) + len(value) + overhead }

// newBatch makes one with room for about so many records of so many bytes. A record
// joins it in the first quarter of its time, so that none is told very soon that Kafka
// is away.
func newBatch(now time.Time, bound time.Duration, records, bytes int) *batch {
	return &batch{
		born: now, closes: now.Add(bound / 4), deadline: now.Add(bound),
		data: make([]byte, 0, bytes), ends: make([]span, 0, records), done: make(chan struct{}),
	}
}

func (b *batch) takes(now time.Time, records, bytes int, cfg *Config) bool {
	return len(b.ends)+records <= cfg.MaxBatchRecords && len(b.data)+bytes <= cfg.MaxBatchBytes && now.Before(b.closes)
}

func (b *batch) add(key, value []byte) {
	b.data = append(b.data, key...)
	end := span{key: len(b.data), keyed: key != nil}
	b.data = append(b.data, value...)
	end.value = len(b.data)
	b.ends = append(b.ends, end)
}

// wait returns what became of the batch.
func (b *batch) wait(ctx context.Context) error {
	if ctx.Done() == nil { // as of a beacon, which waits whatever its sender does: a receive is a third of a select
		<-b.done
		return b.err
	}
	select {
	case <-b.done:
		return b.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (b *batch) end(err error) {
	b.err = err
	close(b.done)
}

// records reads a batch for one attempt. kafka-go asks for one record at a time
// and is done with it before the next.
type records struct {
	batch  *batch
	next   int
	begin  int
	record protocol.Record
	key    payload
	value  payload
}

func (r *records) ReadRecord() (*protocol.Record, error) {
	if r.next == len(r.batch.ends) {
		return nil, io.EOF
	}
	end := r.batch.ends[r.next]
	r.record = protocol.Record{Value: &r.value}
	if end.keyed {
		r.key.Reset(r.batch.data[r.begin:end.key])
		r.record.Key = &r.key
	}
	r.value.Reset(r.batch.data[end.key:end.value])
	r.begin = end.value
	r.next++
	return &r.record, nil
}

// payload is a protocol.Bytes that can be set again.
type payload struct{ bytes.Reader }

func (*payload) Close() error { return nil }
