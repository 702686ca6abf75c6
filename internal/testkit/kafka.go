package testkit

import (
	"context"
	"testing"

	"github.com/answerscope/answerscope/deploy/engine"
)

// Kafka returns the address of the embedded broker. It is shared by the tests of
// a binary: name topics and groups with Prefix.
func Kafka(t testing.TB) []string {
	t.Helper()
	brokers, err := once(&own, "kafka", func(ctx context.Context, at place) ([]string, func(context.Context) error, error) {
		k, err := engine.StartKafka(ctx, engine.KafkaConfig{Dir: at.dir, NoSync: true, Log: at.log})
		if err != nil {
			return nil, nil, err
		}
		return k.Brokers(), k.Stop, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return brokers
}

// Prefix returns a prefix for the topics and groups of one test.
func Prefix(t testing.TB) string {
	t.Helper()
	return freshName(t) + "."
}
