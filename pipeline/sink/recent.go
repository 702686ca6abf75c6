package sink

import (
	"context"
	"encoding/binary"
	"hash/maphash"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// recent are the visits that a partition told last, so that most of those told
// twice are known without a question. It answers for the rows below one offset:
// a visit that is not among them, and whose id is later than unknown, has not
// landed there.
type recent struct {
	next    int64 // the offset that it answers for
	unknown int64 // milliseconds of the latest id that may have landed unremembered, -1 none
	most    int   // what young and old have together, but for the batches that they end with
	young   generation
	old     generation
}

// A generation of visits is forgotten as a whole.
type generation struct {
	ids    map[visitID]struct{}
	newest int64 // milliseconds of the latest id, -1 none
}

func newGeneration(size int) generation {
	return generation{make(map[visitID]struct{}, size), -1}
}

// A visitID is the id of a visit with a hash of whose it is mixed into its random
// half: a third of the size of all three ids.
type visitID clickhouse.UUID

var whose = maphash.MakeSeed()

func visitIDOf(key clickhouse.VisitKey) visitID {
	id, random := visitID(key.ID), binary.LittleEndian.Uint64(key.ID[8:])
	binary.LittleEndian.PutUint64(id[8:], random^maphash.Comparable(whose, [2]clickhouse.UUID{key.OrganizationID, key.BrandID}))
	return id
}

// remember reads the last visits of a partition below an offset. What the
// reading leaves out, of this partition and of others, is no later than the
// newest visit of all.
func remember(ctx context.Context, conn *clickhouse.Conn, most int, below clickhouse.Below) (*recent, error) {
	last, err := clickhouse.LastVisits(ctx, conn, int64(most), below)
	if err != nil {
		return nil, err
	}
	r := &recent{next: below.Offset, unknown: -1, most: most, young: newGeneration(len(last)), old: newGeneration(0)}
	for _, key := range last {
		r.tell(visitIDOf(key))
	}
	r.settle(below.Offset)
	newest, ok, err := clickhouse.NewestVisit(ctx, conn)
	if ok {
		r.unknown = max(r.unknown, newest.UnixMilli())
	}
	return r, err
}

// tell adds a visit; known says that it was there. Until settle nothing is
// forgotten: what a batch has told is in no table yet.
func (r *recent) tell(id visitID) (known bool) {
	made := madeAtMilli(clickhouse.UUID(id))
	if made <= r.old.newest { // mostly they come later
		if _, known = r.old.ids[id]; known {
			return true
		}
	}
	before := len(r.young.ids)
	r.young.ids[id] = struct{}{}
	r.young.newest = max(r.young.newest, made)
	return len(r.young.ids) == before
}

// forget takes back a visit that the batch under way has told: it does not land.
func (r *recent) forget(id visitID) { delete(r.young.ids, id) }

// mayHaveLanded says of a visit that was not known whether a question is needed.
func (r *recent) mayHaveLanded(id clickhouse.UUID) bool { return madeAtMilli(id) <= r.unknown }

// settle ends a batch that has landed: the older half of the visits makes room, and
// next is the offset after it.
func (r *recent) settle(next int64) {
	if len(r.young.ids) > r.most/2 {
		r.unknown = max(r.unknown, r.old.newest)
		r.young, r.old = r.old, r.young
		clear(r.young.ids)
		r.young.newest = -1
	}
	r.next = next
}

func madeAt(id clickhouse.UUID) time.Time { return event.IDTime(uuid.UUID(id)) }

func madeAtMilli(id clickhouse.UUID) int64 { return madeAt(id).UnixMilli() }
