package producer

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol/produce"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/config"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/wait"
)

func TestConcurrentAppendsAreOnTheLogOnce(t *testing.T) {
	testkit.Brokers(t, func(t *testing.T, brokers []string, _ string) {
		prefix := freshTopics(t, brokers, 3)
		p := running(t, brokers, prefix, nil)
		const writers, each = 32, 25
		var group sync.WaitGroup
		for w := range writers {
			group.Go(func() {
				buffer := make([]byte, 0, 64) // used again for every record, as a server does
				for i := range each {
					buffer = fmt.Appendf(buffer[:0], "record %d", w*each+i)
					if err := p.Append(t.Context(), event.TopicVisits, buffer); err != nil {
						t.Error(err)
					}
				}
			})
		}
		group.Wait()

		lines := all(t, brokers, prefix+event.TopicVisits)
		got := values(lines)
		for i := range writers * each {
			if n := got[string(value(i))]; n != 1 {
				t.Fatalf("record %d is on the log %d times, want once", i, n)
			}
		}
		used := map[int]bool{}
		for _, l := range lines {
			used[l.partition] = true
		}
		if len(lines) != writers*each || len(used) != 3 {
			t.Errorf("%d records on %d partitions, want %d on 3", len(lines), len(used), writers*each)
		}
		batches := testutil.CollectAndCount(p.metrics.batches)
		if n := testutil.ToFloat64(p.metrics.records); n != writers*each || batches != 1 {
			t.Errorf("metrics count %v records, want %d", n, writers*each)
		}
	})
}

func TestRecordsOfAKeyKeepTheirOrderAndPartition(t *testing.T) {
	brokers := testkit.Kafka(t)
	prefix := freshTopics(t, brokers, 3)
	var requests atomic.Int64
	every := func(*produce.Request) outcome { // every third request fails, one way or the other
		return []outcome{fine, lost, fine, unsent, fine, moved}[requests.Add(1)%6]
	}
	p := running(t, brokers, prefix, func(c *Config) { c.batchRecords = 40 }, every)
	const keys, each = 5, 200
	var records []Record
	for i := range keys * each {
		records = append(records, Record{Key: fmt.Appendf(nil, "brand-%d", i%keys), Value: value(i)})
	}
	if n, err := p.AppendAll(t.Context(), event.TopicAnswers, records); n != len(records) || err != nil {
		t.Fatalf("AppendAll() = %d, %v, want %d", n, err, len(records))
	}
	next := map[string]int{}
	partitions := map[string]int{}
	twice := 0
	for _, l := range all(t, brokers, prefix+event.TopicAnswers) {
		if at, ok := partitions[l.key]; ok && at != l.partition {
			t.Fatalf("%s is on partitions %d and %d", l.key, at, l.partition)
		}
		partitions[l.key] = l.partition
		var key, i int
		fmt.Sscanf(l.key, "brand-%d", &key)
		fmt.Sscanf(l.value, "record %d", &i)
		switch n := i / keys; {
		case n == next[l.key]:
			next[l.key]++
		case n < next[l.key]: // appended again
			twice++
		default:
			t.Fatalf("%s: record %d comes before record %d", l.key, n, next[l.key])
		}
	}
	for i := range keys {
		if key := fmt.Sprintf("brand-%d", i); next[key] != each || partitions[key] != Partition([]byte(key), 3) {
			t.Errorf("%s: %d records on partition %d, want %d on %d", key, next[key], partitions[key], each,
				Partition([]byte(key), 3))
		}
	}
	if twice == 0 {
		t.Errorf("no record is there twice: the lost acknowledgements were not tried")
	}
}

