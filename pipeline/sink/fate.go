package sink

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// A fate is what is decided of a record before it is asked whether it is new.
type fate byte

const (
	lives  fate = iota
	unread      // a dead letter since it was read
	gone        // of a brand or an organization that was deleted
	frozen      // of a month whose facts expire: a dead letter
)

// about is whose a record is, and of which day.
type about struct {
	organization, brand clickhouse.UUID
	day                 time.Time
}

// fates decides about the records of a batch. Of each read gives what it is about,
// and false when it could not be read.
//
// A month is frozen only while no plan is open, so that a replay finds the months as
// they were. A brand may have been deleted since the first try: then some tables
// have its rows and some do not, which all go when it is purged, and every other
// row is where it was.
func fates(ctx context.Context, hold *postgres.SharedSinkLock, topic string, records int, read func(i int) (about, bool)) ([]fate, error) {
	all := make([]fate, records)
	brands, organizations := owners{}, owners{}
	for i := range all {
		a, ok := read(i)
		if !ok {
			all[i] = unread
			continue
		}
		brands.add(a.brand)
		organizations.add(a.organization)
	}
	buried, err := hold.Tombstones(ctx, topic, brands.ids, organizations.ids)
	if err != nil {
		return nil, err
	}
	if len(buried.Brands)+len(buried.Organizations)+len(buried.Months) == 0 {
		return all, nil
	}
	var months []int
	for _, m := range buried.Months {
		months = append(months, monthOf(m))
	}
	for i := range all {
		a, ok := read(i)
		switch {
		case !ok:
		case buried.Brands[uuid.UUID(a.brand)], buried.Organizations[uuid.UUID(a.organization)]:
			all[i] = gone
		case len(months) > 0 && slices.Contains(months, monthOf(a.day)):
			all[i] = frozen
		}
	}
	return all, nil
}

// owners are different ids. Those of a batch come mostly one after the other.
type owners struct {
	ids  []uuid.UUID
	last clickhouse.UUID
	seen map[clickhouse.UUID]bool
}

func (o *owners) add(id clickhouse.UUID) {
	if id == o.last || o.seen[id] {
		return
	}
	if o.seen == nil {
		o.seen = map[clickhouse.UUID]bool{}
	}
	o.seen[id], o.last = true, id
	o.ids = append(o.ids, uuid.UUID(id))
}

// frozenLetters are the dead letters of the records whose month is frozen, in their
// order. Their bytes are read from the log once more, since rows do not keep them.
func frozenLetters[T any](ctx context.Context, b *consume.Batch[T], topic string, fates []fate, day func(i int) time.Time) ([]clickhouse.DeadLetter, error) {
	var offsets []int64
	for i, f := range fates {
		if f == frozen {
			offsets = append(offsets, b.First+int64(i))
		}
	}
	if len(offsets) == 0 {
		return nil, nil
	}
	records, err := b.FetchAll(ctx, offsets)
	if err != nil {
		return nil, err
	}
	letters := make([]clickhouse.DeadLetter, len(records))
	for n, r := range records {
		month := day(int(r.Offset - b.First)).Format("2006-01")
		letter, _ := deadLetter(r, "month frozen", fmt.Sprintf("the facts of %s in topic %s have expired: what they sum up to does not change any more", month, topic))
		letters[n] = *letter
	}
	return letters, nil
}
