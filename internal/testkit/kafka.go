package testkit

import (
	"context"
	"testing"

	"github.com/answerscope/answerscope/deploy/engine"
)

func startKafka(ctx context.Context, dir string) (addresses, func(context.Context) error, error) {
	k, err := engine.StartKafka(ctx, engine.KafkaConfig{Dir: dir, NoSync: true, Log: quiet})
	if err != nil {
		return addresses{}, nil, err
	}
	return addresses{Kafka: k.Brokers()}, k.Stop, nil
}

func startApacheKafka(ctx context.Context, dir string) (addresses, func(context.Context) error, error) {
	k, err := engine.StartApacheKafka(ctx, engine.ApacheKafkaConfig{Dir: dir, Log: quiet})
	if err != nil {
		return addresses{}, nil, err
	}
	return addresses{Apache: k.Brokers()}, k.Stop, nil
}

// Kafka returns the address of the embedded broker. Tests share it: name topics
// and groups with Prefix.
func Kafka(t testing.TB) []string {
	t.Helper()
	return server(t, "kafka").Kafka
}

// ApacheKafka returns the address of an Apache Kafka. Tests share it: name topics
// and groups with Prefix.
func ApacheKafka(t testing.TB) []string {
	t.Helper()
	return server(t, "apache").Apache
}

// Brokers runs test once on the embedded broker and once on Apache Kafka, as
// subtests kafka and apache: where the protocol of groups, offsets or appends matters.
func Brokers(t *testing.T, test func(t *testing.T, brokers []string, kind string)) {
	t.Helper()
	t.Run("kafka", func(t *testing.T) { test(t, Kafka(t), "kafka") })
	t.Run("apache", func(t *testing.T) { test(t, ApacheKafka(t), "apache") })
}

// Prefix returns a prefix for the topics and groups of one test.
func Prefix(t testing.TB) string {
	t.Helper()
	return freshName(t) + "."
}
