package testkit

import (
	"errors"
	"testing"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"

	"github.com/answerscope/answerscope/internal/testkit/wait"
)

// Kafka returns the address of the embedded broker. Tests share it: name topics and groups with Prefix.
func Kafka(t testing.TB) []string {
	t.Helper()
	return []string{address(t, "kafka", "kafka")}
}

// ApacheKafka returns the address of an Apache Kafka. Tests share it: name topics and groups with Prefix.
func ApacheKafka(t testing.TB) []string {
	t.Helper()
	return []string{address(t, "apache", "apache")}
}

// Brokers runs test where the protocol of groups, offsets or appends matters: on Apache Kafka as subtest apache, and in
// `make test-all` also on the embedded broker as subtest kafka.
func Brokers(t *testing.T, test func(t *testing.T, brokers []string, kind string)) {
	t.Helper()
	if All {
		t.Run("kafka", func(t *testing.T) { test(t, Kafka(t), "kafka") })
	}
	t.Run("apache", func(t *testing.T) { test(t, ApacheKafka(t), "apache") })
}

// Prefix returns a prefix for the topics and groups of one test.
func Prefix(t testing.TB) string {
	t.Helper()
	return freshName(t) + "."
}

// CreateTopic creates a topic of one partition.
func CreateTopic(t testing.TB, brokers []string, topic string) {
	t.Helper()
	client := &kafka.Client{Addr: kafka.TCP(brokers...)}
	created, err := client.CreateTopics(t.Context(), &kafka.CreateTopicsRequest{
		Topics: []kafka.TopicConfig{{Topic: topic, NumPartitions: 1, ReplicationFactor: 1}},
	})
	if err == nil {
		err = created.Errors[topic]
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Append appends values to partition 0 of a topic in one request, in order. A new topic may not have its leader yet, so
// Append tries again until it has.
func Append(t testing.TB, brokers []string, topic string, values ...[]byte) {
	t.Helper()
	client := &kafka.Client{Addr: kafka.TCP(brokers...)}
	wait.For(t, "the topic to have a leader", func() bool {
		var records []kafka.Record // a request reads them to their end
		for _, v := range values {
			records = append(records, kafka.Record{Value: kafka.NewBytes(v)})
		}
		response, err := client.Produce(t.Context(), &kafka.ProduceRequest{
			Topic: topic, RequiredAcks: kafka.RequireAll, Records: kafka.NewRecordReader(records...),
		})
		if err == nil {
			err = response.Error
		}
		for _, retriable := range []error{kafka.UnknownTopicOrPartition, kafka.LeaderNotAvailable,
			kafka.NotLeaderForPartition, protocol.ErrNoTopic} {
			if errors.Is(err, retriable) {
				return false
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		return true
	})
}
