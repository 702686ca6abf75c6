package consume_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/pipeline/consume"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// shelf is a target that refuses the first batch as often as it is told to.
type shelf struct {
	refuse atomic.Int64
	landed atomic.Int64 // records
	traced atomic.Bool  // Land was called within a trace
}

func (s *shelf) Version() int              { return 1 }
func (s *shelf) Supports(version int) bool { return version == 1 }

func (s *shelf) Read(_ int, r consume.Record) (item string, month int, err error) {
	if string(r.Value) == "poison" {
		panic("poison")
	}
	return string(r.Value), 1, nil
}

func (s *shelf) Land(ctx context.Context, b *consume.Batch[string], _ func() error) error {
	s.traced.Store(trace.SpanFromContext(ctx).IsRecording())
	if s.refuse.Add(-1) >= 0 {
		return errors.New("no room")
	}
	s.landed.Add(int64(len(b.Items)))
	return nil
}

func (s *shelf) Position(context.Context, string, int32) (last int64, ok bool, err error) {
	return 0, false, nil
}

// consumed appends values, reads them until done, and returns the spans of all batches.
func consumed(t *testing.T, target *shelf, sampler sdk.Sampler, done func(*consume.Consumer[string]) bool, values ...string) []sdk.ReadOnlySpan {
	t.Helper()
	return consumedBy(t, target, nil, sampler, done, values...)
}

func consumedBy(t *testing.T, target consume.Target[string], lock consume.LockFunc, sampler sdk.Sampler, done func(*consume.Consumer[string]) bool, values ...string) []sdk.ReadOnlySpan {
	t.Helper()
	recorder := tracetest.NewSpanRecorder()
	cfg := consume.DefaultConfig()
	prefix := testkit.Prefix(t)
	cfg.Brokers, cfg.Group, cfg.Topic = testkit.Kafka(t), prefix+"group", prefix+"things"
	cfg.SessionTimeout, cfg.Finish = 6*time.Second, 3*time.Second
	cfg.Lock = lock
	cfg.Traces = sdk.NewTracerProvider(sdk.WithSpanProcessor(recorder), sdk.WithSampler(sampler))
	appendTo(t, cfg.Brokers, cfg.Topic, values)
	consumer, err := consume.New(cfg, target, prometheus.NewRegistry(), slog.New(slog.NewTextHandler(t.Output(), nil)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- consumer.Run(ctx) }()
	until(t, func() bool { return done(consumer) })
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	return recorder.Ended()
}

func appendTo(t *testing.T, brokers []string, topic string, values []string) {
	t.Helper()
	client := &kafka.Client{Addr: kafka.TCP(brokers...)}
	if _, err := client.CreateTopics(t.Context(), &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{{Topic: topic, NumPartitions: 1, ReplicationFactor: 1}}}); err != nil {
		t.Fatal(err)
	}
	until(t, func() bool {
		var records []kafka.Record
		for _, value := range values {
			records = append(records, kafka.Record{Value: kafka.NewBytes([]byte(value))})
		}
		answer, err := client.Produce(t.Context(), &kafka.ProduceRequest{Topic: topic, RequiredAcks: kafka.RequireAll, Records: kafka.NewRecordReader(records...)})
		return err == nil && answer.Error == nil // a topic just made may not have its leader yet
	})
}

func until(t *testing.T, done func() bool) {
	t.Helper()
	bound, tick := time.NewTimer(time.Minute), time.NewTicker(10*time.Millisecond)
	defer bound.Stop()
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-bound.C:
			t.Fatal("waited a minute in vain")
		}
	}
}

func landed(target *shelf, records int64) func(*consume.Consumer[string]) bool {
	return func(*consume.Consumer[string]) bool { return target.landed.Load() == records }
}

// told is a trace as lines: each span in the order of the ends, ! for one that failed, and its events.
func told(spans []sdk.ReadOnlySpan) []string {
	var lines []string
	for _, span := range spans {
		line := span.Name()
		if i := strings.LastIndex(line, "."); i >= 0 { // the prefix of a test's topics
			line = "batch " + line[i+1:]
		}
		if span.Status().Code == codes.Error {
			line += " !"
		}
		for _, event := range span.Events() {
			line += " " + event.Name
		}
		lines = append(lines, line)
	}
	return lines
}

func TestATraceTellsEveryAttempt(t *testing.T) {
	target := &shelf{}
	target.refuse.Store(2)
	spans := consumed(t, target, sdk.AlwaysSample(), landed(target, 3), "one", "two", "three")
	want := []string{"collect", "plan", "land ! exception", "land ! exception", "land", "commit", "batch things retry retry"}
	if got := told(spans); !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
	root := spans[len(spans)-1]
	about := map[string]string{}
	for _, pair := range root.Attributes() {
		about[string(pair.Key)] = pair.Value.String()
	}
	for name, value := range map[string]string{
		"messaging.destination.partition.id": "0", "messaging.batch.message_count": "3",
		"answerscope.batch.first": "0", "answerscope.batch.last": "2", "answerscope.batch.bytes": "11",
	} {
		if about[name] != value {
			t.Errorf("%s is %q, want %q", name, about[name], value)
		}
	}
	if !target.traced.Load() {
		t.Error("the target was not called within the trace")
	}
}

// A mistake that a record brings out ends its batch's trace as it ends the partition.
func TestATraceEndsWithItsPartition(t *testing.T) {
	target := &shelf{}
	stopped := func(c *consume.Consumer[string]) bool {
		err := c.Ready(t.Context())
		return err != nil && strings.Contains(err.Error(), "poison")
	}
	spans := consumed(t, target, sdk.AlwaysSample(), stopped, "poison")
	if got, want := told(spans), []string{"collect", "batch things ! exception"}; !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
}

func TestABatchThatIsNotKeptIsNotTold(t *testing.T) {
	target := &shelf{}
	spans := consumed(t, target, sdk.NeverSample(), landed(target, 1), "one")
	if len(spans) != 0 || target.traced.Load() {
		t.Errorf("told %q", told(spans))
	}
}
