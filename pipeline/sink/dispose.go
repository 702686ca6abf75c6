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
	undecodable             // becomes a dead letter
	deleted                 // its brand or organization is deleted: dropped
	frozen                  // its month is frozen: becomes a dead letter, or is an outdated reread
)

// dispose chooses the disposition of each record, and collects the dead letters.
//
// A month is frozen only while no plan is open, so that a replay finds the months as the first attempt did. A brand may
// be deleted between two attempts: then some tables have its rows and some do not, until it is purged; the other rows
// are the same.
func (in *insertion[R]) dispose(ctx context.Context) error {
	brands, organizations := map[uuid.UUID]bool{}, map[uuid.UUID]bool{}
	for i := range in.batch.Items {
		if item := &in.batch.Items[i]; item.dead == nil {
			key := item.row.Key()
			brands[uuid.UUID(key.BrandID)], organizations[uuid.UUID(key.OrganizationID)] = true, true
		}
	}
	in.brands = slices.Collect(maps.Keys(brands))
	tombstones, err := in.tombstones(ctx, in.brands, slices.Collect(maps.Keys(organizations)))
	if err != nil {
		return err
	}
	var frozenMonths []clickhouse.Month
	for _, month := range tombstones.FrozenMonths {
		frozenMonths = append(frozenMonths, clickhouse.MonthOf(month))
	}
	in.dispositions = make([]disposition, len(in.batch.Items))
	var inFrozen []int64 // offsets of the records in frozen months, without rereads
	for i := range in.batch.Items {
		item := &in.batch.Items[i]
		if item.dead != nil {
			in.dispositions[i] = undecodable
			continue
		}
		switch key := item.row.Key(); {
		case tombstones.Brands[uuid.UUID(key.BrandID)], tombstones.Organizations[uuid.UUID(key.OrganizationID)]:
			in.dispositions[i] = deleted
		case len(frozenMonths) > 0 && slices.Contains(frozenMonths, item.row.Month()): // Month costs time
			in.dispositions[i] = frozen
			if !item.reread {
				inFrozen = append(inFrozen, in.batch.First+int64(i))
			}
		}
	}
	return in.collectDeadLetters(ctx, inFrozen)
}

// A tombstoneLock is a sink lock that reads tombstones in its own session: no month is frozen while it is held.
type tombstoneLock interface {
	Tombstones(ctx context.Context, topic string, brands, organizations []uuid.UUID) (postgres.Tombstones, error)
}

// tombstones reads the tombstones in the sink lock's session. Without a lock there are none.
func (in *insertion[R]) tombstones(
	ctx context.Context, brands, organizations []uuid.UUID,
) (postgres.Tombstones, error) {
	if in.batch.Lock == nil {
		return postgres.Tombstones{}, nil
	}
	lock, ok := in.batch.Lock.(tombstoneLock)
	if !ok {
		err := fmt.Errorf("read tombstones: the sink lock is a %T, want one of Postgres", in.batch.Lock)
		return postgres.Tombstones{}, err
	}
	return lock.Tombstones(ctx, in.sink.topic.name, brands, organizations)
}

// collectDeadLetters collects the records that could not be decoded and those in frozen months, in their order. The
// bytes of the latter are read from the log once more, since rows do not keep them.
func (in *insertion[R]) collectDeadLetters(ctx context.Context, inFrozen []int64) error {
	for i := range in.batch.Items {
		if in.dispositions[i] == undecodable {
			in.deadLetters = append(in.deadLetters, *in.batch.Items[i].dead)
		}
	}
	if len(inFrozen) == 0 {
		return nil
	}
	records, err := in.batch.FetchAll(ctx, inFrozen)
	if err != nil {
		return err
	}
	for _, r := range records {
		detail := fmt.Sprintf("the facts of %s in topic %s have expired: their sums do not change any more",
			in.batch.Items[r.Offset-in.batch.First].row.Month(), in.sink.topic.name)
		in.deadLetters = append(in.deadLetters, deadLetter(r, "month frozen", detail))
	}
	slices.SortFunc(in.deadLetters, func(a, b clickhouse.DeadLetter) int { return int(a.LogOffset - b.LogOffset) })
	return nil
}
