package sink

import (
	"maps"
	"slices"
	"sync"
)

// Memory is what is kept of the visits that partitions told last. The targets of all
// shards share one: whichever lands a batch takes what is kept of its partition, so
// that nothing is left of it that does not know the batch. It is safe for concurrent use.
type Memory struct {
	most int

	mu     sync.Mutex
	recent map[partition]*recent // of partitions with no batch under way
}

type partition struct {
	topic string
	id    int32
}

// Remembered is how many visits of a partition are kept when it begins, and half of
// them at least for as long as it goes on: some 3 MB.
const Remembered = 64_000

// NewMemory keeps so many visits of each partition (Remembered).
func NewMemory(most int) *Memory {
	return &Memory{most: most, recent: map[partition]*recent{}}
}

// take is nil where nothing is kept.
func (m *Memory) take(at partition) *recent {
	m.mu.Lock()
	defer m.mu.Unlock()
	kept := m.recent[at]
	delete(m.recent, at)
	return kept
}

func (m *Memory) keep(at partition, recent *recent) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.recent[at] = recent
}

// Keep forgets the partitions of a topic that are not among those: others read them
// now. It is a consume.Assigned.
func (m *Memory) Keep(topic string, partitions []int32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.recent, func(at partition, _ *recent) bool {
		return at.topic == topic && !slices.Contains(partitions, at.id)
	})
}
