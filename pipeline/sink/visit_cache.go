package sink

import (
	"context"
	"encoding/binary"
	"hash/maphash"
	"maps"
	"slices"
	"sync"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// CachedVisitIDs is how many ids of a partition are read when it begins, some 3 MB. While it goes on at least half of
// them stay.
const CachedVisitIDs = 64_000

// visitCache has the ids of the visits that landed last, by partition: a producer without a response sends a visit to
// the same partition again, mostly soon, and a lookup for each visit would cost more than the insert. A batch takes its
// partition's ids out of the cache until it has landed; if it fails, they are read again. It is safe for concurrent
// use.
type visitCache struct {
	size int // ids of a partition

	mu         sync.Mutex
	partitions map[clickhouse.TopicPartition]*visitIDs
}

func newVisitCache(size int) *visitCache {
	return &visitCache{size: size, partitions: map[clickhouse.TopicPartition]*visitIDs{}}
}

// warm reads the ids below the first batch of a partition, mostly before other partitions of the consumer land
// anything: with a backlog, a partition that begins later would look up each visit that is no later than theirs.
func (c *visitCache) warm(ctx context.Context, conn *clickhouse.Conn, below clickhouse.LogLimit) error {
	ids, err := c.take(ctx, conn, below)
	if err == nil {
		c.put(clickhouse.TopicPartition{Topic: below.Topic, Partition: below.Partition}, ids)
	}
	return err
}

// take removes the ids below an offset from the cache, or reads them.
func (c *visitCache) take(ctx context.Context, conn *clickhouse.Conn, below clickhouse.LogLimit) (*visitIDs, error) {
	partition := clickhouse.TopicPartition{Topic: below.Topic, Partition: below.Partition}
	c.mu.Lock()
	cached := c.partitions[partition]
	delete(c.partitions, partition)
	c.mu.Unlock()
	if cached != nil && cached.next == below.Offset {
		return cached, nil
	}
	return readVisitIDs(ctx, conn, c.size, below)
}

func (c *visitCache) put(partition clickhouse.TopicPartition, ids *visitIDs) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.partitions[partition] = ids
}

// Assigned drops the cached ids of the topic's other partitions, which other consumers read now. It is a
// consume.Assigned.
func (s *Sink[R]) Assigned(topic string, partitions []int32) {
	if s.cache == nil {
		return
	}
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	maps.DeleteFunc(s.cache.partitions, func(p clickhouse.TopicPartition, _ *visitIDs) bool {
		return p.Topic == topic && !slices.Contains(partitions, p.Partition)
	})
}

// visitIDs has the ids that landed last in one partition below an offset. A visit that is not in it and whose id is
// later than unknown has not landed there.
type visitIDs struct {
	next    int64 // the offset
	unknown int64 // milliseconds of the latest id that may have landed and is not in it, -1: none
	size    int   // of young and old together; a last batch may exceed it
	young   generation
	old     generation // is dropped as a whole
}

type generation struct {
	ids    map[visitID]struct{}
	newest int64 // milliseconds of the latest id, -1: none
}

func newGeneration(size int) generation {
	return generation{make(map[visitID]struct{}, size), -1}
}

// A visitID is the id of a visit with a hash of its organization and brand mixed into its random half: a third of the
// size of all three ids.
type visitID clickhouse.UUID

var ownerSeed = maphash.MakeSeed()

func visitIDOf(key clickhouse.Key) visitID {
	id, random := visitID(key.ID), binary.LittleEndian.Uint64(key.ID[8:])
	owner := maphash.Comparable(ownerSeed, [2]clickhouse.UUID{key.OrganizationID, key.BrandID})
	binary.LittleEndian.PutUint64(id[8:], random^owner)
	return id
}

// readVisitIDs reads the last visits of a partition below an offset. The ids that it leaves out, of this partition and
// of others, are no later than the newest visit of all. That bound may be in the future: a collector's clock may be
// ahead, and its visits may come again. Until the bound has passed, every visit is looked up.
func readVisitIDs(ctx context.Context, conn *clickhouse.Conn, size int, below clickhouse.LogLimit) (*visitIDs, error) {
	last, err := clickhouse.LastVisits(ctx, conn, int64(size), below)
	if err != nil {
		return nil, err
	}
	ids := &visitIDs{unknown: -1, size: size, young: newGeneration(len(last)), old: newGeneration(0)}
	for _, key := range last {
		ids.add(key)
	}
	ids.advance(below.Offset)
	newest, ok, err := clickhouse.NewestVisit(ctx, conn)
	if ok {
		ids.unknown = max(ids.unknown, newest.UnixMilli())
	}
	return ids, err
}

// add adds an id; false if it was there. No id is dropped until advance: the batch's ids are in no table yet.
func (v *visitIDs) add(key clickhouse.Key) (added bool) {
	id, milli := visitIDOf(key), milliOf(key.ID)
	if milli <= v.old.newest { // mostly ids are later
		if _, ok := v.old.ids[id]; ok {
			return false
		}
	}
	before := len(v.young.ids)
	v.young.ids[id] = struct{}{}
	v.young.newest = max(v.young.newest, milli)
	return len(v.young.ids) > before
}

func (v *visitIDs) mayHaveLanded(id clickhouse.UUID) bool { return milliOf(id) <= v.unknown }

// advance ends a batch that has landed: the old generation is dropped if the young one is full, and next is the offset
// after the batch.
func (v *visitIDs) advance(next int64) *visitIDs {
	if len(v.young.ids) > v.size/2 {
		v.unknown = max(v.unknown, v.old.newest)
		v.young, v.old = v.old, v.young
		clear(v.young.ids)
		v.young.newest = -1
	}
	v.next = next
	return v
}

func milliOf(id clickhouse.UUID) int64 { return event.IDTime(uuid.UUID(id)).UnixMilli() }
