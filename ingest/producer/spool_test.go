package producer

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol/produce"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer/spool"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/wait"
)

// spooling gives a producer a spool in dir, and a file of partitions beside that.
func spooling(dir string) func(*Config) {
	return func(c *Config) { c.Spool.Dir, c.Spool.PartitionsFile = dir, partitionsFile(dir) }
}

func partitionsFile(dir string) string { return filepath.Join(filepath.Dir(dir), "partitions.json") }

func appendSome(t *testing.T, p *Producer, from, to int) {
	t.Helper()
	var group sync.WaitGroup
	for w := range 16 {
		group.Go(func() {
			for i := from + w; i < to; i += 16 {
				if err := p.Append(t.Context(), event.TopicVisits, value(i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
}

// While requests are lost, on the way or on the way back, every append succeeds soon; when they
// arrive again everything is on the log, and what is there twice did not move.
func TestRequestsAreLostAndRecordsAreNot(t *testing.T) {
	brokers := testkit.Kafka(t)
	prefix := freshTopics(t, brokers, 3)
	var away atomic.Int64
	p := running(t, brokers, prefix, spooling(t.TempDir()),
		func(*produce.Request) outcome { return outcome(away.Load()) })
	appendSome(t, p, 0, 200)
	away.Store(int64(unsent))
	begin := time.Now()
	appendSome(t, p, 200, 600)
	away.Store(int64(lost))
	appendSome(t, p, 600, 1000)
	t.Logf("800 records in %s, %d in the spool", time.Since(begin), p.spill.disk.Load().Records())
	if p.spill.disk.Load().Records() == 0 {
		t.Error("nothing is in the spool")
	}
	away.Store(int64(fine))
	wait.For(t, "an empty spool", func() bool { return p.spill.disk.Load().Records() == 0 })
	appendSome(t, p, 1000, 1200)
	wait.For(t, "an empty spool again, on a slow machine", func() bool { return p.spill.disk.Load().Records() == 0 })
	keptTheirPartition(t, all(t, brokers, prefix+event.TopicVisits), 1200)
}

// keptTheirPartition checks that records 0 to n are there, each on one partition.
func keptTheirPartition(t *testing.T, lines []line, n int) {
	t.Helper()
	partitions := partitionsOf(t, lines)
	for i := range n {
		if _, ok := partitions[string(value(i))]; !ok {
			t.Fatalf("record %d was acknowledged and is not on the log", i)
		}
	}
	if len(partitions) != n {
		t.Errorf("%d records are there, want %d", len(partitions), n)
	}
}

// A broker that takes requests and never answers delays no append for long.
func TestABrokerThatHangsDelaysNoAppend(t *testing.T) {
	brokers := testkit.Kafka(t)
	prefix := freshTopics(t, brokers, 6)
	var away atomic.Int64
	p := running(t, brokers, prefix, spooling(t.TempDir()),
		func(*produce.Request) outcome { return outcome(away.Load()) })
	var l load
	l.start(t, p, event.TopicVisits, 16)
	wait.For(t, "appends to go through", func() bool { return l.acked.Load() > 200 })
	t.Logf("well: %s", l.latencies(t))
	away.Store(int64(hung))
	mark := l.acked.Load()
	wait.For(t, "appends to go on", func() bool { return l.acked.Load() > mark+2000 })
	t.Logf("hung: %s", l.latencies(t))
	away.Store(int64(fine))
	wait.For(t, "an empty spool", func() bool { return p.spill.disk.Load().Records() < 200 })
	l.stop()
	wait.For(t, "an empty spool", func() bool { return p.spill.disk.Load().Records() == 0 })
	keptTheirPartition(t, all(t, brokers, prefix+event.TopicVisits), int(l.next.Load()))
}

// While the topic is gone Ready names it, and the spool takes what is appended; it is sent once the topic is there.
func TestATopicThatIsGoneIsNamed(t *testing.T) {
	brokers := testkit.Kafka(t)
	prefix := freshTopics(t, brokers, 3)
	p := running(t, brokers, prefix, spooling(t.TempDir()))
	appendSome(t, p, 0, 20)
	wait.For(t, "ready", func() bool { return p.Ready(t.Context()) == nil })

	client := &kafka.Client{Addr: kafka.TCP(brokers...)}
	if _, err := client.DeleteTopics(t.Context(), &kafka.DeleteTopicsRequest{Topics: []string{prefix +
		event.TopicVisits}}); err != nil {
		t.Fatal(err)
	}
	wait.For(t, "the topic to be named", func() bool {
		err := p.Ready(t.Context())
		return err != nil && strings.Contains(err.Error(), "topic "+prefix+event.TopicVisits+" is gone")
	})
	appendSome(t, p, 20, 40)

	cfg := DefaultTopicsConfig()
	cfg.Brokers, cfg.Prefix, cfg.Partitions = brokers, prefix, 3
	if _, err := CreateTopics(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	wait.For(t, "ready again", func() bool { return p.Ready(t.Context()) == nil })
	wait.For(t, "an empty spool", func() bool { return p.spill.disk.Load().Records() == 0 })
	if n := len(partitionsOf(t, all(t, brokers, prefix+event.TopicVisits))); n != 20 {
		t.Errorf("the new topic has %d records, want the 20 of the spool", n)
	}
}

// A full spool refuses records before they join a batch, and takes them again once
// Kafka is back. Nothing that it took is refused for want of room.
func TestAFullSpoolRefusesAndRecovers(t *testing.T) {
	brokers := testkit.Kafka(t)
	prefix := freshTopics(t, brokers, 3)
	var away atomic.Int64
	dir := t.TempDir()
	p := running(t, brokers, prefix, func(c *Config) {
		spooling(dir)(c)
		c.Spool.MaxBytes = 4 * event.MaxRecordBytes
	}, func(*produce.Request) outcome { return outcome(away.Load()) })
	away.Store(int64(unsent))
	var taken, refused atomic.Int64
	var group sync.WaitGroup
	for w := range 16 {
		group.Go(func() {
			for i := w; i < 600; i += 16 {
				v := append(value(i), make([]byte, 100_000)...)
				switch err := p.Append(t.Context(), event.TopicVisits, v); {
				case err == nil:
					taken.Add(1)
				case errors.Is(err, ErrOverloaded):
					refused.Add(1)
				default:
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if taken.Load() == 0 || refused.Load() == 0 || p.Ready(t.Context()) == nil {
		t.Errorf("%d records taken, %d refused, ready: %v; want some of both, and not ready", taken.Load(),
			refused.Load(), p.Ready(t.Context()))
	}
	if used := onDisk(t, dir); used > p.cfg.Spool.MaxBytes {
		t.Errorf("%d bytes on disk, at most %d are allowed", used, p.cfg.Spool.MaxBytes)
	}
	away.Store(int64(fine))
	wait.For(t, "room", func() bool {
		return p.Append(t.Context(), event.TopicVisits, value(9)) == nil && p.spill.disk.Load().Records() == 0
	})
	if err := p.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	if used := onDisk(t, dir); used > 1<<20 {
		t.Errorf("%d bytes stay on disk of an empty spool", used)
	}
	large := 0
	for _, l := range all(t, brokers, prefix+event.TopicVisits) {
		if len(l.value) > 1000 {
			large++
		}
	}
	if int64(large) != taken.Load() {
		t.Errorf("%d records are on the log, %d were taken", large, taken.Load())
	}
}

func onDisk(t *testing.T, dir string) (bytes int64) {
	t.Helper()
	names, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if info, err := n.Info(); err == nil && !n.IsDir() {
			bytes += info.Size()
		}
	}
	return bytes
}

// What an operator can repair waits in the spool; a record that the broker will never
// take is quarantined, and those around it are sent.
func TestRefusalsOfTheBroker(t *testing.T) {
	brokers := testkit.Kafka(t)
	prefix := freshTopics(t, brokers, 1)
	var away atomic.Int64
	dir := t.TempDir()
	bad := func(r *produce.Request) outcome {
		if m := outcome(away.Load()); m != tooBig ||
			int(r.Topics[0].Partitions[0].RecordSet.Records.(*records).batch.data[0]) == 'X' ||
			len(r.Topics[0].Partitions[0].RecordSet.Records.(*records).batch.ends) > 1 {
			return m
		}
		return fine
	}
	p := running(t, brokers, prefix, spooling(dir), bad)
	away.Store(int64(denied))
	var group sync.WaitGroup
	for i := range 40 {
		group.Go(func() {
			v := value(i)
			if i == 20 {
				v = []byte("X")
			}
			if err := p.Append(t.Context(), event.TopicVisits, v); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := p.spill.disk.Load().Records(); n != 40 {
		t.Errorf("%d records in the spool, want 40", n)
	}
	away.Store(int64(tooBig))
	wait.For(t, "an empty spool", func() bool { return p.spill.disk.Load().Records() == 0 })
	got := values(all(t, brokers, prefix+event.TopicVisits))
	if len(got) != 39 || got["X"] != 0 {
		t.Errorf("%d records are on the log, want 39: %v", len(got), got)
	}
	quarantined, _ := os.ReadDir(filepath.Join(dir, "quarantine"))
	if len(quarantined) != 1 || !strings.HasSuffix(quarantined[0].Name(), "-refused") ||
		testutil.ToFloat64(p.metrics.quarantined) != 1 {
		t.Errorf("quarantined: %v, want one entry", quarantined)
	}
	if err := p.Append(t.Context(), event.TopicVisits, []byte("X")); !errors.Is(err, kafka.MessageSizeTooLarge) {
		t.Errorf("Append of a record that Kafka will never take, while it is well = %v", err)
	}
}

// Without a disk it is as without a spool: a record is safe when Kafka has it.
func TestADiskThatFails(t *testing.T) {
	brokers := testkit.Kafka(t)
	prefix := freshTopics(t, brokers, 2)
	var away atomic.Int64
	dir := filepath.Join(t.TempDir(), "spool")
	p := running(t, brokers, prefix, func(c *Config) {
		spooling(dir)(c)
		c.Spool.MaxBytes, c.AckTimeout = 4*event.MaxRecordBytes, time.Second
	}, func(*produce.Request) outcome { return outcome(away.Load()) })
	if err := p.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	// Files that are open work on, the next one cannot be made.
	wait.For(t, "the directory to be gone, in which a file is being made",
		func() bool { return os.RemoveAll(dir) == nil })
	away.Store(int64(unsent))
	var err error
	for n := 0; err == nil && n < 30; n++ {
		err = p.Append(t.Context(), event.TopicVisits, make([]byte, 1<<20))
	}
	if !errors.Is(err, ErrAway) {
		t.Errorf("Append without disk and Kafka = %v", err)
	}
	away.Store(int64(fine))
	appendSome(t, p, 11, 30)
	if testutil.ToFloat64(p.metrics.spoolErrors) == 0 {
		t.Error("no failure of the disk is counted")
	}
}

// One process has a spool at a time, and the second one fails.
func TestASpoolInUse(t *testing.T) {
	dir := t.TempDir()
	if err := savePartitions(partitionsFile(dir), event.TopicVisits, 3); err != nil {
		t.Fatal(err)
	}
	first := running(t, nowhere(t), "", spooling(dir))
	if err := first.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	cfg := first.cfg
	second, err := New(cfg, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Run(t.Context()); !errors.Is(err, spool.ErrInUse) || !strings.Contains(err.Error(), dir) {
		t.Errorf("Run() of a second one = %v, want ErrInUse", err)
	}
	if err := second.Append(t.Context(), event.TopicVisits, value(1)); !errors.Is(err, ErrStopped) {
		t.Errorf("Append() of a second one = %v, want ErrStopped", err)
	}
}

// The spool counts room by the weights of records: no entry may take more.
func TestAnEntryTakesNoMoreThanItsRecordsReserve(t *testing.T) {
	dir := t.TempDir()
	if err := savePartitions(partitionsFile(dir), event.TopicVisits, 3); err != nil {
		t.Fatal(err)
	}
	p := running(t, nowhere(t), "", spooling(dir))
	for _, size := range []int{0, 1, 127, 128, 20_000} {
		for _, n := range []int{1, 2, 50} {
			if err := p.Ready(t.Context()); err != nil {
				t.Fatal(err)
			}
			before := p.spill.disk.Load().Used()
			values := slices.Repeat([][]byte{make([]byte, size)}, n)
			if err := p.Append(t.Context(), event.TopicVisits, values...); err != nil {
				t.Fatal(err)
			}
			if took, reserved := p.spill.disk.Load().Used()-before, int64(n*weight(nil, values[0])); took > reserved ||
				took == 0 {
				t.Errorf("%d records of %d bytes take %d, reserved were %d", n, size, took, reserved)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	b := &batch{}
	for _, v := range []string{"a", "", "value"} {
		b.add(Record{Value: []byte(v)})
	}
	f.Add(b.encode())
	f.Add([]byte{})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, body []byte) {
		got := &batch{}
		if err := got.parse(body); err != nil {
			if len(got.ends) > 0 {
				t.Errorf("%d records of a body that is refused: %v", len(got.ends), err)
			}
			return
		}
		again := &batch{}
		if err := again.parse(got.encode()); err != nil || !reflect.DeepEqual(again, got) {
			t.Errorf("read again: %+v, %v, want %+v", again, err, got)
		}
	})
}
