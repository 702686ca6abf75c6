package producer

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/produce"

	"github.com/answerscope/answerscope/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const bound = 3 * time.Minute // for what must happen; generous, two cores serve several engines

// freshTopics makes the topics of a prefix of this test's own.
func freshTopics(t testing.TB, brokers []string, partitions int) (prefix string) {
	t.Helper()
	cfg := DefaultTopicsConfig()
	cfg.Brokers, cfg.Prefix, cfg.Partitions = brokers, testkit.Prefix(t), partitions
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	defer cancel()
	if _, err := CreateTopics(ctx, cfg); err != nil {
		t.Fatal(err)
	}
	return cfg.Prefix
}

// running makes a producer, runs it, and stops it at the end of the test. Faults,
// if given, stand between it and the broker.
func running(t testing.TB, brokers []string, prefix string, change func(*Config),
	faults ...func(*produce.Request) outcome) *Producer {
	t.Helper()
	p, end := started(t, brokers, prefix, change, faults...)
	t.Cleanup(end)
	return p
}

// started is running, whose end is up to the test.
func started(t testing.TB, brokers []string, prefix string, change func(*Config),
	faults ...func(*produce.Request) outcome) (*Producer, func()) {
	t.Helper()
	cfg := DefaultConfig()
	cfg.Brokers, cfg.Prefix = brokers, prefix
	if change != nil {
		change(&cfg)
	}
	p, err := New(cfg, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range append(faults, wantAllAcks(t)) {
		p.client.Transport = faulty{p.client.Transport, f}
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	return p, sync.OnceFunc(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("Run() = %v, want nil", err)
		}
		if n := p.appendBytes.Load(); n != 0 || !p.appendAllRoom.TryAcquire(maxBufferedBytes/2) {
			t.Errorf("%d bytes are still held for Append, or some for AppendAll", n)
		}
	})
}

// wantAllAcks fails the test at a request that the broker may acknowledge before all in-sync replicas have it: a beacon
// would be answered on one replica's word.
func wantAllAcks(t testing.TB) func(*produce.Request) outcome {
	var once sync.Once
	return func(r *produce.Request) outcome {
		if r.Acks != -1 {
			once.Do(func() { t.Errorf("a produce request has acks %d, want -1", r.Acks) })
		}
		return fine
	}
}

// outcome is what happens to a produce request.
type outcome int

const (
	fine   outcome = iota
	lost           // the broker appends, the acknowledgement is lost
	unsent         // the request never arrives
	moved          // the broker says that it leads the partition no more
	denied         // the broker refuses for good
	tooBig         // the broker will never take these records
	hung           // nothing comes back
)

// faulty stands between a producer and a real broker.
type faulty struct {
	kafka.RoundTripper
	of func(*produce.Request) outcome
}

func (f faulty) RoundTrip(ctx context.Context, addr net.Addr, req kafka.Request) (kafka.Response, error) {
	r, ok := req.(*produce.Request)
	if !ok {
		return f.RoundTripper.RoundTrip(ctx, addr, req)
	}
	answer := func(code kafka.Error) (kafka.Response, error) {
		partitions := []produce.ResponsePartition{{ErrorCode: int16(code)}}
		return &produce.Response{Topics: []produce.ResponseTopic{{Partitions: partitions}}}, nil
	}
	switch f.of(r) {
	case lost:
		if _, err := f.RoundTripper.RoundTrip(ctx, addr, req); err != nil {
			return nil, err
		}
		return nil, io.ErrUnexpectedEOF
	case unsent:
		return nil, io.ErrUnexpectedEOF
	case moved:
		return answer(kafka.NotLeaderForPartition)
	case denied:
		return answer(kafka.TopicAuthorizationFailed)
	case tooBig:
		return answer(kafka.MessageSizeTooLarge)
	case hung:
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return f.RoundTripper.RoundTrip(ctx, addr, req)
}

// partitionOf is the partition of a request with one batch.
func partitionOf(r *produce.Request) int { return int(r.Topics[0].Partitions[0].Partition) }

// line is one record read back.
type line struct {
	partition  int
	offset     int64
	key, value string
}

// all reads a topic from its beginning to its present end.
func all(t testing.TB, brokers []string, topic string) []line {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	defer cancel()
	client := kafka.Client{Addr: kafka.TCP(brokers...), Transport: &kafka.Transport{MetadataTopics: []string{topic}}}
	defer client.Transport.(*kafka.Transport).CloseIdleConnections()
	meta, err := client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{topic}})
	if err != nil {
		t.Fatal(err)
	}
	var lines []line
	for _, p := range meta.Topics[0].Partitions {
		ends, err := client.ListOffsets(ctx,
			&kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{topic: {kafka.LastOffsetOf(p.ID)}}})
		if err != nil {
			t.Fatal(err)
		}
		for at := int64(0); at < ends.Topics[topic][0].LastOffset; {
			res, err := client.Fetch(ctx, &kafka.FetchRequest{Topic: topic, Partition: p.ID, Offset: at, MinBytes: 1,
				MaxBytes: 16 << 20, MaxWait: time.Second})
			if err != nil || res.Error != nil {
				t.Fatal(err, res.Error)
			}
			for {
				r, err := res.Records.ReadRecord()
				if err != nil {
					break
				}
				if r.Offset < at { // a compressed batch comes whole
					continue
				}
				lines = append(lines, line{p.ID, r.Offset, read(t, r.Key), read(t, r.Value)})
				at = r.Offset + 1
			}
		}
	}
	return lines
}

func read(t testing.TB, b protocol.Bytes) string {
	t.Helper()
	v, err := protocol.ReadAll(b)
	if err != nil {
		t.Fatal(err)
	}
	return string(v)
}

// values counts what was read by its value.
func values(lines []line) map[string]int {
	n := map[string]int{}
	for _, l := range lines {
		n[l.value]++
	}
	return n
}

// partitionsOf is the partition of each value; one that is on two of them is an error.
func partitionsOf(t testing.TB, lines []line) map[string]int {
	t.Helper()
	partitions := map[string]int{}
	for _, l := range lines {
		if at, ok := partitions[l.value]; ok && at != l.partition {
			t.Errorf("%s is on partitions %d and %d", l.value, at, l.partition)
		}
		partitions[l.value] = l.partition
	}
	return partitions
}

func value(i int) []byte { return fmt.Appendf(nil, "record %d", i) }

// nowhere is an address where nothing listens.
func nowhere(t testing.TB) []string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return []string{l.Addr().String()}
}
