package producer

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/testkit"
)

func TestTopicsAreMadeOnceAndLookedAt(t *testing.T) {
	testkit.Brokers(t, func(t *testing.T, brokers []string, _ string) {
		ctx, cancel := context.WithTimeout(t.Context(), bound)
		defer cancel()
		cfg := DefaultTopicsConfig()
		cfg.Brokers, cfg.Prefix, cfg.Partitions = brokers, testkit.Prefix(t), 2

		states, err := CheckTopics(ctx, cfg)
		if err != nil || len(states) != len(event.Topics) || !allMissing(states) {
			t.Fatalf("CheckTopics() before = %+v, %v, want all missing", states, err)
		}
		var made sync.WaitGroup
		for range 3 { // several processes may migrate at once
			made.Go(func() {
				if _, err := CreateTopics(ctx, cfg); err != nil {
					t.Error(err)
				}
			})
		}
		made.Wait()
		again := cfg
		again.Partitions, again.Retention = 4, 24*time.Hour
		states, err = CreateTopics(ctx, again)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range states {
			want := []string{"partitions 2, configured 4", "retention.ms 604800000, configured 86400000"}
			if s.Name != cfg.Prefix+event.Topics[i].Name || s.Missing || s.Partitions != 2 ||
				!slices.Equal(s.Differs, want) {
				t.Errorf("topic %+v, want 2 partitions and to differ in %q", s, want)
			}
		}
		for _, s := range check(t, cfg) {
			if s.Missing || s.Differs != nil {
				t.Errorf("topic %+v, want it as configured", s)
			}
		}
	})
}

// A topic that others made may refuse or drop records.
func TestTopicsThatWouldLoseRecordsAreNamed(t *testing.T) {
	testkit.Brokers(t, func(t *testing.T, brokers []string, _ string) {
		cfg := DefaultTopicsConfig()
		cfg.Brokers, cfg.Prefix = brokers, testkit.Prefix(t)
		client := &kafka.Client{Addr: cfg.Address(), Transport: &kafka.Transport{}}
		defer client.Transport.(*kafka.Transport).CloseIdleConnections()
		res, err := client.CreateTopics(t.Context(), &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{
			{Topic: cfg.Prefix + event.TopicAnswers, NumPartitions: 1, ReplicationFactor: 1,
				ConfigEntries: []kafka.ConfigEntry{{ConfigName: "cleanup.policy", ConfigValue: "compact"}}},
			{Topic: cfg.Prefix + event.TopicVisits, NumPartitions: 1, ReplicationFactor: 1,
				ConfigEntries: []kafka.ConfigEntry{{ConfigName: "max.message.bytes", ConfigValue: "1000000"}}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		for name, err := range res.Errors {
			if err != nil {
				t.Fatal(name, err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), bound)
		defer cancel()
		_, err = CreateTopics(ctx, cfg)
		for _, want := range []string{
			cfg.Prefix + "answers: cleanup.policy is compact and would drop facts: want delete",
			cfg.Prefix + "visits: max.message.bytes is 1000000 and would refuse records: want 8388608 or more",
		} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("CreateTopics() = %v, want %s", err, want)
			}
		}
	})
}

func TestTopicsOfABrokerThatIsAway(t *testing.T) {
	cfg := DefaultTopicsConfig()
	cfg.Brokers = nowhere(t)
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	defer cancel()
	if _, err := CreateTopics(ctx, cfg); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("CreateTopics() = %v, want connection refused", err)
	}
}

func check(t *testing.T, cfg TopicsConfig) []TopicState {
	t.Helper()
	states, err := CheckTopics(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return states
}

func allMissing(states []TopicState) bool {
	return !slices.ContainsFunc(states, func(s TopicState) bool { return !s.Missing })
}
