package producer

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/segmentio/kafka-go/protocol/produce"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/testkit"
)

// spooling gives a producer a spool in dir.
func spooling(dir string) func(*Config) {
	return func(c *Config) { c.Spool.Dir = dir }
}

func appendSome(t *testing.T, p *Producer, from, to int, key func(int) []byte) {
	t.Helper()
	var group sync.WaitGroup
	for w := range 16 {
		group.Go(func() {
			for i := from + w; i < to; i += 16 {
				if err := p.Append(t.Context(), event.TopicVisits, key(i), value(i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
}

func noKey(int) []byte { return nil }

// While requests are lost, on the way or on the way back, every append is answered
// well and soon; when they arrive again everything is on the log, and what is there
// twice did not move.
func TestRequestsAreLostAndRecordsAreNot(t *testing.T) {
	testkit.Brokers(t, func(t *testing.T, brokers []string, _ string) {
		prefix := freshTopics(t, brokers, 3)
		var away atomic.Int64
		p := running(t, brokers, prefix, spooling(t.TempDir()), func(*produce.Request) mishap { return mishap(away.Load()) })
		appendSome(t, p, 0, 200, noKey)
		away.Store(int64(unsent))
		begin := time.Now()
		appendSome(t, p, 200, 600, noKey)
		away.Store(int64(lost))
		appendSome(t, p, 600, 1000, noKey)
		t.Logf("800 records in %s, %d in the spool", time.Since(begin), p.shelf.disk.Records())
		if p.shelf.disk.Records() == 0 {
			t.Error("nothing is in the spool")
		}
		away.Store(int64(fine))
		until(t, "an empty spool", func() bool { return p.shelf.disk.Records() == 0 })
		appendSome(t, p, 1000, 1200, noKey)
		keptTheirPlace(t, all(t, brokers, prefix+event.TopicVisits), 1200)
	})
}

// keptTheirPlace checks that records 0 to n are there, each on one partition.
func keptTheirPlace(t *testing.T, lines []line, n int) {
	t.Helper()
	place := map[string]int{}
	for _, l := range lines {
		if at, ok := place[l.value]; ok && at != l.partition {
			t.Errorf("%s is on partitions %d and %d", l.value, at, l.partition)
		}
		place[l.value] = l.partition
	}
	for i := range n {
		if _, ok := place[string(value(i))]; !ok {
			t.Fatalf("record %d was acknowledged and is not on the log", i)
		}
	}
	if len(place) != n {
		t.Errorf("%d records are there, want %d", len(place), n)
	}
}
