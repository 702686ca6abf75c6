package sink

import (
	"context"
	"encoding/binary"
	"hash/maphash"
	"slices"
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
	ids     map[visitID]struct{}
	ring    []visitID // of ids, the oldest at oldest once it is full
	most    int       // of ring
	oldest  int
	told    []visitID // by the batch under way, not in ring yet
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
	r := &recent{next: below.Offset, unknown: -1, ids: make(map[visitID]struct{}, len(last)), most: most}
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
	if _, known = r.ids[id]; !known {
		r.ids[id] = struct{}{}
		r.told = append(r.told, id)
	}
	return known
}

// forget takes back a visit that the batch under way has told: it does not land.
func (r *recent) forget(id visitID) {
	delete(r.ids, id)
	r.told = slices.DeleteFunc(r.told, func(told visitID) bool { return told == id })
}

// mayHaveLanded says of a visit that was not known whether a question is needed.
func (r *recent) mayHaveLanded(id clickhouse.UUID) bool { return madeAt(id).UnixMilli() <= r.unknown }

// settle ends a batch that has landed: the oldest visits make room for its own,
// and next is the offset after it.
func (r *recent) settle(next int64) {
	for _, id := range r.told {
		if len(r.ring) < r.most {
			r.ring = append(r.ring, id)
			continue
		}
		forgotten := r.ring[r.oldest]
		delete(r.ids, forgotten)
		r.unknown = max(r.unknown, madeAt(clickhouse.UUID(forgotten)).UnixMilli())
		r.ring[r.oldest] = id
		r.oldest = (r.oldest + 1) % r.most
	}
	r.told = r.told[:0]
	r.next = next
}

func madeAt(id clickhouse.UUID) time.Time { return event.IDTime(uuid.UUID(id)) }
