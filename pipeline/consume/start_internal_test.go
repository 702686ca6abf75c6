package consume

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/wait"
)

// accepting is a Target that lands every batch.
type accepting struct {
	decoding
	shard atomic.Int64 // of the last batch, counted from 1
}

func (*accepting) Supports(int) bool { return true }

func (*accepting) LastOffset(context.Context, string, int32) (int64, bool, error) {
	return 0, false, nil
}

func (a *accepting) Insert(_ context.Context, b *Batch[int], _ func() error) error {
	a.shard.Store(int64(b.Plan.Shard) + 1)
	return nil
}

// While shards are added, a process without their addresses may be assigned a partition with a batch planned for one
// of them. It waits, and says so; a process that has the addresses lands the batch there. Nobody has to act.
func TestABatchForAnUnknownShardWaits(t *testing.T) {
	t.Parallel()
	cfg := DefaultConfig()
	prefix := testkit.Prefix(t)
	cfg.Brokers, cfg.Group, cfg.Topic, cfg.Shards = testkit.Kafka(t), prefix+"group", prefix+"things", 2
	testkit.CreateTopic(t, cfg.Brokers, cfg.Topic)
	testkit.Append(t, cfg.Brokers, cfg.Topic, []byte("a"))
	stored := offsets{client: &kafka.Client{Addr: cfg.Address()}, group: cfg.Group, topic: cfg.Topic, generation: -1}
	wait.For(t, "the plan to be stored", func() bool {
		return stored.commit(t.Context(), 0, Plan{Shard: 2, ExtractVersion: 1}.metadata()) == nil
	})
	target := &accepting{decoding: decoding{decode: func() {}}}
	start := func() (c *Consumer[int], stop func()) {
		c, err := New(cfg, target, prometheus.NewRegistry(), testkit.Log(t))
		if err != nil {
			t.Fatal(err)
		}
		return c, testkit.Start(t, c.Run)
	}
	c, stop := start()
	wait.For(t, "the partition to be reported", func() bool {
		err := c.health.err(time.Now().Add(2 * failureGrace))
		return err != nil && strings.Contains(err.Error(),
			"batch 0 to 0 was planned for shard 2, and there are 2, counted from 0")
	})
	if err := c.health.err(time.Now()); err != nil {
		t.Errorf("not ready before a minute: %v", err)
	}
	stop()
	cfg.Shards = 3
	_, stop = start()
	defer stop()
	wait.For(t, "the batch to land on the third shard", func() bool { return target.shard.Load() == 3 })
}
