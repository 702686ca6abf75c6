package producer

import (
	"context"
	"testing"

	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/testkit"
)

// As after a crash, one topic has its partitions already, and the others get theirs.
func TestPartitionsAreAddedWhereTheyLack(t *testing.T) {
	testkit.Brokers(t, func(t *testing.T, brokers []string, _ string) {
		ctx, cancel := context.WithTimeout(t.Context(), bound)
		defer cancel()
		cfg := DefaultTopicsConfig()
		cfg.Brokers, cfg.Prefix, cfg.Partitions = brokers, testkit.Prefix(t), 2
		if _, err := CreateTopics(ctx, cfg); err != nil {
			t.Fatal(err)
		}
		client := &kafka.Client{Addr: cfg.Address(), Transport: &kafka.Transport{}}
		defer client.Transport.(*kafka.Transport).CloseIdleConnections()
		answer, err := client.CreatePartitions(ctx, &kafka.CreatePartitionsRequest{
			Topics: []kafka.TopicPartitionsConfig{{Name: cfg.Prefix + event.TopicAnswers, Count: 5}},
		})
		if err != nil || answer.Errors[cfg.Prefix+event.TopicAnswers] != nil {
			t.Fatal(err, answer)
		}
		cfg.Partitions = 5
		for range 2 {
			if err := AddPartitions(ctx, cfg); err != nil {
				t.Fatal(err)
			}
			for _, s := range check(t, cfg) {
				if s.Partitions != 5 || s.Differs != nil {
					t.Errorf("topic %+v, want 5 partitions", s)
				}
			}
		}
	})
}
