package consume_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/pipeline/consume"
)

// ownBroker is an embedded broker of the test's own, with topic things of two partitions.
func ownBroker(t *testing.T) (*kfake.Cluster, consume.Config) {
	t.Helper()
	broker, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(2, "things"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(broker.Close)
	cfg := consume.DefaultConfig()
	cfg.Brokers, cfg.Group, cfg.Topic = broker.ListenAddrs(), "group", "things"
	return broker, cfg
}

func awaitReady(t *testing.T, c *consume.Consumer[string], says string) {
	t.Helper()
	wait.Until(t, func() string {
		switch err := c.Ready(t.Context()); {
		case says == "" && err != nil:
			return "not ready: " + err.Error()
		case says != "" && (err == nil || !strings.Contains(err.Error(), says)):
			return "want what is not ready to say " + says
		}
		return ""
	})
}

// A topic that is deleted while it is read is named by Ready. The consumer stays a calm member of its group: it joins
// again to have no partition, and then sends its heartbeats, where it once joined nine hundred times a second.
func TestATopicThatIsGoneIsNamedAndWaitedFor(t *testing.T) {
	t.Parallel()
	broker, cfg := ownBroker(t)
	target := &counter{}
	c, stop := start(t, cfg, target)
	defer stop()
	appendTo(t, cfg, "a")
	wait.For(t, "the record to land", func() bool { return target.landed.Load() == 1 })
	awaitReady(t, c, "")

	joins := broker.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.JoinGroup}, Observe: true, Count: -1})
	if err := broker.DeleteTopic("things"); err != nil {
		t.Fatal(err)
	}
	awaitReady(t, c, "topic things is gone")
	await(t, joins, 1)
	await(t, broker.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Heartbeat}, Observe: true, Count: -1}), 2)
	if n := joins.Hits(); n > 2 {
		t.Errorf("it has joined the group %d times since the topic is gone", n)
	}

	if err := broker.CreateTopic("things", 2, nil); err != nil {
		t.Fatal(err)
	}
	target.landed.Store(0)
	appendTo(t, cfg, "b")
	wait.For(t, "a record of the new topic to land", func() bool { return target.landed.Load() == 1 })
	awaitReady(t, c, "")
}

// A partition without a leader is named by Ready, and read again once it has one.
func TestAPartitionWithoutALeaderIsNamed(t *testing.T) {
	t.Parallel()
	broker, cfg := ownBroker(t)
	target := &counter{}
	c, stop := start(t, cfg, target)
	defer stop()
	awaitReady(t, c, "")
	leaderless := broker.Fault(kfake.Fault{
		Topic: "things", Partitions: []int32{1}, Err: kerr.LeaderNotAvailable, Count: -1,
	})
	awaitReady(t, c, "partition things/1 has no leader")
	leaderless.Remove()
	awaitReady(t, c, "")
	appendTo(t, cfg, "a")
	wait.For(t, "the record to land", func() bool { return target.landed.Load() == 1 })
}

// await waits until the broker has had n of the requests.
func await(t *testing.T, requests *kfake.FaultHandle, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := requests.Wait(ctx, n); err != nil {
		t.Fatal(err)
	}
}