// A reader counts ids once partition by partition, so a batch without a key must not move when it is sent again.
func TestARetryKeepsItsPartition(t *testing.T) {
	brokers := testkit.Kafka(t)
	prefix := freshTopics(t, brokers, 3)
	var requests atomic.Int64
	p := running(t, brokers, prefix, nil, func(*produce.Request) outcome {
		return []outcome{lost, lost, fine}[requests.Add(1)%3]
	})
	var group sync.WaitGroup
	for i := range 60 {
		group.Go(func() {
			if err := p.Append(t.Context(), event.TopicVisits, value(i)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	lines := all(t, brokers, prefix+event.TopicVisits)
	partitions := partitionsOf(t, lines)
	if len(partitions) != 60 || len(lines) == 60 {
		t.Errorf("%d lines of %d records, want more lines than 60 records", len(lines), len(partitions))
	}
	if n := testutil.ToFloat64(p.metrics.retries); n == 0 {
		t.Errorf("metrics count no retries")
	}
}

func TestTheLargestRecordFitsAndALargerOneIsRefused(t *testing.T) {
	testkit.Brokers(t, func(t *testing.T, brokers []string, _ string) {
		prefix := freshTopics(t, brokers, 1)
		p := running(t, brokers, prefix, nil)
		noise := make([]byte, event.MaxRecordBytes) // nothing that lz4 could make smaller
		rand.Read(noise)
		largest := event.MaxRecordBytes - overhead - batchOverhead
		if err := p.Append(t.Context(), event.TopicVisits, noise[:largest]); err != nil {
			t.Errorf("Append of %d bytes: %v", largest, err)
		}
		err := p.Append(t.Context(), event.TopicVisits, noise[:largest+1])
		if large, ok := errors.AsType[*event.TooLargeError](err); !ok || !errors.Is(err, ErrTooLarge) ||
			large.Bytes <= largest {
			t.Errorf("Append of a byte more: %v, want ErrTooLarge", err)
		}
		if n, err := p.AppendAll(t.Context(), event.TopicVisits,
			[]Record{{Value: value(1)}, {Value: noise}}); n != 0 || !errors.Is(err, ErrTooLarge) {
			t.Errorf("AppendAll with a record too large = %d, %v, want 0, ErrTooLarge", n, err)
		}
		lines := all(t, brokers, prefix+event.TopicVisits)
		if len(lines) != 1 || lines[0].value != string(noise[:largest]) {
			t.Errorf("%d records on the log, want the largest alone", len(lines))
		}
	})
}

func TestARefusalIsNotTriedAgain(t *testing.T) {
	brokers := testkit.Kafka(t)
	prefix := freshTopics(t, brokers, 1)
	var requests atomic.Int64
	p := running(t, brokers, prefix, nil, func(*produce.Request) outcome {
		requests.Add(1)
		return denied
	})
	err := p.Append(t.Context(), event.TopicVisits, value(1))
	if !errors.Is(err, kafka.TopicAuthorizationFailed) || errors.Is(err, ErrAway) || requests.Load() != 1 {
		t.Errorf("Append() = %v after %d requests, want TopicAuthorizationFailed after 1", err, requests.Load())
	}
	if err := p.Append(t.Context(), "nowhere", value(1)); err == nil ||
		!strings.Contains(err.Error(), `topic "nowhere": want one of`) {
		t.Errorf("Append to an unknown topic = %v", err)
	}
}

func TestKafkaAway(t *testing.T) {
	t.Parallel()
	p := running(t, nowhere(t), "", func(c *Config) {
		c.AckTimeout = time.Second
	})
	if err := p.Append(t.Context(), event.TopicVisits, value(1)); !errors.Is(err, ErrAway) {
		t.Errorf("Append() = %v, want ErrAway", err)
	}
	if n, err := p.AppendAll(t.Context(), event.TopicVisits, []Record{{Value: value(1)}, {Value: value(2)}}); n != 0 ||
		!errors.Is(err, ErrAway) {
		t.Errorf("AppendAll() = %d, %v, want 0, ErrAway", n, err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("client left"))
	if err := p.Append(ctx, event.TopicVisits, value(1)); err == nil || err.Error() != "append to visits: client left" {
		t.Errorf("Append with a ctx that ended = %v, want its cause", err)
	}
}

// Memory is bounded whatever the broker does: Append refuses at once, AppendAll waits.
func TestOverload(t *testing.T) {
	brokers := testkit.Kafka(t)
	prefix := freshTopics(t, brokers, 2)
	var away atomic.Bool
	p := running(t, brokers, prefix, func(c *Config) { c.AckTimeout = bound }, func(*produce.Request) outcome {
		if away.Load() {
			return unsent
		}
		return fine
	})
	if err := p.Append(t.Context(), event.TopicVisits, value(0)); err != nil {
		t.Fatal(err)
	}
	away.Store(true)
	piece := make([]byte, 1<<20-overhead)
	room := int64(maxBufferedBytes / 2)
	var group sync.WaitGroup
	for range room >> 20 {
		group.Go(func() {
			if err := p.Append(t.Context(), event.TopicVisits, piece); err != nil {
				t.Error(err)
			}
		})
	}
	wait.For(t, "a full buffer", func() bool { return p.appendBytes.Load() == room })
	// What waits is ErrAway after the AckTimeout.
	if err := p.Append(t.Context(), event.TopicVisits, value(1)); !errors.Is(err, ErrOverloaded) {
		t.Errorf("Append() = %v, want ErrOverloaded at once", err)
	}

	many := slices.Repeat([]Record{{Value: piece}}, int(room>>20)+5)
	ended := make(chan error, 1)
	go func() {
		n, err := p.AppendAll(t.Context(), event.TopicVisits, many)
		if n != len(many) {
			err = errors.Join(err, fmt.Errorf("%d acknowledged, want %d", n, len(many)))
		}
		ended <- err
	}()
	wait.For(t, "AppendAll to fill its half", func() bool {
		if p.appendAllRoom.TryAcquire(1) {
			p.appendAllRoom.Release(1)
			return false
		}
		return true
	})
	var memory runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&memory)
	if most := uint64(3 * maxBufferedBytes); memory.HeapAlloc > most {
		t.Errorf("heap of %d bytes with full buffers of %d, want at most %d", memory.HeapAlloc, maxBufferedBytes, most)
	}
	away.Store(false)
	group.Wait()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := p.Append(t.Context(), event.TopicVisits, value(2)); err != nil {
		t.Errorf("Append() after the overload = %v", err)
	}
	if n := testutil.ToFloat64(p.metrics.failures.WithLabelValues(prefix+event.TopicVisits, "overloaded")); n != 1 {
		t.Errorf("metrics count %v overloads, want 1", n)
	}
}

// One partition that cannot be written delays its own batch alone.
func TestASickPartitionDelaysItsBatchAlone(t *testing.T) {
	t.Parallel()
	brokers := testkit.Kafka(t)
	prefix := freshTopics(t, brokers, 3)
	var toSick atomic.Int64
	p := running(t, brokers, prefix, func(c *Config) { c.AckTimeout = 2 * time.Second },
		func(r *produce.Request) outcome {
			if partitionOf(r) == 1 {
				toSick.Add(1)
				return moved
			}
			return fine
		})
	failed := 0
	for i := range 300 {
		if err := p.Append(t.Context(), event.TopicVisits, value(i)); errors.Is(err, ErrAway) {
			failed++
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if failed != 1 {
		t.Errorf("%d of 300 appends failed, want the one that went to the sick partition", failed)
	}
}

func TestRunSendsWhatItTookAndLeavesNothingBehind(t *testing.T) {
	brokers := testkit.Kafka(t)
	prefix := freshTopics(t, brokers, 2)
	before := runtime.NumGoroutine()
	t.Run("drain", func(t *testing.T) {
		var away atomic.Bool
		var seen atomic.Int64
		p := running(t, brokers, prefix, func(c *Config) { c.AckTimeout = bound }, func(*produce.Request) outcome {
			if seen.Add(1); away.Load() {
				return unsent
			}
			return fine
		})
		ctx, stop := context.WithCancel(t.Context())
		ran := make(chan error, 1)
		go func() { ran <- p.Run(ctx) }()
		away.Store(true)
		var joined []*batch
		for i := range 100 {
			b, err := p.join(t.Context(), event.TopicVisits, [][]byte{value(i)})
			if err != nil {
				t.Fatal(err)
			}
			joined = append(joined, b)
		}
		wait.For(t, "a request", func() bool { return seen.Load() > 0 })
		stop()
		wait.For(t, "the producer to stop", func() bool {
			p.mu.Lock()
			defer p.mu.Unlock()
			return p.stopped
		})
		away.Store(false)
		if err := <-ran; err != nil {
			t.Errorf("Run() = %v, want nil", err)
		}
		for _, topic := range []string{event.TopicVisits, event.TopicAnswers} {
			if err := p.Append(t.Context(), topic, value(1)); !errors.Is(err, ErrStopped) {
				t.Errorf("Append to %s after Run = %v, want ErrStopped", topic, err)
			}
		}
		for _, b := range joined {
			if err := b.wait(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if got := values(all(t, brokers, prefix+event.TopicVisits)); len(got) != 100 {
			t.Errorf("%d of 100 records are on the log", len(got))
		}
	})
	wait.For(t, "goroutines to end", func() bool { return runtime.NumGoroutine() <= before })
}

// The vectors of org.apache.kafka.common.utils.UtilsTest.testMurmur2.
func TestPartitionIsThatOfTheJavaClient(t *testing.T) {
	for key, hash := range map[string]int32{
		"21": -973932308, "foobar": -790332482, "a-little-bit-long-string": -985981536,
		"a-little-bit-longer-string":                       -1486304829,
		"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971, "abc": 479470107,
	} {
		for _, n := range []int{1, 6, 1000} {
			if got, want := Partition([]byte(key), n), int(hash&0x7fffffff)%n; got != want {
				t.Errorf("Partition(%q) of %d = %d, want %d", key, n, got, want)
			}
		}
	}
}

func TestConfigSaysAllThatIsWrong(t *testing.T) {
	if err := (Config{}).Validate(); err == nil || strings.Count(err.Error(), "want") < 2 {
		t.Errorf("Validate() of nothing = %v", err)
	}
	cfg := DefaultConfig()
	cfg.Brokers = []string{"localhost:9092"}
	if err := cfg.Validate(); err != nil {
		t.Errorf("Validate() of the defaults = %v", err)
	}
	for want, c := range map[string]Connection{
		"brokers: want at least one host:port":              {},
		`broker "kafka": want host:port`:                    {Brokers: []string{"kafka"}},
		"certificates: of no use without TLS":               {Brokers: cfg.Brokers, Trust: config.Trust{CA: "x"}},
		`SASL mechanism "gssapi": want one of`:              {Brokers: cfg.Brokers, Mechanism: "gssapi"},
		"SASL: want a mechanism, a username and a password": {Brokers: cfg.Brokers, Mechanism: "plain"},
	} {
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Validate() = %v, want %s", err, want)
		}
	}
}

func TestRecordsAreReadAsTheyWereAdded(t *testing.T) {
	b := newBatch(time.Now(), time.Second, 0, 0)
	b.add(Record{Value: []byte("a")})
	b.add(Record{Key: []byte{}})
	b.add(Record{Key: []byte("k"), Value: []byte("b")})
	r := &records{batch: b}
	var got bytes.Buffer
	for {
		rec, err := r.ReadRecord()
		if err != nil {
			break
		}
		if rec.Key != nil {
			fmt.Fprintf(&got, "%q", read(t, rec.Key))
		}
		fmt.Fprintf(&got, "=%q;", read(t, rec.Value))
	}
	if want := `="a";""="";"k"="b";`; got.String() != want {
		t.Errorf("read %s, want %s", got.String(), want)
	}
}
