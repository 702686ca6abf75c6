//go:build all

// Tests of this package need root, and are slow: make test-crash runs them.

package cluster_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/cluster"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/pipeline/consume"
)

// A partition's leader among three brokers is killed while the product appends and reads, and every second one loses
// its disk too: every append is acknowledged, each acknowledged record is read, and each place on the log is landed
// once. There is one kill, since every start of a broker costs seconds; make test-crash has more.
func TestBrokersKilledUnderLoad(t *testing.T) {
	if !cluster.Isolated(t) {
		return
	}
	c := start(t, cluster.Options{Brokers: 3})
	topics := producer.DefaultTopicsConfig()
	topics.Brokers, topics.Partitions, topics.Replicas = c.Addresses("kafka"), 3, 3
	_, err := producer.CreateTopics(t.Context(), topics)
	must(t, err)
	topicsAreInSync(t, topics)

	landed := &landing{values: map[string]int{}, places: map[string]int{}}
	cfg := consume.DefaultConfig()
	cfg.Connection, cfg.Group, cfg.Topic = topics.Connection, "readers", event.TopicVisits
	reader, err := consume.New(cfg, landed, prometheus.NewRegistry(), testkit.Log(t))
	must(t, err)
	defer testkit.Start(t, reader.Run)()
	writing := producer.DefaultConfig()
	writing.Connection = topics.Connection
	p, err := producer.New(writing, testkit.Log(t), prometheus.NewRegistry())
	must(t, err)
	defer testkit.Start(t, p.Run)()

	var next, acknowledged atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	defer writers.Wait()
	defer stop()
	for range 2 {
		writers.Go(func() {
			for pace := time.Tick(20 * time.Millisecond); ctx.Err() == nil; <-pace {
				if err := p.Append(t.Context(), cfg.Topic, fmt.Append(nil, next.Add(1))); err != nil {
					t.Errorf("append: %v", err)
					return
				}
				acknowledged.Add(1)
			}
		})
	}
	goesOn := func(event string) {
		begin, before := time.Now(), next.Load()
		wait.For(t, "new records to be read", func() bool { return landed.count() > int(before)+20 })
		t.Logf("%s: the readers went on within %s", event, time.Since(begin).Round(time.Millisecond))
	}
	goesOn("start")
	kills, err := strconv.Atoi(cmp.Or(os.Getenv("ANSWERSCOPE_TEST_KILLS"), "1"))
	must(t, err)
	for n := range kills {
		leader, event := c.Node(leaderOf(t, c, cfg.Topic)), " killed"
		must(t, leader.Kill())
		if n%2 == 1 {
			must(t, leader.LoseDisk())
			event = " lost its disk"
		}
		goesOn(leader.Name + event)
		must(t, leader.Start(t.Context()))
		awaitInSync(t, c)
	}
	goesOn("all in sync")
	stop()
	writers.Wait()
	wait.For(t, "every record to be read", func() bool { return landed.count() >= int(acknowledged.Load()) })
	landed.check(t, int(next.Load()))
}

// topicsAreInSync wants two acknowledgements of topics that the product makes, and that it says where another made a
// topic with one.
func topicsAreInSync(t *testing.T, topics producer.TopicsConfig) {
	t.Helper()
	const name = "min.insync.replicas"
	client := &kafka.Client{Addr: topics.Address()}
	settings, err := client.DescribeConfigs(t.Context(), &kafka.DescribeConfigsRequest{
		Resources: []kafka.DescribeConfigRequestResource{{
			ResourceType: kafka.ResourceTypeTopic, ResourceName: event.TopicVisits, ConfigNames: []string{name},
		}},
	})
	must(t, err)
	const ofTopic = 1 // and not the broker's default
	if is := settings.Resources[0].ConfigEntries[0]; is.ConfigValue != "2" || is.ConfigSource != ofTopic {
		t.Errorf("the topic's %+v, want 2 of its own", is)
	}
	topics.Prefix = "weak."
	_, err = client.CreateTopics(t.Context(), &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{{
		Topic: "weak.visits", NumPartitions: 3, ReplicationFactor: 3,
		ConfigEntries: []kafka.ConfigEntry{
			{ConfigName: name, ConfigValue: "1"},
			{ConfigName: "max.message.bytes", ConfigValue: strconv.Itoa(event.MaxRecordBytes)},
		},
	}}})
	must(t, err)
	states, err := producer.CreateTopics(t.Context(), topics)
	must(t, err)
	weak := slices.IndexFunc(states, func(s producer.TopicState) bool { return s.Name == "weak.visits" })
	if want := name + " 1, configured 2"; !slices.Contains(states[weak].Differs, want) {
		t.Errorf("it differs in %q, want %s", states[weak].Differs, want)
	}
}

// partitions returns the partitions of a topic as a live broker sees them.
func partitions(t *testing.T, c *cluster.Cluster, topic string) []kafka.Partition {
	client := &kafka.Client{Addr: kafka.TCP(c.Addresses("kafka")...)}
	var response *kafka.MetadataResponse
	wait.For(t, "a broker to answer", func() (ok bool) {
		var err error
		response, err = client.Metadata(t.Context(), &kafka.MetadataRequest{Topics: []string{topic}})
		return err == nil
	})
	return response.Topics[0].Partitions
}

func leaderOf(t *testing.T, c *cluster.Cluster, topic string) (node string) {
	t.Helper()
	return fmt.Sprintf("kafka-%d", partitions(t, c, topic)[0].Leader.ID)
}

func awaitInSync(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	wait.For(t, "every replica to be in sync", func() bool { return c.InSync(t.Context()) })
}

// landing is a target that counts values, and their places on the log. A batch that comes again replaces itself.
type landing struct {
	mu     sync.Mutex
	values map[string]int
	places map[string]int // batches by partition/offset
	tokens map[string]bool
}

func (l *landing) Version() int              { return 1 }
func (l *landing) Supports(version int) bool { return version == 1 }

func (l *landing) Decode(_ int, r consume.Record) (item string, month int, err error) {
	return string(r.Value), 1, nil
}

func (l *landing) Insert(_ context.Context, b *consume.Batch[string], _ func() error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tokens[b.Token()] {
		return nil
	}
	if l.tokens == nil {
		l.tokens = map[string]bool{}
	}
	l.tokens[b.Token()] = true
	for i, value := range b.Items {
		l.values[value]++
		l.places[fmt.Sprintf("%d/%d", b.Partition, b.First+int64(i))]++
	}
	return nil
}

func (l *landing) LastOffset(context.Context, string, int32) (last int64, ok bool, err error) {
	return 0, false, nil
}

func (l *landing) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.values)
}

// check wants every value from 1 to last, and each place on the log once.
func (l *landing) check(t *testing.T, last int) {
	t.Helper()
	for n := 1; n <= last; n++ {
		if l.values[fmt.Sprint(n)] == 0 {
			t.Errorf("record %d was acknowledged and is lost", n)
		}
	}
	for place, times := range l.places {
		if times > 1 {
			t.Errorf("the record at %s was landed %d times", place, times)
		}
	}
	t.Logf("%d acknowledged, %d records on the log", last, len(l.places))
}
