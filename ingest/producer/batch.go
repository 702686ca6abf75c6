package producer

import (
	"bytes"
	"context"
	"io"
	"iter"
	"time"

	"github.com/segmentio/kafka-go/protocol"
)

// batch holds the records of one request. Its bytes are copies, so that callers may reuse theirs even when they do not
// wait for the end.
type batch struct {
	born     time.Time
	closes   time.Time // when no more records may join
	deadline time.Time // when its oldest record stops waiting
	data     []byte    // key, value, key, value, …
	ends     []span
	headers  map[int][]Header // by record; nil: none

	appendBytes    int           // reserved by Append
	appendAllBytes int           // and by AppendAll and AppendTo
	done           chan struct{} // closed when err is final
	err            error
}

// span has the ends of a record's key and value in data.
type span struct {
	key, value int
	keyed      bool
}

// newBatch makes a batch with room for about so many records of so many bytes. Records join it in the first quarter of
// its time, so that none ends with ErrAway very soon.
func newBatch(now time.Time, timeout time.Duration, records, bytes int) *batch {
	return &batch{
		born: now, closes: now.Add(timeout / 4), deadline: now.Add(timeout),
		data: make([]byte, 0, bytes), ends: make([]span, 0, records), done: make(chan struct{}),
	}
}

// takes reports whether so many records of so many bytes may join.
func (b *batch) takes(now time.Time, records, bytes, maxRecords int) bool {
	return len(b.ends)+records <= maxRecords && len(b.data)+bytes <= maxBatchBytes && now.Before(b.closes)
}

func (b *batch) add(r Record) {
	if r.Headers != nil {
		if b.headers == nil {
			b.headers = map[int][]Header{}
		}
		b.headers[len(b.ends)] = r.Headers
	}
	b.data = append(b.data, r.Key...)
	end := span{key: len(b.data), keyed: r.Key != nil}
	b.data = append(b.data, r.Value...)
	end.value = len(b.data)
	b.ends = append(b.ends, end)
}

// values yields the values of a batch without keys.
func (b *batch) values() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		begin := 0
		for _, end := range b.ends {
			if !yield(b.data[begin:end.value]) {
				return
			}
			begin = end.value
		}
	}
}

// wait returns how the batch ended.
func (b *batch) wait(ctx context.Context) error {
	if ctx.Done() == nil { // as of a beacon, which waits in any case: a receive costs a third of a select
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

// records reads a batch for one attempt. kafka-go asks for one record at a time and is done with it before the next.
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
	r.record = protocol.Record{Value: &r.value, Headers: r.batch.headers[r.next]}
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
