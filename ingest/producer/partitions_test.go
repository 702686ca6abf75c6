package producer

import (
	"context"
	"log/slog"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol/metadata"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/testkit"
)

// unpartitioned is a broker whose first three responses know a topic and none of its partitions.
type unpartitioned struct {
	kafka.RoundTripper
	asked *atomic.Int64
}

func (u unpartitioned) RoundTrip(ctx context.Context, addr net.Addr, req kafka.Request) (kafka.Response, error) {
	res, err := u.RoundTripper.RoundTrip(ctx, addr, req)
	if meta, ok := res.(*metadata.Response); ok && u.asked.Add(1) <= 3 {
		meta.Topics[0].Partitions = nil
	}
	return res, err
}

// A producer with a spool once asked such a broker without a pause, and one without a spool never asked it again.
func TestATopicWithoutPartitionsIsAskedForAgain(t *testing.T) {
	brokers := testkit.Kafka(t)
	prefix := freshTopics(t, brokers, 2)
	for name, change := range map[string]func(*Config){"spool": spooling(t.TempDir()), "no spool": func(*Config) {}} {
		t.Run(name, func(t *testing.T) {
			cfg := DefaultConfig()
			cfg.Brokers, cfg.Prefix = brokers, prefix
			change(&cfg)
			p, err := New(cfg, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
			if err != nil {
				t.Fatal(err)
			}
			var asked atomic.Int64
			p.client.Transport = unpartitioned{p.client.Transport, &asked}
			begin := time.Now()
			t.Cleanup(testkit.Start(t, p.Run))
			if err := p.Append(t.Context(), event.TopicVisits, value(1)); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(begin); asked.Load() != 4 || took < 40*time.Millisecond {
				t.Errorf("asked %d times in %s, want 4 times with pauses", asked.Load(), took)
			}
		})
	}
}
