package sink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// Visits lands topic visits. It is safe for concurrent use.
//
// A visit is told twice by a producer that heard no answer, which sends it to
// the same partition again, mostly soon. So the last visits of a partition are
// kept in memory, and only one that could have landed before those is looked up:
// a lookup for each would cost more than the insert.
type Visits struct {
	landing[clickhouse.PackedVisit]
	memory *Memory
}

// LimitsOfVisits are those of batches of visits within the limits of others: they
// are small, and an insert costs the server some 50 ms beside its rows. 40,000 were
// hardly faster, and 60 MB more of six partitions with a backlog.
func LimitsOfVisits(l consume.Limits) consume.Limits {
	l.Records, l.Bytes = 25_000, 12<<20
	return l
}

// NewVisits does nothing yet. The targets of all shards are given the same memory.
func NewVisits(conn *clickhouse.Conn, memory *Memory, registerer prometheus.Registerer, log *slog.Logger) *Visits {
	return &Visits{newLanding(clickhouse.Visits, conn, registerer, log), memory}
}

// Visit is a record as a row of the landing table, or of the dead letters.
type Visit struct {
	row  clickhouse.PackedVisit
	dead *clickhouse.DeadLetter
}

// visitsVersion is what plans name: a visit is read by no extractor.
const visitsVersion = 1

// Version is always the same.
func (s *Visits) Version() int { return visitsVersion }

// Supports says whether version is that one.
func (s *Visits) Supports(version int) bool { return version == visitsVersion }

// Read makes the row of a record. What cannot be understood becomes a dead
// letter, byte for byte; a record of a newer version is not touched.
func (s *Visits) Read(_ int, r consume.Record) (item Visit, month int, err error) {
	with := visitReaders.Get().(*visitReader)
	defer visitReaders.Put(with)
	err = event.DecodeVisitInPlace(r.Value, &with.visit)
	if errors.Is(err, event.ErrNewer) {
		return Visit{}, 0, fmt.Errorf("%w: %w", consume.ErrNewer, err)
	}
	var row clickhouse.VisitRow
	if err == nil {
		row, err = VisitRow(&r, &with.visit)
	}
	if err != nil {
		item.dead, month = deadLetter(&r, "malformed", err.Error())
		return item, month, nil
	}
	item.row = with.packer.Pack(&row)
	return item, monthOf(row.At), nil
}

// A visitReader is what one record after the other is read into.
type visitReader struct {
	visit  event.Visit
	packer clickhouse.VisitPacker
}

var visitReaders = sync.Pool{New: func() any { return new(visitReader) }}

// Land inserts what the batch tells first. Its memory is that of the rows below
// the batch, and is lost with a batch that does not land: whoever lands it then
// reads it anew, and so finds what was found first.
func (s *Visits) Land(ctx context.Context, b *consume.Batch[Visit], ours func() error) error {
	at := partition{b.Topic, b.Partition}
	recent, err := s.below(ctx, at, b.First)
	if err != nil {
		return err
	}
	fates, err := fates(ctx, b.Hold, event.TopicVisits, len(b.Items), func(i int) (about, bool) {
		row := b.Items[i].row
		if row == "" {
			return about{}, false
		}
		key := row.Key()
		return about{key.OrganizationID, key.BrandID, row.At()}, true
	})
	if err != nil {
		return err
	}
	late, err := frozenLetters(ctx, b, event.TopicVisits, fates, func(i int) time.Time { return b.Items[i].row.At() })
	if err != nil {
		return err
	}
	known, err := s.known(ctx, b, fates, recent)
	if err != nil {
		return err
	}
	rows := make([]clickhouse.PackedVisit, 0, len(b.Items))
	var letters []clickhouse.DeadLetter
	var of outcomes
	for i := range b.Items {
		switch item := &b.Items[i]; {
		case fates[i] == unread:
			letters = append(letters, *item.dead)
		case fates[i] == gone:
			of.add(deleted)
		case fates[i] == frozen:
			letters, late = append(letters, late[0]), late[1:]
		case known[i]:
			of.add(repeated)
		default:
			rows = append(rows, item.row)
			of.add(told)
		}
	}
	refused, err := s.take(ctx, sendingOf(b), rows, letters, of, ours)
	if err != nil {
		return err
	}
	for _, row := range refused {
		recent.forget(visitIDOf(row.Key()))
	}
	recent.settle(b.Last + 1)
	s.memory.keep(at, recent)
	return nil
}

// known says of each item whether its visit has landed below the batch or stands
// earlier in it.
func (s *Visits) known(ctx context.Context, b *consume.Batch[Visit], fates []fate, recent *recent) ([]bool, error) {
	known := make([]bool, len(b.Items))
	var old []clickhouse.VisitKey
	var places []int
	for i := range b.Items {
		item := &b.Items[i]
		if fates[i] != lives {
			continue
		}
		key := item.row.Key()
		if known[i] = recent.tell(visitIDOf(key)); !known[i] && recent.mayHaveLanded(key.ID) {
			old, places = append(old, key), append(places, i)
		}
	}
	landed, err := clickhouse.LandedVisits(ctx, s.conn, old, madeAt, clickhouse.Below{Topic: b.Topic, Partition: b.Partition, Offset: b.First})
	for n, key := range old {
		known[places[n]] = landed[key]
	}
	return known, err
}

// Position is the largest offset of a partition that has landed. What landed last is
// remembered from here on, mostly before the consumer's other partitions land anything:
// of a backlog, whoever begins later would else ask about each visit that is no later
// than theirs.
func (s *Visits) Position(ctx context.Context, topic string, id int32) (last int64, ok bool, err error) {
	if last, ok, err = s.landing.Position(ctx, topic, id); err != nil {
		return 0, false, err
	}
	next := int64(0)
	if ok {
		next = last + 1
	}
	at := partition{topic, id}
	recent, err := s.below(ctx, at, next)
	if err != nil {
		return 0, false, err
	}
	s.memory.keep(at, recent)
	return last, ok, nil
}

// below takes what is kept of the rows below an offset, or reads it.
func (s *Visits) below(ctx context.Context, at partition, first int64) (*recent, error) {
	if kept := s.memory.take(at); kept != nil && kept.next == first {
		return kept, nil
	}
	return remember(ctx, s.conn, s.memory.most, clickhouse.Below{Topic: at.topic, Partition: at.id, Offset: first})
}
