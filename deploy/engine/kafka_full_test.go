package engine

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/answerscope/answerscope/internal/testkit/fulldisk"
	"github.com/answerscope/answerscope/internal/testkit/tempdir"
)

// The broker appends commits to a file. A commit that a full disk cuts off in it does not hide those that come after it
// from the broker that reads the file after a crash.
func TestCommitsAfterAFullDiskSurviveACrash(t *testing.T) {
	t.Parallel()
	dir := smallDisk(t, "2m")
	k, err := StartKafka(t.Context(), KafkaConfig{Dir: dir, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	mustStop(t, k)
	us := kafkaStore{k, []kgo.Opt{knownTo(k)}}
	if err := us.write(t.Context(), "line"); err != nil {
		t.Fatal(err)
	}
	client, err := us.client(kgo.MaxVersions(kversion.V3_0_0())) // topics have names there
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	commit(t, client, 0)
	filler, at := fulldisk.Fill(t, dir), int64(0)
	for before := int64(0); before < sizeOf(t, dir); { // the broker acknowledges also what it cannot write
		before = sizeOf(t, dir)
		at++
		commit(t, client, at)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	at++
	commit(t, client, at)

	crashed := tempdir.Passable(t)
	if out, err := exec.CommandContext(t.Context(), "cp", "-a", dir+"/.", crashed).CombinedOutput(); err != nil {
		t.Fatalf("copy %s: %v: %s", dir, err, out)
	}
	after, err := StartKafka(t.Context(), KafkaConfig{Dir: crashed, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	mustStop(t, after)
	if got := committed(t, kafkaStore{after, []kgo.Opt{knownTo(after)}}); got != at {
		t.Errorf("after the crash offset %d is committed, want %d", got, at)
	}
}

// sizeOf is that of the file of commits.
func sizeOf(t *testing.T, dir string) int64 {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, "data", "groups.log"))
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// commit commits an offset for group readers.
func commit(t *testing.T, client *kgo.Client, at int64) {
	t.Helper()
	partition := kmsg.NewOffsetCommitRequestTopicPartition()
	partition.Offset, partition.Metadata = at, new("metadata of "+strconv.FormatInt(at, 10))
	topic := kmsg.NewOffsetCommitRequestTopic()
	topic.Topic, topic.Partitions = "lines", append(topic.Partitions, partition)
	request := kmsg.NewPtrOffsetCommitRequest()
	request.Group, request.Topics = "readers", append(request.Topics, topic)
	answer, err := request.RequestWith(t.Context(), client)
	if err != nil {
		t.Fatal(err)
	}
	if code := answer.Topics[0].Partitions[0].ErrorCode; code != 0 {
		t.Fatalf("commit %d: error %d", at, code)
	}
}

func committed(t *testing.T, of kafkaStore) int64 {
	t.Helper()
	client, err := of.client(kgo.MaxVersions(kversion.V3_0_0()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	topic := kmsg.NewOffsetFetchRequestTopic()
	topic.Topic, topic.Partitions = "lines", []int32{0}
	request := kmsg.NewPtrOffsetFetchRequest()
	request.Group, request.Topics = "readers", append(request.Topics, topic)
	group := kmsg.NewOffsetFetchRequestGroup()
	groupTopic := kmsg.NewOffsetFetchRequestGroupTopic()
	groupTopic.Topic, groupTopic.Partitions = "lines", []int32{0}
	group.Group, group.Topics = "readers", append(group.Topics, groupTopic)
	request.Groups = append(request.Groups, group)
	answer, err := request.RequestWith(t.Context(), client)
	if err != nil {
		t.Fatal(err)
	}
	if len(answer.Groups) > 0 {
		return answer.Groups[0].Topics[0].Partitions[0].Offset
	}
	return answer.Topics[0].Partitions[0].Offset
}

// smallDisk is a directory on a file system of its own.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := tempdir.Passable(t)
	if out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size="+size, "tmpfs", dir).
		CombinedOutput(); err != nil {
		t.Fatalf("mount: %v: %s\nthis test fills a file system of its own: run it as root, or below `unshare "+
			"--map-root-user --mount`", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "--lazy", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	return dir
}
