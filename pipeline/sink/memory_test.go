package sink

import "testing"

// Partitions that others read now leave nothing in memory, and other topics are none
// of that.
func TestMemoryOfPartitionsThatWentAwayIsLetGo(t *testing.T) {
	t.Parallel()
	s := NewMemory(10)
	for _, at := range []partition{{"visits", 0}, {"visits", 1}, {"visits", 2}, {"other", 1}} {
		s.recent[at] = &recent{}
	}
	s.Keep("visits", []int32{2, 3})
	if len(s.recent) != 2 || s.recent[partition{"visits", 2}] == nil || s.recent[partition{"other", 1}] == nil {
		t.Errorf("kept %v", s.recent)
	}
	s.Keep("visits", nil)
	if len(s.recent) != 1 {
		t.Errorf("kept %v of a consumer that reads nothing", s.recent)
	}
}
