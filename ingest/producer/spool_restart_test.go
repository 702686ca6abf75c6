package producer

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/answerscope/answerscope/ingest/event"
)

// load appends record after record until it is stopped, and notes how long each took.
type load struct {
	next   atomic.Int64
	acked  atomic.Int64
	enough chan struct{}
	group  sync.WaitGroup

	mu   sync.Mutex
	took []time.Duration
}

func startLoad(t *testing.T, p *Producer, writers int) *load {
	l := &load{enough: make(chan struct{})}
	for range writers {
		l.group.Go(func() {
			for {
				select {
				case <-l.enough:
					return
				default:
				}
				begin := time.Now()
				if err := p.Append(t.Context(), event.TopicVisits, nil, value(int(l.next.Add(1)-1))); err != nil {
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
	return l
}

// latencies are those since the last call.
func (l *load) latencies(t *testing.T) string {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	slices.Sort(l.took)
	n := len(l.took)
	if l.took[n/2] > 50*time.Millisecond { // of the others, a disk that is shared has its say
		t.Errorf("half of the appends took %s or more", l.took[n/2])
	}
	text := fmt.Sprintf("%d appends, half within %s, 99 %% within %s, all within %s", n, l.took[n/2], l.took[n*99/100], l.took[n-1])
	l.took = nil
	return text
}

// The broker stops and comes back under load, with a spool: every append ends well
// while it is away too, and all is on the log when the spool is empty.
func TestABrokerIsAwayAndAppendsGoOn(t *testing.T) {
	for _, kind := range []string{"kafka", "apache"} {
		t.Run(kind, func(t *testing.T) {
			b := restartable(t, kind)
			stop, brokers, err := b.start(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			prefix := freshTopics(t, brokers, 3)
			p := running(t, brokers, prefix, spooling(t.TempDir()))
			l := startLoad(t, p, 16)
			until(t, "appends to go through", func() bool { return l.acked.Load() > 200 })
			t.Logf("well: %s", l.latencies(t))
			if err := stop(t.Context()); err != nil {
				t.Error(err)
			}
			mark := l.acked.Load()
			until(t, "appends to go on without a broker", func() bool { return l.acked.Load() > mark+3000 })
			t.Logf("away: %s", l.latencies(t))
			if stop, _, err = b.start(t.Context()); err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			held := p.spill.disk.Records()
			until(t, "the spool to be emptied under load", func() bool { return p.spill.disk.Records() == 0 })
			t.Logf("back: %s; %d of the spool in %s", l.latencies(t), held, time.Since(begin))
			close(l.enough)
			l.group.Wait()
			until(t, "an empty spool", func() bool { return p.spill.disk.Records() == 0 })
			keptTheirPlace(t, all(t, brokers, prefix+event.TopicVisits), int(l.next.Load()))
			if err := stop(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		})
	}
}

// A process that begins while Kafka is away takes records all the same, also those
// whose partition follows from a key, and sends them when it is back, in their order.
func TestAStartWithoutKafka(t *testing.T) {
	b := restartable(t, "kafka")
	stop, brokers, err := b.start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	prefix := freshTopics(t, brokers, 3)
	if err := stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	key := func(i int) []byte { return fmt.Appendf(nil, "brand %d", i%5) }
	for round := range 2 { // the second one finds what the first one leaves
		p, end := started(t, brokers, prefix, func(c *Config) { c.Spool.Dir, c.AttemptTimeout, c.AckTimeout = dir, time.Second, time.Second })
		for i := range 50 {
			if err := p.Append(t.Context(), event.TopicAnswers, key(i), value(100*round+i)); err != nil {
				t.Fatal(err)
			}
		}
		appendSome(t, p, 100*round, 100*(round+1), noKey)
		if round == 1 {
			if n := p.spill.disk.Records(); n != 300 {
				t.Errorf("%d records in the spool, want 300", n)
			}
		}
		end()
	}
	if stop, _, err = b.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	p := running(t, brokers, prefix, spooling(dir))
	if err := p.Append(t.Context(), event.TopicAnswers, key(0), []byte("record 9999")); err != nil {
		t.Fatal(err)
	}
	until(t, "an empty spool", func() bool { return p.spill.disk.Records() == 0 })
	keptTheirPlace(t, all(t, brokers, prefix+event.TopicVisits), 200)
	last := map[string]int{}
	for _, l := range all(t, brokers, prefix+event.TopicAnswers) {
		var i int
		fmt.Sscanf(l.value, "record %d", &i)
		if i < last[l.key] {
			t.Errorf("%s: record %d comes after %d", l.key, i, last[l.key])
		}
		last[l.key] = i
		if want := Partition([]byte(l.key), []int{0, 1, 2}); l.partition != want {
			t.Errorf("%s is on partition %d, want %d", l.key, l.partition, want)
		}
	}
	if last["brand 0"] != 9999 || len(last) != 5 {
		t.Errorf("last records of the keys: %v", last)
	}
	if err := stop(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}
