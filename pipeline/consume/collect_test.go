package consume_test

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/pipeline/consume"
)

// gated is a shelf that takes no batch before it is opened.
type gated struct {
	shelf
	open    chan struct{}
	read    atomic.Int64 // records
	waiting atomic.Int64 // batches that came so far

	mu      sync.Mutex
	batches []string
}

func (g *gated) Read(version int, r consume.Record) (item string, month int, err error) {
	g.read.Add(1)
	return g.shelf.Read(version, r)
}

func (g *gated) Land(ctx context.Context, b *consume.Batch[string], ours func() error) error {
	g.waiting.Add(1)
	<-g.open
	g.mu.Lock()
	g.batches = append(g.batches, b.Token())
	g.mu.Unlock()
	return g.shelf.Land(ctx, b, ours)
}

// While one batch lands the next one grows, however long that takes, so that a target
// that is behind gets few and large batches.
func TestABatchGrowsWhileTheOneBeforeLands(t *testing.T) {
	cfg := consume.DefaultConfig()
	prefix := testkit.Prefix(t)
	cfg.Brokers, cfg.Group, cfg.Topic = testkit.Kafka(t), prefix+"group", prefix+"things"
	cfg.Limits.Linger = 50 * time.Millisecond
	target := &gated{open: make(chan struct{})}
	consumer, err := consume.New(cfg, target, prometheus.NewRegistry(), slog.New(slog.NewTextHandler(t.Output(), nil)))
	if err != nil {
		t.Fatal(err)
	}
	appendTo(t, cfg.Brokers, cfg.Topic, []string{"a"})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- consumer.Run(ctx) }()
	until(t, func() bool { return target.waiting.Load() == 1 })
	for read, value := range []string{"b", "c", "d"} {
		<-time.After(3 * cfg.Limits.Linger) // a batch that ended with its linger would not take the next one
		appendTo(t, cfg.Brokers, cfg.Topic, []string{value})
		until(t, func() bool { return target.read.Load() == int64(read)+2 })
	}
	close(target.open)
	until(t, func() bool { return target.landed.Load() == 4 })
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if got := len(target.batches); got != 2 {
		t.Errorf("batches %q, want that of a and that of b, c and d", target.batches)
	}
}
