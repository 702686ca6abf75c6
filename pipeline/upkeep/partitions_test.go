package upkeep_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/pipeline"
	"github.com/answerscope/answerscope/pipeline/upkeep"
	"github.com/answerscope/answerscope/sql/postgres"
)

// commit stores how far a group has read partition 0 of a topic.
func commit(t *testing.T, client *kafka.Client, group, topic string, offset int64) {
	t.Helper()
	wait.For(t, "the group to store its offset", func() bool {
		answer, err := client.OffsetCommit(t.Context(), &kafka.OffsetCommitRequest{
			GroupID: group, GenerationID: -1, Topics: map[string][]kafka.OffsetCommit{topic: {{Offset: offset}}},
		})
		return err == nil && answer.Topics[topic][0].Error == nil
	})
}

// Partitions are added when nothing that knows their number appends, and everything has been read; before that each
// reason is named and nothing changes.
func TestPartitionsAreAddedAtTheRightMoment(t *testing.T) {
	t.Parallel()
	control := store.ControlPlane(t)
	control.Command = "cluster add-partitions"
	g := upkeep.PartitionGrowth{
		DB: store.OpenControlPlane(t, control), Topics: producer.DefaultTopicsConfig(), Still: time.Millisecond,
	}
	g.Topics.Brokers, g.Topics.Prefix, g.Topics.Partitions = testkit.Kafka(t), testkit.Prefix(t), 1
	g.Readers = pipeline.KeyedReaders(g.Topics.Prefix)
	refused := func(what string, do func(context.Context) error, says ...string) {
		t.Helper()
		err := do(t.Context())
		for _, want := range says {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", what, err, want)
			}
		}
	}
	pending := func(ctx context.Context) error { _, err := g.Pending(ctx); return err }
	refused("without topics", pending, "answers does not exist; run: answerscope migrate")
	if _, err := producer.CreateTopics(t.Context(), g.Topics); err != nil {
		t.Fatal(err)
	}

	g.Topics.Partitions = 3
	answers := g.Topics.Prefix + "answers"
	testkit.Append(t, g.Topics.Brokers, answers, []byte("a"), []byte("b"))
	testkit.Append(t, g.Topics.Brokers, g.Topics.Prefix+"visits", []byte("a visit has no key"))
	client := &kafka.Client{Addr: g.Topics.Address()}
	commit(t, client, g.Topics.Prefix+"answerscope-sink", answers, 2)
	commit(t, client, g.Topics.Prefix+"answerscope-results", answers, 1)
	running := map[string]*postgres.DB{}
	for _, command := range []string{"ingest", "import", "pipeline", "", "collector", "queryapi"} {
		c := control
		c.Command = command
		running[command] = store.OpenControlPlane(t, c)
	}
	refused("beside others", g.Add, "answerscope-results has not read 1 records of topic "+answers,
		"answerscope ingest is running", "answerscope import is running", "answerscope pipeline is running",
		"answerscope of an earlier release is running")
	for _, command := range []string{"ingest", "import", "pipeline", ""} {
		running[command].Close()
	}
	commit(t, client, g.Topics.Prefix+"answerscope-results", answers, 2)
	wait.For(t, "the sessions to end", func() bool {
		all, err := g.DB.RunningCommands(t.Context())
		return err == nil && len(all) == 3
	})

	g.Still = 200 * time.Millisecond
	time.AfterFunc(g.Still/4, func() { testkit.Append(t, g.Topics.Brokers, answers, []byte("c")) })
	refused("while records come", g.Add, "let a pipeline run")
	commit(t, client, g.Topics.Prefix+"answerscope-sink", answers, 3)
	commit(t, client, g.Topics.Prefix+"answerscope-results", answers, 3)
	g.Still = 0
	if steps, err := g.Pending(t.Context()); err != nil || len(steps) != 3 ||
		steps[0].Name != "topic "+answers+", 1 to 3 partitions" {
		t.Errorf("pending %v, %v", steps, err)
	}
	must(t, g.Add(t.Context()))
	if steps, err := g.Pending(t.Context()); err != nil || len(steps) > 0 {
		t.Errorf("pending after it %v, %v", steps, err)
	}
	g.Topics.Partitions = 2
	refused("fewer", pending, "has 3 partitions: want as many or more")
}
