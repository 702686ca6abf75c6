package producer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/answerscope/answerscope/deploy/engine"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/testkit"
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
			k, err := engine.StartKafka(ctx, engine.KafkaConfig{Dir: dir, NoPassword: true, Log: quiet})
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

// load appends record after record until it is stopped, and notes how long each took.
type load struct {
	next, acked atomic.Int64
	enough      chan struct{}
	group       sync.WaitGroup

	mu   sync.Mutex
	took []time.Duration
}

func (l *load) start(t *testing.T, p *Producer, topic string, writers int) {
	l.enough = make(chan struct{})
	for range writers {
		l.group.Go(func() {
			for {
				select {
				case <-l.enough:
					return
				default:
				}
				begin := time.Now()
				if err := p.Append(t.Context(), topic, value(int(l.next.Add(1)-1))); err != nil {
					t.Error(err)
					return
				}
				l.mu.Lock()
				l.took = append(l.took, time.Since(begin))
				l.mu.Unlock()
				l.acked.Add(1)
			}
		})
	}
}

func (l *load) stop() {
	close(l.enough)
	l.group.Wait()
}

// latencies are those since the last call.
func (l *load) latencies(t *testing.T) string {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	slices.Sort(l.took)
	n := len(l.took)
	if l.took[n/2] > 50*time.Millisecond { // the slowest depend on a shared disk
		t.Errorf("half of the appends took %s or more", l.took[n/2])
	}
	text := fmt.Sprintf("%d appends, half within %s, 99 %% within %s, all within %s", n, l.took[n/2], l.took[n*99/100],
		l.took[n-1])
	l.took = nil
	return text
}

