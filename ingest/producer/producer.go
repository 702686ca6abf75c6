package producer

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"
	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"

	"github.com/answerscope/answerscope/ingest/event"
)

// Producer appends to the topics of one prefix. It is safe for concurrent use.
type Producer struct {
	cfg       Config
	log       *slog.Logger
	metrics   *metrics
	transport *kafka.Transport
	client    *kafka.Client

	live  atomic.Int64        // bytes held for Append
	bulk  *semaphore.Weighted // the same for AppendAll, which waits for room
	taken atomic.Int64        // bytes of bulk that are taken
	spill *spill              // nil: nothing is kept on disk while Kafka is away

	mu      sync.Mutex
	stopped bool
	topics  sync.Map // name without prefix → *topic; written under mu
	lookUps singleflight.Group
	open    sync.WaitGroup // batches and look-ups that have not ended
}

// New makes a producer that does nothing yet. Its metrics are registered on reg.
func New(cfg Config, log *slog.Logger, reg prometheus.Registerer) (*Producer, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("configure producer: %w", err)
	}
	var names []string
	for _, t := range event.Topics {
		names = append(names, cfg.Prefix+t)
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
		bulk:      semaphore.NewWeighted(maxBufferedBytes / 2),
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
// With a spool it opens that first, whose failure is its error, and sends what is in it while it runs; at the end, as
// long as that succeeds, within AckTimeout. The next process sends the rest.
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

// stop refuses records from now on, and returns when no caller waits any more.
func (p *Producer) stop() {
	p.mu.Lock()
	p.stopped = true
	p.mu.Unlock()
	p.topics.Range(func(_, t any) bool {
		t.(*topic).stop()
		return true
	})
	if p.spill != nil {
		p.spill.queue.stop()
	}
	p.open.Wait()
}

// begin keeps Run from ending until open.Done; it is false once the producer stops.
func (p *Producer) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.stopped {
		p.open.Add(1)
	}
	return !p.stopped
}

// Ready reports whether Append can succeed: with a spool when that can be written and has room, else when a broker
// accepts a connection.
func (p *Producer) Ready(ctx context.Context) error {
	if p.spill == nil {
		return p.cfg.Reach(ctx)
	}
	if err := p.spill.wait(ctx); err != nil {
		return err
	}
	if !p.spill.hasRoom(p.live.Load() + event.MaxRecordBytes) {
		return fmt.Errorf("spool %s is full: %w", p.cfg.Spool.Dir, ErrOverloaded)
	}
	return nil
}
