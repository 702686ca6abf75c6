package postgres

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gofrs/uuid/v5"
)

// FirstMonth is the first month that a record may have; none before it is ever frozen.
var FirstMonth = time.Date(2020, time.January, 1, 0, 0, 0, 0, time.UTC)

// MonthOf is the first day of t's month, in UTC: how months are named here.
func MonthOf(t time.Time) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
}

// Now is the time of the server, to compare a clock with.
func (db *DB) Now(ctx context.Context) (time.Time, error) {
	now, err := queryOne[time.Time](ctx, db, "clock")
	return now, wrap(err, "read the clock of postgres")
}

// FrozenMonths are those of the given months of a topic (without its prefix) that are frozen: their raw facts expire,
// and no record of them is inserted.
func (db *DB) FrozenMonths(ctx context.Context, topic string, months []time.Time) (map[time.Time]bool, error) {
	found, err := queryAll[time.Time](ctx, db, "frozen_months", topic, months)
	if err != nil {
		return nil, fmt.Errorf("read frozen months of %s: %w", topic, err)
	}
	frozen := make(map[time.Time]bool, len(found))
	for _, month := range found {
		frozen[month] = true
	}
	return frozen, nil
}

// SplitFrozen parts facts of a topic from those of frozen months, of which it is no longer known which have landed.
func SplitFrozen[T any](ctx context.Context, db *DB, topic string, facts []T, at func(T) time.Time) (open, frozen []T, err error) {
	var months []time.Time
	for _, fact := range facts {
		if month := MonthOf(at(fact)); !slices.Contains(months, month) {
			months = append(months, month)
		}
	}
	if len(months) == 0 {
		return facts, nil, nil
	}
	isFrozen, err := db.FrozenMonths(ctx, topic, months)
	for _, fact := range facts {
		if isFrozen[MonthOf(at(fact))] {
			frozen = append(frozen, fact)
		} else {
			open = append(open, fact)
		}
	}
	return open, frozen, err
}

// FrozenBefore is the first day of a topic's first month that is not frozen; the zero time if no month is frozen.
func (db *DB) FrozenBefore(ctx context.Context, topic string) (time.Time, error) {
	before, err := queryOne[*time.Time](ctx, db, "frozen_before", topic)
	if err != nil || before == nil {
		return time.Time{}, wrap(err, "read frozen months of %s", topic)
	}
	return *before, nil
}

// Freeze freezes every month of a topic before the one of before, for ever, and returns how many were not frozen yet.
// It runs on the connection of the lock: if that was lost, nothing is frozen.
func (l *ExclusiveSinkLock) Freeze(ctx context.Context, topic string, before time.Time) (months int, err error) {
	n, err := execRows(ctx, l.conn, "freeze_months", topic, MonthOf(before))
	return int(n), wrap(err, "freeze months of %s before %s", topic, before.Format(time.DateOnly))
}

// Tombstone is the mark of a deleted brand or organization.
type Tombstone struct {
	Kind           string     `db:"kind"` // brand or organization
	ID             uuid.UUID  `db:"id"`
	OrganizationID uuid.UUID  `db:"organization_id"`
	At             time.Time  `db:"at"`
	PurgedAt       *time.Time `db:"purged_at"` // when the last purge of it that ended had begun; nil: none
	ReadAt         time.Time  `db:"read_at"`   // by the clock of the server, as At
}

type unpurgedRow struct {
	Waiting int     `db:"waiting"`
	Oldest  float64 `db:"oldest"` // seconds
}

// DueTombstones are the next to be purged, oldest first, 500 at most: those never purged, those not purged since again
// after their deletion, and those not purged for every. MarkPurged makes room for the next.
func (db *DB) DueTombstones(ctx context.Context, again, every time.Duration) ([]Tombstone, error) {
	return queryAll[Tombstone](ctx, db, "tombstones", again.Seconds(), every.Seconds(), tombstonesAtOnce)
}

// tombstonesAtOnce bounds what one purge takes.
const tombstonesAtOnce = 500

// MarkPurged records that what was read as due has been purged since.
func (db *DB) MarkPurged(ctx context.Context, due []Tombstone) error {
	if len(due) == 0 {
		return nil
	}
	var kinds []string
	var ids []uuid.UUID
	for _, t := range due {
		kinds, ids = append(kinds, t.Kind), append(ids, t.ID)
	}
	return wrap(exec(ctx, db, "purged", kinds, ids, due[0].ReadAt), "record %d purges", len(due))
}

// PurgeBacklog is how many deletions were never purged, and how long the oldest of them has waited.
func (db *DB) PurgeBacklog(ctx context.Context) (waiting int, oldest time.Duration, err error) {
	row, err := queryOne[unpurgedRow](ctx, db, "unpurged")
	return row.Waiting, time.Duration(row.Oldest * float64(time.Second)), err
}

// Salt is the random key of a day's visitor hashes.
type Salt struct {
	Day time.Time `db:"day"`  // its midnight, UTC
	Key []byte    `db:"salt"` // 16 bytes
}

// Salts are those of the given days, midnights in UTC, the same for every process; a day without one gets one.
func (db *DB) Salts(ctx context.Context, of ...time.Time) ([]Salt, error) {
	if err := exec(ctx, db, "make_salts", of); err != nil {
		return nil, fmt.Errorf("make visitor salts: %w", err)
	}
	found, err := queryAll[Salt](ctx, db, "salts", of)
	return found, wrap(err, "read visitor salts")
}

// DropSalts forgets the salts whose day ended an hour ago, before any is 48 hours old. No file of the server has them
// then.
func (db *DB) DropSalts(ctx context.Context) error {
	return wrap(exec(ctx, db, "drop_salts"), "drop visitor salts")
}
