package sink

import (
	"testing"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// The cached ids of partitions that other consumers read now are forgotten, and those of other topics are not.
func TestIDsOfPartitionsThatWentAwayAreForgotten(t *testing.T) {
	t.Parallel()
	s := &Visits{cache: newVisitCache(10)}
	for _, at := range []clickhouse.TopicPartition{{Topic: "visits", Partition: 0}, {Topic: "visits", Partition: 1},
		{Topic: "visits", Partition: 2}, {Topic: "other", Partition: 1}} {
		s.cache.partitions[at] = &visitIDs{}
	}
	s.Assigned("visits", []int32{2, 3})
	if len(s.cache.partitions) != 2 || s.cache.partitions[clickhouse.TopicPartition{Topic: "visits",
		Partition: 2}] == nil || s.cache.partitions[clickhouse.TopicPartition{Topic: "other", Partition: 1}] == nil {
		t.Errorf("kept %v", s.cache.partitions)
	}
	s.Assigned("visits", nil)
	if len(s.cache.partitions) != 1 {
		t.Errorf("kept %v of a consumer that reads nothing", s.cache.partitions)
	}
}
