package producer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/segmentio/kafka-go/protocol/produce"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/wait"
)

// What is appended together is one batch's: side by side in one partition, whatever requests are lost.
func TestRecordsThatAreAppendedTogetherStayTogether(t *testing.T) {
	brokers := testkit.Kafka(t)
	prefix := freshTopics(t, brokers, 3)
	var requests atomic.Int64
	every := func(*produce.Request) outcome {
		if requests.Add(1)%4 == 0 {
			return lost
		}
		return fine
	}
	p := running(t, brokers, prefix, spooling(t.TempDir()), every)
	const writers, groups, each = 8, 20, 7
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for g := range groups {
				var together [][]byte
				for i := range each {
					together = append(together, fmt.Appendf(nil, "group %d record %d", w*groups+g, i))
				}
				if err := p.Append(t.Context(), event.TopicVisits, together...); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	wait.For(t, "an empty spool", func() bool { return p.spill.disk.Load().Records() == 0 })
	groupNames := map[string]bool{}
	lines := all(t, brokers, prefix+event.TopicVisits)
	for start := range lines {
		name, first := strings.CutSuffix(lines[start].value, " record 0")
		if !first {
			continue
		}
		groupNames[name] = true
		for i := range each {
			if start+i >= len(lines) || lines[start+i].partition != lines[start].partition ||
				lines[start+i].value != fmt.Sprintf("%s record %d", name, i) {
				t.Fatalf("record %d of %s is not beside the others", i, name)
			}
		}
	}
	if len(groupNames) != writers*groups {
		t.Errorf("%d groups are on the log, want %d", len(groupNames), writers*groups)
	}
}

func TestRecordsThatDoNotAllFindRoomAreNotSent(t *testing.T) {
	p := running(t, testkit.Kafka(t), freshTopics(t, testkit.Kafka(t), 1), nil)
	others := int64(maxBufferedBytes)/2 - 3000
	p.appendBytes.Add(others)
	record := make([]byte, 1000)
	err := p.Append(t.Context(), event.TopicVisits, slices.Repeat([][]byte{record}, 3)...)
	if !errors.Is(err, ErrOverloaded) {
		t.Errorf("Append() = %v, want ErrOverloaded", err)
	}
	if err := p.Append(t.Context(), event.TopicVisits, record, record); err != nil {
		t.Errorf("two that find room: %v", err)
	}
	if err := p.Append(t.Context(), event.TopicVisits); err != nil {
		t.Errorf("none: %v", err)
	}
	wait.For(t, "their room again", func() bool { return p.appendBytes.Load() == others })
	p.appendBytes.Add(-others)
}
