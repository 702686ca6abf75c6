package producer

import (
	"context"
	"fmt"
	"slices"

	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/ingest/event"
)

// A PlacedRecord is one that was on the log before, with all that it came with.
type PlacedRecord struct {
	Key     []byte // nil: none
	Value   []byte
	Headers []Header
}

// A Header is told beside a record.
type Header struct {
	Key   string
	Value []byte
}

// AppendTo appends records to one partition, in their order, and returns how many of
// them are known to be there: the first ones, when it fails. It is for records that
// must go where they were before, since who counts an id once may look for it there
// alone. Its errors are those of AppendAll.
func (p *Producer) AppendTo(ctx context.Context, topic string, partition int, records []PlacedRecord) (appended int, err error) {
	if !p.begin() {
		return 0, p.failed(topic, fmt.Errorf("append to %s/%d: %w", topic, partition, ErrStopped))
	}
	defer p.open.Done()
	if !slices.Contains(event.Topics, topic) {
		return 0, fmt.Errorf("topic %q: want one of %q", topic, event.Topics)
	}
	name := p.cfg.Prefix + topic
	n, err := p.partitions(name)
	if err == nil && (partition < 0 || partition >= n) {
		err = fmt.Errorf("there are %d partitions, counted from 0", n)
	}
	if err != nil {
		return 0, p.failed(topic, fmt.Errorf("append to %s/%d: %w", topic, partition, err))
	}
	for appended < len(records) {
		some, err := p.portion(records[appended:])
		if err == nil {
			err = context.Cause(ctx)
		}
		if err == nil {
			err = p.place(name, partition, some)
		}
		if err != nil {
			return appended, p.failed(topic, fmt.Errorf("append to %s/%d: %w", topic, partition, err))
		}
		appended += len(some)
	}
	return appended, nil
}

// begin keeps Run from ending; false once the producer stops.
func (p *Producer) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.stopped {
		p.open.Add(1)
	}
	return !p.stopped
}

// portion is as much of records as one request takes, one at least.
func (p *Producer) portion(records []PlacedRecord) ([]PlacedRecord, error) {
	bytes := 0
	for n, r := range records {
		size := weight(r.Key, r.Value)
		for _, h := range r.Headers {
			size += weight([]byte(h.Key), h.Value)
		}
		if err := fits(size); err != nil && n > 0 {
			return records[:n], nil
		} else if err != nil {
			return nil, err
		}
		if bytes += size; n > 0 && (bytes > p.cfg.MaxBatchBytes || n == p.cfg.MaxBatchRecords) {
			return records[:n], nil
		}
	}
	return records, nil
}

// place sends one request until it is acknowledged or refused, or AckTimeout is over.
func (p *Producer) place(name string, partition int, records []PlacedRecord) error {
	bytes := 0
	for _, r := range records {
		bytes += len(r.Key) + len(r.Value)
	}
	err := p.persist(name, p.deadline(), func(ctx context.Context) error {
		res, err := p.client.Produce(ctx, &kafka.ProduceRequest{
			Topic: name, Partition: partition, RequiredAcks: kafka.RequireAll, Compression: kafka.Lz4, Records: kafka.NewRecordReader(placed(records)...),
		})
		if err != nil {
			return err
		}
		return res.Error
	}, func() { p.metrics.retries.WithLabelValues(name).Inc() })
	if err == nil {
		p.metrics.records.WithLabelValues(name).Add(float64(len(records)))
		p.metrics.bytes.WithLabelValues(name).Add(float64(bytes))
	}
	return err
}

// placed is records for one attempt, which reads them to their end.
func placed(records []PlacedRecord) []kafka.Record {
	all := make([]kafka.Record, len(records))
	for i, r := range records {
		all[i].Value = kafka.NewBytes(r.Value)
		if r.Key != nil {
			all[i].Key = kafka.NewBytes(r.Key)
		}
		for _, h := range r.Headers {
			all[i].Headers = append(all[i].Headers, kafka.Header{Key: h.Key, Value: h.Value})
		}
	}
	return all
}
