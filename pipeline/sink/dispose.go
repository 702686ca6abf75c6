package sink

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// A disposition is what the sink does with a record.
type disposition byte

const (
	accept      disposition = iota
	undecodable             // a dead letter since it was decoded
	deleted                 // of a brand or an organization that was deleted: dropped
	frozen                  // of a frozen month: a dead letter, or an outdated reread
)

// dispose decides what is done with each record, and collects the dead letters.
//
// A month is frozen only while no plan is open, so that a replay finds the months as the first try found them. A brand
// may have been deleted since the first try: then some tables have its rows and some do not, until it is purged, and
// every other row is where it was.
func (in *insertion[R]) dispose(ctx context.Context) error {
	brands, organizations := map[uuid.UUID]bool{}, map[uuid.UUID]bool{}
	for i := range in.Items {
		if item := &in.Items[i]; item.dead == nil {
			key := item.row.Key()
			brands[uuid.UUID(key.BrandID)], organizations[uuid.UUID(key.OrganizationID)] = true, true
		}
	}
	tombstones, err := in.tombstones(ctx, slices.Collect(maps.Keys(brands)), slices.Collect(maps.Keys(organizations)))
	if err != nil {
		return err
	}
	var frozenMonths []clickhouse.Month
	for _, month := range tombstones.FrozenMonths {
		frozenMonths = append(frozenMonths, clickhouse.MonthOf(month))
	}
	in.dispositions = make([]disposition, len(in.Items))
	var ofFrozen []int64 // offsets of the records of frozen months, but rereads
	for i := range in.Items {
		item := &in.Items[i]
		if item.dead != nil {
			in.dispositions[i] = undecodable
			continue
		}
		switch key := item.row.Key(); {
		case tombstones.Brands[uuid.UUID(key.BrandID)], tombstones.Organizations[uuid.UUID(key.OrganizationID)]:
			in.dispositions[i] = deleted
		case len(frozenMonths) > 0 && slices.Contains(frozenMonths, item.row.Month()): // the month of every row costs time
			in.dispositions[i] = frozen
			if !item.reread {
				ofFrozen = append(ofFrozen, in.First+int64(i))
			}
		}
	}
	return in.collectDeadLetters(ctx, ofFrozen)
}

// A tombstoneLock is a sink lock that reads tombstones in its own session: what is frozen once it is held waits for it.
type tombstoneLock interface {
	Tombstones(ctx context.Context, topic string, brands, organizations []uuid.UUID) (postgres.Tombstones, error)
}

// tombstones are read with the sink lock. Without a lock there are none.
func (in *insertion[R]) tombstones(ctx context.Context, brands, organizations []uuid.UUID) (postgres.Tombstones, error) {
	if in.Lock == nil {
		return postgres.Tombstones{}, nil
	}
	lock, ok := in.Lock.(tombstoneLock)
	if !ok {
		return postgres.Tombstones{}, fmt.Errorf("read tombstones: the sink lock is a %T, want one of Postgres", in.Lock)
	}
	return lock.Tombstones(ctx, in.topic.name, brands, organizations)
}

// collectDeadLetters keeps the records that could not be decoded and those of frozen months, in their order. The bytes
// of the latter are read from the log once more, since rows do not keep them.
func (in *insertion[R]) collectDeadLetters(ctx context.Context, ofFrozen []int64) error {
	for i := range in.Items {
		if in.dispositions[i] == undecodable {
			in.deadLetters = append(in.deadLetters, *in.Items[i].dead)
		}
	}
	if len(ofFrozen) == 0 {
		return nil
	}
	records, err := in.FetchAll(ctx, ofFrozen)
	if err != nil {
		return err
	}
	for _, r := range records {
		detail := fmt.Sprintf("the facts of %s in topic %s have expired: their sums do not change any more",
			in.Items[r.Offset-in.First].row.Month(), in.topic.name)
		in.deadLetters = append(in.deadLetters, deadLetter(r, "month frozen", detail))
	}
	slices.SortFunc(in.deadLetters, func(a, b clickhouse.DeadLetter) int { return int(a.LogOffset - b.LogOffset) })
	return nil
}