// The broker stops and comes back under load: every append succeeds, all is on the log, and what is there twice did not
// move. Answers wait for the broker; visits go on through the spool.
func TestABrokerRestartLosesNothing(t *testing.T) {
	kinds := []string{"kafka", "apache"}
	for _, kind := range kinds[:testkit.Draws(1, len(kinds))] {
		t.Run(kind, func(t *testing.T) {
			b := restartable(t, kind)
			stop, brokers, err := b.start(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			prefix := freshTopics(t, brokers, 3)
			p := running(t, brokers, prefix, func(c *Config) {
				spooling(t.TempDir())(c)
				c.AckTimeout = bound
			})
			var visits, answers load
			visits.start(t, p, event.TopicVisits, 8)
			answers.start(t, p, event.TopicAnswers, 8)
			wait.For(t, "appends to go through", func() bool {
				return visits.acked.Load() > 200 &&
					answers.acked.Load() > 200
			})
			t.Logf("well: %s", visits.latencies(t))
			if err := stop(t.Context()); err != nil {
				t.Error(err)
			}
			mark := visits.acked.Load()
			wait.For(t, "appends to go on without a broker", func() bool { return visits.acked.Load() > mark+1000 })
			t.Logf("away: %s", visits.latencies(t))
			visits.stop() // which leaves the processors to the broker
			if stop, _, err = b.start(t.Context()); err != nil {
				t.Fatal(err)
			}
			visits.start(t, p, event.TopicVisits, 8)
			begin, held, mark := time.Now(), p.spill.disk.Load().Records(), answers.acked.Load()
			wait.For(t, "the spool to be emptied under load", func() bool { return p.spill.disk.Load().Records() == 0 })
			t.Logf("%d of the spool in %s", held, time.Since(begin))
			wait.For(t, "appends to go through again", func() bool { return answers.acked.Load() > mark+200 })
			t.Logf("back: %s", visits.latencies(t))
			visits.stop()
			answers.stop()
			wait.For(t, "an empty spool", func() bool { return p.spill.disk.Load().Records() == 0 })
			keptTheirPartition(t, all(t, brokers, prefix+event.TopicVisits), int(visits.next.Load()))
			keptTheirPartition(t, all(t, brokers, prefix+event.TopicAnswers), int(answers.next.Load()))
			if err := stop(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		})
	}
}

// A producer whose appends failed because Kafka was away works when it is back.
func TestAfterKafkaWasAway(t *testing.T) {
	t.Parallel()
	b := restartable(t, "kafka")
	stop, brokers, err := b.start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	prefix := freshTopics(t, brokers, 2)
	short := func(c *Config) { c.AckTimeout = time.Second }
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
		wait.For(t, name+" to append again", func() bool {
			return p.Append(t.Context(), event.TopicVisits,
				value(3)) == nil
		})
	}
	if got := values(all(t, brokers, prefix+event.TopicVisits)); got["record 1"] != 1 || got["record 3"] < 2 {
		t.Errorf("on the log: %v", got)
	}
	if err := stop(t.Context()); err != nil {
		t.Error(err)
	}
}

// A process that starts while Kafka is away, after one that knew the number of partitions, takes records and sends them
// once Kafka is back, also those that a process between them left.
func TestAStartWithoutKafka(t *testing.T) {
	b := restartable(t, "kafka")
	stop, brokers, err := b.start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	prefix, dir := freshTopics(t, brokers, 3), t.TempDir()
	short := func(c *Config) {
		spooling(dir)(c)
		c.AckTimeout = time.Second
	}
	p, end := started(t, brokers, prefix, short)
	if err := p.Append(t.Context(), event.TopicVisits, value(0)); err != nil {
		t.Fatal(err)
	}
	end()
	if err := stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	for round := range 2 { // the second process finds what the first one left
		p, end := started(t, brokers, prefix, short)
		if err := p.Ready(t.Context()); err != nil {
			t.Errorf("Ready() without Kafka, with the partitions on file = %v", err)
		}
		appendSome(t, p, 1+100*round, 1+100*(round+1))
		if n := p.spill.disk.Load().Records(); n != int64(100*(round+1)) {
			t.Errorf("%d records in the spool, want %d", n, 100*(round+1))
		}
		end()
	}
	if stop, _, err = b.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	p = running(t, brokers, prefix, spooling(dir))
	if err := p.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	wait.For(t, "an empty spool", func() bool { return p.spill.disk.Load().Records() == 0 })
	lines := all(t, brokers, prefix+event.TopicVisits)
	keptTheirPartition(t, lines, 201)
	used := map[int]bool{}
	for _, l := range lines {
		used[l.partition] = true
	}
	if len(used) != 3 {
		t.Errorf("%d partitions were used, want all 3", len(used))
	}
	if err := stop(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}

// A process that starts for the first time while Kafka is away knows no partition that a record could keep: it is not
// ready, and takes records as soon as Kafka has answered. So is one whose file is damaged or of another topic.
func TestAFirstStartWithoutKafka(t *testing.T) {
	t.Parallel()
	b := restartable(t, "kafka")
	stop, brokers, err := b.start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	prefix := freshTopics(t, brokers, 3)
	if err := stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Run("not ready", func(t *testing.T) {
		for name, text := range map[string]string{
			"no": "", "a damaged": `{"topic":`, "another topic's": `{"topic":"x.visits","partitions":3}`,
		} {
			t.Run(name+" file", func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				if text != "" {
					if err := os.WriteFile(partitionsFile(dir), []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				p := running(t, brokers, prefix, spooling(dir))
				if err := p.Append(t.Context(), event.TopicVisits, value(1)); !errors.Is(err, ErrNotReady) {
					t.Errorf("Append() = %v, want ErrNotReady", err)
				}
				if err := p.Ready(t.Context()); !errors.Is(err, ErrNotReady) {
					t.Errorf("Ready() = %v, want ErrNotReady", err)
				}
			})
		}
	})
	dir := t.TempDir()
	p := running(t, brokers, prefix, spooling(dir))
	if stop, _, err = b.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	wait.For(t, "the producer to be ready", func() bool { return p.Ready(t.Context()) == nil })
	if err := p.Append(t.Context(), event.TopicVisits, value(1)); err != nil {
		t.Errorf("Append() once Kafka has answered = %v", err)
	}
	wait.For(t, "the number of partitions to be kept", func() bool {
		n, err := loadPartitions(partitionsFile(dir), prefix+event.TopicVisits)
		return n == 3 && err == nil
	})
	if err := stop(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}
