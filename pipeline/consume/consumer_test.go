package consume_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/pipeline/consume"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// counter is a target that counts the records it lands, after it has refused the first batch so many times.
type counter struct {
	refuse atomic.Int64
	landed atomic.Int64 // records
	traced atomic.Bool  // Insert was called within a trace
}

func (c *counter) Version() int              { return 1 }
func (c *counter) Supports(version int) bool { return version == 1 }

func (c *counter) Decode(_ int, r consume.Record) (item string, month int, err error) {
	if string(r.Value) == "poison" {
		panic("poison")
	}
	return string(r.Value), 1, nil
}

func (c *counter) Insert(ctx context.Context, b *consume.Batch[string], _ func() error) error {
	c.traced.Store(trace.SpanFromContext(ctx).IsRecording())
	if c.refuse.Add(-1) >= 0 {
		return errors.New("no room")
	}
	c.landed.Add(int64(len(b.Items)))
	return nil
}

func (c *counter) LastOffset(context.Context, string, int32) (last int64, ok bool, err error) {
	return 0, false, nil
}

// newConfig has a topic with values, and a group, of the test's own.
func newConfig(t *testing.T, values ...string) consume.Config {
	t.Helper()
	cfg := consume.DefaultConfig()
	prefix := testkit.Prefix(t)
	cfg.Brokers, cfg.Group, cfg.Topic = testkit.Kafka(t), prefix+"group", prefix+"things"
	testkit.CreateTopic(t, cfg.Brokers, cfg.Topic)
	appendTo(t, cfg, values...)
	return cfg
}

func appendTo(t *testing.T, cfg consume.Config, values ...string) {
	t.Helper()
	var all [][]byte
	for _, value := range values {
		all = append(all, []byte(value))
	}
	testkit.Append(t, cfg.Brokers, cfg.Topic, all...)
}

func start(t *testing.T, cfg consume.Config, target consume.Target[string]) (c *consume.Consumer[string], stop func()) {
	t.Helper()
	c, err := consume.New(cfg, target, prometheus.NewRegistry(), testkit.Log(t))
	if err != nil {
		t.Fatal(err)
	}
	return c, testkit.Start(t, c.Run)
}

// blocked lands no batch before it is opened.
type blocked struct {
	counter
	open    chan struct{}
	read    atomic.Int64 // records
	waiting atomic.Int64 // batches that came so far
}

func (b *blocked) Decode(version int, r consume.Record) (item string, month int, err error) {
	b.read.Add(1)
	return b.counter.Decode(version, r)
}

func (b *blocked) Insert(ctx context.Context, batch *consume.Batch[string], checkOwnership func() error) error {
	b.waiting.Add(1)
	<-b.open
	return b.counter.Insert(ctx, batch, checkOwnership)
}

// While one batch lands the next one grows, however long that takes, so that a target that is behind gets few and large
// batches.
func TestABatchGrowsWhileTheOneBeforeLands(t *testing.T) {
	t.Parallel()
	cfg := newConfig(t, "a")
	cfg.Limits.Linger = 50 * time.Millisecond
	target := &blocked{open: make(chan struct{})}
	_, stop := start(t, cfg, target)
	defer stop()
	wait.For(t, "the first batch", func() bool { return target.waiting.Load() == 1 })
	for read, value := range []string{"b", "c", "d"} {
		<-time.After(3 * cfg.Limits.Linger) // a batch that ended with its linger would not take the next one
		appendTo(t, cfg, value)
		wait.For(t, "the record to be read", func() bool { return target.read.Load() == int64(read)+2 })
	}
	close(target.open)
	wait.For(t, "four records to land", func() bool { return target.landed.Load() == 4 })
	if got := target.waiting.Load(); got != 2 {
		t.Errorf("%d batches, want that of a and that of b, c and d", got)
	}
}
