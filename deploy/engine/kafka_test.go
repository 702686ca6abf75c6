package engine

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/answerscope/answerscope/internal/testkit/tempdir"
)

// knownTo logs a client in.
func knownTo(k *Kafka) kgo.Opt {
	return kgo.SASL(scram.Auth{User: KafkaUser, Pass: k.Password()}.AsSha256Mechanism())
}

// A client without the password can do nothing with the embedded broker, whatever it asks for first on a
// connection.
func TestTheBrokerAnswersOnlyWhoHasThePassword(t *testing.T) {
	dir := tempdir.Passable(t)
	k, err := StartKafka(t.Context(), KafkaConfig{Dir: dir, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	mustStop(t, k)
	client := kafkaStore{k, []kgo.Opt{knownTo(k)}}
	if err := client.write(t.Context(), "kept"); err != nil {
		t.Fatal(err)
	}

	for name, login := range map[string][]kgo.Opt{
		"without a password":            nil,
		"with another password":         {kgo.SASL(scram.Auth{User: KafkaUser, Pass: "password"}.AsSha256Mechanism())},
		"as the broker's own superuser": {kgo.SASL(scram.Auth{User: "admin", Pass: "admin"}.AsSha256Mechanism())},
	} {
		stranger, err := kafkaStore{k, login}.client(kgo.RequestRetries(0))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(stranger.Close)
		for _, request := range forbidden() {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			answer, err := stranger.SeedBrokers()[0].Request(ctx, request)
			cancel()
			if err == nil {
				t.Errorf("%s: %s was answered with %+v", name, kmsg.NameForKey(request.Key()), answer)
			}
		}
	}

	if lines, err := client.read(t.Context()); err != nil || !slices.Equal(lines, []string{"kept"}) {
		t.Errorf("afterwards the topic has %q, %v", lines, err)
	}
	info, err := os.Stat(filepath.Join(dir, "password"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the password's file: %v, %v; want one for its owner alone", info, err)
	}
}

// forbidden are requests that read, write and delete, and one that would let a stranger in for good.
func forbidden() []kmsg.Request {
	line := kmsg.NewFetchRequestTopicPartition()
	line.PartitionMaxBytes = 1 << 20
	lines := kmsg.NewFetchRequestTopic()
	lines.Topic, lines.Partitions = "lines", append(lines.Partitions, line)
	fetch := kmsg.NewPtrFetchRequest()
	fetch.Version, fetch.MaxBytes, fetch.Topics = 11, 1<<20, append(fetch.Topics, lines)

	batch := kmsg.NewProduceRequestTopicPartition()
	batches := kmsg.NewProduceRequestTopic()
	batches.Topic, batches.Partitions = "lines", append(batches.Partitions, batch)
	produce := kmsg.NewPtrProduceRequest()
	produce.Acks, produce.Topics = -1, append(produce.Topics, batches)

	remove := kmsg.NewPtrDeleteTopicsRequest()
	removed := kmsg.NewDeleteTopicsRequestTopic()
	removed.Topic = new("lines")
	remove.TopicNames, remove.Topics = []string{"lines"}, append(remove.Topics, removed)

	return []kmsg.Request{
		kmsg.NewPtrMetadataRequest(), fetch, produce, remove,
		kmsg.NewPtrCreateTopicsRequest(), kmsg.NewPtrOffsetCommitRequest(),
		kmsg.NewPtrAlterUserSCRAMCredentialsRequest(),
	}
}
