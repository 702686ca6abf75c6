package producer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol/produce"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/testkit"
)

// What was on a partition goes back there, in its order and with all that it came
// with, through requests that fail in every way.
func TestRecordsGoBackToTheirPartition(t *testing.T) {
	testkit.Brokers(t, func(t *testing.T, brokers []string, _ string) {
		prefix := freshTopics(t, brokers, 3)
		var requests atomic.Int64
		p := running(t, brokers, prefix, func(c *Config) { c.batchRecords = 10 }, func(*produce.Request) outcome {
			return []outcome{fine, lost, fine, unsent, fine, moved}[requests.Add(1)%6]
		})
		var records []Record
		for i := range 35 {
			records = append(records, Record{Key: fmt.Appendf(nil, "brand-%d", i), Value: value(i),
				Headers: []Header{{Key: "n", Value: value(i)}, {Key: "none"}}})
		}
		records[7].Key = nil
		if n, err := p.AppendTo(t.Context(), event.TopicVisits, 2, records); n != len(records) || err != nil {
			t.Fatalf("AppendTo() = %d, %v", n, err)
		}
		var got []string
		for _, l := range all(t, brokers, prefix+event.TopicVisits) {
			if l.partition != 2 {
				t.Errorf("%s is on partition %d", l.value, l.partition)
			}
			if !slices.Contains(got, l.value) { // those whose acknowledgement was lost are there twice
				got = append(got, l.value)
			}
		}
		for i := range records {
			if i >= len(got) || got[i] != string(value(i)) {
				t.Fatalf("on the partition are %q", got)
			}
		}
		r := kafka.NewReader(kafka.ReaderConfig{Brokers: brokers, Topic: prefix + event.TopicVisits, Partition: 2,
			MaxWait: 50 * time.Millisecond})
		defer r.Close()
		if m, err := r.FetchMessage(t.Context()); err != nil || len(m.Headers) != 2 || m.Headers[0].Key != "n" ||
			string(m.Headers[0].Value) != "record 0" || string(m.Key) != "brand-0" {
			t.Errorf("%+v, %v", m, err)
		}
	})
}

// What is behind a batch that failed would be on the log without it.
func TestNothingIsSentBehindABatchThatFailed(t *testing.T) {
	brokers := testkit.Kafka(t)
	prefix := freshTopics(t, brokers, 1)
	var requests atomic.Int64
	p := running(t, brokers, prefix, func(c *Config) { c.batchRecords = 10 }, func(*produce.Request) outcome {
		if requests.Add(1) == 2 {
			return denied
		}
		return fine
	})
	n, err := p.AppendTo(t.Context(), event.TopicVisits, 0, slices.Repeat([]Record{{Value: value(1)}}, 35))
	if on := len(all(t, brokers, prefix+event.TopicVisits)); n != 10 ||
		!errors.Is(err, kafka.TopicAuthorizationFailed) || on != 10 || requests.Load() != 2 {
		t.Errorf("AppendTo() = %d, %v with %d records on the log after %d requests, want 10 after 2", n, err, on,
			requests.Load())
	}
}

func TestAPartitionThatDoesNotExistIsRefused(t *testing.T) {
	brokers := testkit.Kafka(t)
	prefix := freshTopics(t, brokers, 3)
	p := running(t, brokers, prefix, nil)
	one := []Record{{Value: value(1)}}
	for _, partition := range []int{-1, 3} {
		if n, err := p.AppendTo(t.Context(), event.TopicVisits, partition, one); n != 0 || err == nil ||
			!strings.Contains(err.Error(), "there are 3 partitions") {
			t.Errorf("AppendTo(%d) = %d, %v", partition, n, err)
		}
	}
	if _, err := p.AppendTo(t.Context(), "news", 0, one); err == nil {
		t.Error("a topic that does not exist was taken")
	}
	large := append(one, Record{Value: make([]byte, event.MaxRecordBytes)})
	if n, err := p.AppendTo(t.Context(), event.TopicVisits, 0, large); n != 1 || !errors.Is(err, ErrTooLarge) {
		t.Errorf("AppendTo() of one that is too large = %d, %v", n, err)
	}
}
