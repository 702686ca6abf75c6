package producer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"
	"golang.org/x/sync/semaphore"

	"github.com/answerscope/answerscope/ingest/event"
)

// Record is what is appended. A nil Key lets the producer choose the partition.
type Record struct {
	Key, Value []byte
}

// Producer appends to the topics of one prefix. It is safe for concurrent use.
type Producer struct {
	cfg       Config
	log       *slog.Logger
	metrics   *metrics
	transport *kafka.Transport
	client    *kafka.Client

	live  atomic.Int64        // bytes held for Append
	bulk  *semaphore.Weighted // the same for AppendAll, which waits for its turn
	taken atomic.Int64        // of bulk
	spill *spill              // nil: records are kept nowhere while Kafka is away

	mu      sync.Mutex
	stopped bool
	topics  sync.Map       // name without prefix → *topic; written under mu
	open    sync.WaitGroup // batches and look-ups that have not ended
}

// New makes a producer that does nothing yet. Its metrics are registered on reg.
func New(cfg Config, log *slog.Logger, reg prometheus.Registerer) (*Producer, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("configure producer: %w", err)
	}
	names := make([]string, len(event.Topics))
	for i, t := range event.Topics {
		names[i] = cfg.Prefix + t
	}
	transport, err := cfg.Transport(names...)
	if err != nil {
		return nil, fmt.Errorf("configure producer: %w", err)
	}
	p := &Producer{
		cfg:       cfg,
		log:       log,
		transport: transport,
		client:    &kafka.Client{Addr: cfg.Address(), Transport: transport},
		bulk:      semaphore.NewWeighted(int64(cfg.MaxBufferedBytes) / 2),
	}
	p.metrics, err = newMetrics(reg, func() float64 { return float64(p.live.Load() + p.taken.Load()) })
	if err == nil && cfg.Spool.Dir != "" {
		p.spill, err = newSpill(p, reg)
	}
	if err != nil {
		return nil, fmt.Errorf("configure producer: %w", err)
	}
	return p, nil
}

// Run waits for ctx to end; then it takes no more records, sends those that it
// took, and returns when each of them is acknowledged or reported, AckTimeout
// later at most. Every failure went to whoever appended.
//
// With a spool it opens that first, whose failure is its error, and sends what is in
// it while it runs; at the end, as long as that goes well, within AckTimeout. What
// is left then the next process sends.
func (p *Producer) Run(ctx context.Context) error {
	if p.spill == nil {
		<-ctx.Done()
		p.stop()
	} else if err := p.spill.run(ctx); err != nil {
		return fmt.Errorf("run producer: %w", err)
	}
	p.transport.CloseIdleConnections()
	return nil
}

// stop returns when nobody waits for an answer any more.
func (p *Producer) stop() {
	p.mu.Lock()
	p.stopped = true
	p.mu.Unlock()
	p.topics.Range(func(_, t any) bool {
		t.(*topic).stop()
		return true
	})
	if p.spill != nil {
		p.spill.stop()
	}
	p.open.Wait()
}

// Append returns nil when all in-sync replicas have the record, or, with a spool,
// when that has it on disk. The topic is one of event.Topics. Key and value are
// copied: they may be used again.
//
// The errors are ErrTooLarge, ErrOverloaded and ErrStopped (not sent), ErrAway
// (not known), what the broker refused the record for (not appended), and the
// end of ctx (not known: a record that joined a batch goes on without ctx). With a
// spool, ErrAway tells that its disk fails too.
func (p *Producer) Append(ctx context.Context, topic string, key, value []byte) error {
	w := weight(key, value)
	if err := p.reserve(ctx, topic, w); err != nil {
		return p.failed(topic, err)
	}
	b, err := p.join(ctx, topic, key, value, false)
	if err != nil {
		p.live.Add(int64(-w))
		return p.failed(topic, fmt.Errorf("append to %s: %w", topic, err))
	}
	return b.wait(ctx)
}

// AppendTogether is Append for records without a key that are answered as one: they
// are in one batch, so that what becomes of one becomes of all, whatever crashes.
// Together they are no larger than one record may be.
func (p *Producer) AppendTogether(ctx context.Context, topic string, values ...[]byte) error {
	if len(values) == 0 {
		return nil
	}
	w := 0
	for _, value := range values {
		w += weight(nil, value)
	}
	if err := p.reserve(ctx, topic, w); err != nil {
		return p.failed(topic, err)
	}
	q, err := p.way(ctx, topic, nil, false)
	var b *batch
	if err == nil {
		b, err = q.joinTogether(values)
	}
	if err != nil {
		p.live.Add(int64(-w))
		return p.failed(topic, fmt.Errorf("append to %s: %w", topic, err))
	}
	return b.wait(ctx)
}

