// Package producer appends records to the log: it is where Kafka is written, and where its topics are created.
//
// The way of a record: append.go reserves room and adds the record to a batch, send.go sends the batch to a partition;
// while Kafka is away spill.go writes it to disk and drain.go sends it later.
//
//	Append(values)  ─┐
//	AppendAll, To   ─┴▶ lockBatch: last batch of a queue ─▶ sendNext: one batch at a time ─▶ produce ─▶ end
//	                                                        late after 20 ms ─▶ spool ─▶ drain ─▶ produce
//
// An append returns when every in-sync replica has the record (acks=all), or with the reason why that is not known. One
// request carries many appends: while a batch is being sent, new records join the next one, so that batches grow with
// the load and a lone record does not wait. Memory is bounded, and so is time: while the brokers cannot be reached, an
// append ends within AckTimeout, or at once when too much waits already.
//
// A batch whose acknowledgement was lost is sent again to the same partition. It may then be on the log twice, which is
// why readers count an id once; they may do so partition by partition, because a retry never changes the partition.
//
// With a spool (Config.Spool), a batch of visits that is not acknowledged soon is written to disk with its partition,
// its appends are answered, and it is sent to that partition once the broker is back, by this process or the next one.
// Room on disk is reserved before a record joins a batch, as room in memory is, so that none is refused for it later.
// While Kafka acknowledges in time nothing is written, and the spool costs a look at two counters.
package producer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"
	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"
	"golang.org/x/time/rate"

	"github.com/answerscope/answerscope/ingest/event"
)

// Producer appends to the topics of one prefix. It is safe for concurrent use.
type Producer struct {
	cfg       Config
	log       *slog.Logger
	metrics   *metrics
	transport *kafka.Transport
	client    *kafka.Client

	appendBytes    atomic.Int64        // reserved by Append
	appendAllRoom  *semaphore.Weighted // of AppendAll and AppendTo, which wait for it
	appendAllBytes atomic.Int64        // taken of it
	spill          *spill              // nil: there is no spool

	noRoom rate.Sometimes // of the disk

	topics  sync.Map // name without prefix → *topic
	lookUps singleflight.Group

	mu      sync.Mutex
	stopped bool
	running sync.WaitGroup // batches and look-ups
}

// New makes a producer that does nothing yet. Its metrics are registered on reg.
func New(cfg Config, log *slog.Logger, reg prometheus.Registerer) (*Producer, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("configure producer: %w", err)
	}
	var names []string
	for _, t := range event.Topics {
		names = append(names, cfg.Prefix+t.Name)
	}
	transport, err := cfg.Transport(names...)
	if err != nil {
		return nil, fmt.Errorf("configure producer: %w", err)
	}
	p := &Producer{
		cfg: cfg, log: log,
		transport: transport, client: &kafka.Client{Addr: cfg.Address(), Transport: transport},
		appendAllRoom: semaphore.NewWeighted(maxBufferedBytes / 2), noRoom: rate.Sometimes{Interval: time.Minute},
	}
	if cfg.Spool.Dir != "" {
		p.spill = newSpill(p)
	}
	p.metrics = newMetrics(reg, p)
	return p, nil
}

// Run waits for ctx to end; then it takes no more records, sends those that it has, and returns when each of them is
// acknowledged or reported, AckTimeout later at most. Every failure goes to the caller of the append.
//
// With a spool it opens that first, whose failure is its error, and drains it while it runs; at the end, as long as
// that succeeds, within AckTimeout. The next process sends the rest.
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

// stop refuses new batches, and returns when no caller waits any more.
func (p *Producer) stop() {
	p.mu.Lock()
	p.stopped = true
	p.mu.Unlock()
	p.running.Wait()
}

// begin keeps Run from ending until running.Done; it is false once the producer stops.
func (p *Producer) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.stopped {
		p.running.Add(1)
	}
	return !p.stopped
}

// Ready reports whether Append can succeed: with a spool when that can be written and has room, else when a broker
// accepts a connection. A topic that is gone, or has no leader, is not ready either, although the spool takes its
// records: Kafka will not take them from there before it is repaired.
func (p *Producer) Ready(ctx context.Context) error {
	if p.spill == nil {
		return p.cfg.Reach(ctx)
	}
	if err := p.spill.wait(ctx); err != nil {
		return err
	}
	if !p.spill.hasRoom(p.appendBytes.Load() + event.MaxRecordBytes) {
		return fmt.Errorf("spool %s is full: %w", p.cfg.Spool.Dir, ErrOverloaded)
	}
	return CheckTopic(ctx, p.client, p.spill.name)
}

// Config has the settings of a producer. Sizes are bytes of keys and values.
type Config struct {
	Connection
	Prefix string // before the name of every topic

	AckTimeout time.Duration // of a batch, from its first record on: then ErrAway; tests make it short

	Spool Spool

	Room func() error // why nothing new may be written to the disk of the log; nil while it may

	batchRecords int // records of a batch at most; tests make it small
}

// Spool has the place of visits on disk while no broker acknowledges them.
type Spool struct {
	Dir      string // "": no spool; one process uses it at a time
	MaxBytes int64  // on disk; Append is ErrOverloaded when a record would not find room

	// PartitionsFile has the number of partitions that Kafka last reported: a process that starts while Kafka is away
	// reads it, and is not ready without it.
	PartitionsFile string
}

const (
	maxBatchBytes    = 1 << 20  // a larger record makes a batch of its own
	maxBufferedBytes = 64 << 20 // waiting and being sent: one half for Append, the other for AppendAll

	requestTimeout = 4 * time.Second // after which a request is sent again

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
		AckTimeout:   8 * time.Second, // a command whose broker went away is to end within 10 s
		Spool:        Spool{MaxBytes: 1 << 30},
		Room:         func() error { return nil },
		batchRecords: 10_000,
	}
}

// Validate joins an error for each wrong field.
func (c Config) Validate() error {
	errs := []error{c.Connection.Validate()}
	want := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	want(c.Spool.Dir == "" || c.Spool.MaxBytes >= 4*event.MaxRecordBytes, "spool of %d bytes: want %d or more",
		c.Spool.MaxBytes, 4*event.MaxRecordBytes)
	want((c.Spool.Dir == "") == (c.Spool.PartitionsFile == ""),
		"spool: want a directory and a file of partitions, or neither")
	want(c.batchRecords > 0 && c.Room != nil, "config %+v: want one made of DefaultConfig", c)
	return errors.Join(errs...)
}
