package testkit_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/wait"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func TestFreshDatabases(t *testing.T) {
	if a, b := testkit.ClickHouse(t), testkit.ClickHouse(t); a == b {
		t.Errorf("two databases of ClickHouse have one address %s", a)
	}
	a, b := testkit.Postgres(t), testkit.Postgres(t)
	if a == b {
		t.Errorf("two databases of Postgres have one address %s", a)
	}
	conn, err := pgx.Connect(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), "create table x (a int)"); err != nil {
		t.Fatal(err)
	}
}

func TestBrokersMakeNoTopicByThemselves(t *testing.T) {
	testkit.Brokers(t, makesNoTopicByItself)
}

func makesNoTopicByItself(t *testing.T, brokers []string, _ string) {
	conn, err := kafka.DialContext(t.Context(), "tcp", brokers[0])
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	topic := testkit.Prefix(t) + "answers"
	if partitions, err := conn.ReadPartitions(topic); err == nil && len(partitions) > 0 {
		t.Fatalf("topic %s has %d partitions before it was created", topic, len(partitions))
	}
	if err := conn.CreateTopics(kafka.TopicConfig{Topic: topic, NumPartitions: 2, ReplicationFactor: 1}); err != nil {
		t.Fatal(err)
	}
	// A broker answers before its metadata has what the controller created.
	wait.For(t, "the topic to have its two partitions", func() bool {
		partitions, err := conn.ReadPartitions(topic)
		return err == nil && len(partitions) == 2
	})
}