// reserve takes room for records of weight w, before they join a batch.
func (p *Producer) reserve(ctx context.Context, topic string, w int) error {
	if err := fits(w); err != nil {
		return err
	}
	if err := p.spill.opened(ctx); err != nil {
		return fmt.Errorf("append to %s: %w", topic, err)
	}
	if held := p.live.Add(int64(w)); held > int64(p.cfg.MaxBufferedBytes)/2 || !p.spill.hasRoom(held) {
		p.live.Add(int64(-w))
		return fmt.Errorf("append to %s: %w", topic, ErrOverloaded)
	}
	return nil
}

// Ready tells whether Append can be answered well: with a spool when that is open and
// has room, else when a broker takes us.
func (p *Producer) Ready(ctx context.Context) error {
	if p.spill == nil {
		return p.cfg.Reach(ctx)
	}
	if err := p.spill.opened(ctx); err != nil {
		return err
	}
	if !p.spill.hasRoom(p.live.Load() + event.MaxRecordBytes) {
		return fmt.Errorf("spool %s is full: %w", p.cfg.Spool.Dir, ErrOverloaded)
	}
	return nil
}

// AppendAll appends many records and returns how many of them are known to be on
// the log once that is decided for all. Unlike Append it waits for room where too
// much is under way. The records of one key keep their order; a record that is
// too large keeps all from being sent. The error joins one reason for each batch
// that failed, and those of Append.
func (p *Producer) AppendAll(ctx context.Context, topic string, records []Record) (appended int, err error) {
	for i := range records {
		if err := fits(weight(records[i].Key, records[i].Value)); err != nil {
			return 0, p.failed(topic, fmt.Errorf("append record %d of %d: %w", i+1, len(records), err))
		}
	}
	var batches []*batch
	counts := map[*batch]int{}
	var errs []error
	for _, r := range records {
		w := int64(weight(r.Key, r.Value))
		if err := p.bulk.Acquire(ctx, w); err != nil {
			errs = append(errs, context.Cause(ctx))
			break
		}
		p.taken.Add(w)
		b, err := p.join(ctx, topic, r.Key, r.Value, true)
		if err != nil {
			p.free(int(w))
			errs = append(errs, p.failed(topic, fmt.Errorf("append to %s: %w", topic, err)))
			break
		}
		if counts[b]++; counts[b] == 1 {
			batches = append(batches, b)
		}
	}
	for _, b := range batches {
		select {
		case <-b.done:
			if b.err == nil {
				appended += counts[b]
			} else {
				errs = append(errs, b.err)
			}
		case <-ctx.Done():
			return appended, errors.Join(append(errs, context.Cause(ctx))...)
		}
	}
	return appended, errors.Join(errs...)
}

// fits reports whether a record of weight w fits into a batch that the topic takes.
func fits(w int) error {
	if w+batchOverhead > event.MaxRecordBytes {
		return &event.TooLargeError{Bytes: w + batchOverhead}
	}
	return nil
}

// batchOverhead is more than a batch of one record costs beside the record: its
// header, and what lz4 adds to bytes that it cannot make smaller.
const batchOverhead = 512

func (p *Producer) join(ctx context.Context, name string, key, value []byte, bulk bool) (*batch, error) {
	q, err := p.way(ctx, name, key, bulk)
	if err != nil {
		return nil, err
	}
	return q.join(key, value, bulk)
}

// way is the queue for a record.
func (p *Producer) way(ctx context.Context, name string, key []byte, bulk bool) (*queue, error) {
	t, err := p.topic(name)
	if err != nil {
		return nil, err
	}
	var slow <-chan struct{} // never, unless the record may be kept without knowing its partition
	if !bulk {
		slow = t.slow
	}
	select {
	case <-t.known:
	default:
		select { // only the first records of a topic come here
		case <-t.known:
		case <-slow:
			return p.spill.early(name, key), nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	if t.err != nil && slow != nil {
		return p.spill.early(name, key), nil
	}
	if t.err != nil {
		return nil, t.err
	}
	return t.queue(key, bulk), nil
}

// finish reports the end of a batch to whoever waits for it and gives back the
// room that it took.
func (p *Producer) finish(b *batch, err error) {
	b.end(err)
	p.live.Add(int64(-b.live))
	p.free(b.bulk)
}

// free gives back room that AppendAll took.
func (p *Producer) free(n int) {
	p.taken.Add(int64(-n))
	p.bulk.Release(int64(n))
}

func (p *Producer) failed(topic string, err error) error {
	p.metrics.failures.WithLabelValues(p.cfg.Prefix+topic, reason(err)).Inc()
	return err
}
