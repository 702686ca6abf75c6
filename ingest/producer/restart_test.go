package producer

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/answerscope/answerscope/deploy/engine"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/testkit/wait"
)

// broker is one that a test may stop and start again, on the same address.
type broker struct {
	start func(context.Context) (stop func(context.Context) error, brokers []string, err error)
}

func restartable(t *testing.T, kind string) broker {
	dir, quiet := t.TempDir(), slog.New(slog.DiscardHandler)
	if kind == "kafka" {
		return broker{func(ctx context.Context) (func(context.Context) error, []string, error) {
			k, err := engine.StartKafka(ctx, engine.KafkaConfig{Dir: dir, Log: quiet})
			if err != nil {
				return nil, nil, err
			}
			return k.Stop, k.Brokers(), nil
		}}
	}
	return broker{func(ctx context.Context) (func(context.Context) error, []string, error) {
		k, err := engine.StartApacheKafka(ctx, engine.ApacheKafkaConfig{Dir: dir, Log: quiet})
		if err != nil {
			return nil, nil, err
		}
		return k.Stop, k.Brokers(), nil
	}}
}

// The broker stops and comes back under load: every append ends well, everything
// acknowledged is on the log, and what is there twice did not move.
func TestABrokerRestartLosesNothing(t *testing.T) {
	for _, kind := range []string{"kafka", "apache"} {
		t.Run(kind, func(t *testing.T) {
			b := restartable(t, kind)
			stop, brokers, err := b.start(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			prefix := freshTopics(t, brokers, 3)
			p := running(t, brokers, prefix, func(c *Config) { c.AckTimeout = bound })
			var next, acked atomic.Int64
			enough := make(chan struct{})
			var group sync.WaitGroup
			for range 16 {
				group.Go(func() {
					for {
						select {
						case <-enough:
							return
						default:
						}
						if err := p.Append(t.Context(), event.TopicVisits, value(int(next.Add(1)-1))); err != nil {
							t.Error(err)
							return
						}
						acked.Add(1)
					}
				})
			}
			wait.For(t, "appends to go through", func() bool { return acked.Load() > 200 })
			if err := stop(t.Context()); err != nil {
				t.Error(err)
			}
			if stop, _, err = b.start(t.Context()); err != nil {
				t.Fatal(err)
			}
			mark := acked.Load()
			wait.For(t, "appends to go through again", func() bool { return acked.Load() > mark+200 })
			close(enough)
			group.Wait()

			partitions := partitionsOf(t, all(t, brokers, prefix+event.TopicVisits))
			for i := range int(next.Load()) {
				if _, ok := partitions[string(value(i))]; !ok {
					t.Fatalf("record %d was acknowledged and is not on the log", i)
				}
			}
			if err := stop(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		})
	}
}

// A producer that was told that Kafka is away works when it is back.
func TestAfterKafkaWasAway(t *testing.T) {
	b := restartable(t, "kafka")
	stop, brokers, err := b.start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	prefix := freshTopics(t, brokers, 2)
	short := func(c *Config) { c.AttemptTimeout, c.AckTimeout = 1e9, 1e9 }
	used, unused := running(t, brokers, prefix, short), running(t, brokers, prefix, short)
	if err := used.Append(t.Context(), event.TopicVisits, value(1)); err != nil {
		t.Fatal(err)
	}
	if err := stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]*Producer{"used": used, "unused": unused} {
		if err := p.Append(t.Context(), event.TopicVisits, value(2)); !errors.Is(err, ErrAway) {
			t.Errorf("%s: Append() = %v, want ErrAway", name, err)
		}
	}
	if stop, _, err = b.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]*Producer{"used": used, "unused": unused} {
		wait.For(t, name+" to append again", func() bool { return p.Append(t.Context(), event.TopicVisits, value(3)) == nil })
	}
	if got := values(all(t, brokers, prefix+event.TopicVisits)); got["record 1"] != 1 || got["record 3"] < 2 {
		t.Errorf("on the log: %v", got)
	}
	if err := stop(t.Context()); err != nil {
		t.Error(err)
	}
}
