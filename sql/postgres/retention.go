package postgres

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gofrs/uuid/v5"
)

// FirstMonth is the first month that a record may have; earlier ones are never frozen.
var FirstMonth = time.Date(2020, time.January, 1, 0, 0, 0, 0, time.UTC)

// MonthOf returns the first day of t's month in UTC, which names the month in this package.
func MonthOf(t time.Time) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
}

// Now returns the server's time, to compare a clock with.
func (db *DB) Now(ctx context.Context) (time.Time, error) {
	now, err := queryOne[time.Time](ctx, db, "clock")
	return now, wrap(err, "read the clock of postgres")
}

// FrozenMonths returns the frozen ones of the months of a topic (without its prefix): their raw facts expire, and no
// record of them is inserted.
func (db *DB) FrozenMonths(ctx context.Context, topic string, months []time.Time) (map[time.Time]bool, error) {
	list, err := queryAll[time.Time](ctx, db, "frozen_months", topic, months)
	return set(list), wrap(err, "read frozen months of %s", topic)
}

// set returns the elements of a list as the keys of a map.
func set[T comparable](list []T) map[T]bool {
	elements := make(map[T]bool, len(list))
	for _, element := range list {
		elements[element] = true
	}
	return elements
}

// SplitFrozen splits the facts of a topic by whether their month is frozen. Of a frozen month the warehouse no longer
// knows which facts it has.
func SplitFrozen[T any](
	ctx context.Context, db *DB, topic string, facts []T, at func(T) time.Time,
) (open, frozen []T, err error) {
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

// FrozenBefore returns the first day of a topic's first month that is not frozen; the zero time if no month is frozen.
func (db *DB) FrozenBefore(ctx context.Context, topic string) (time.Time, error) {
	before, err := queryOne[*time.Time](ctx, db, "frozen_before", topic)
	if err != nil || before == nil {
		return time.Time{}, wrap(err, "read frozen months of %s", topic)
	}
	return *before, nil
}

// Freeze freezes every month of a topic before the given one, permanently, and returns how many were not frozen yet. It
// runs on the connection of the lock: if that was lost, nothing is frozen.
func (l *ExclusiveSinkLock) Freeze(ctx context.Context, topic string, before time.Time) (months int, err error) {
	n, err := execRows(ctx, l.conn, "freeze_months", topic, MonthOf(before))
	return int(n), wrap(err, "freeze months of %s before %s", topic, before.Format(time.DateOnly))
}

// Tombstone marks a deleted brand or organization.
type Tombstone struct {
	Kind           string     `db:"kind" json:"kind"` // brand or organization
	ID             uuid.UUID  `db:"id" json:"id"`
	OrganizationID uuid.UUID  `db:"organization_id" json:"-"`
	At             time.Time  `db:"at" json:"-"`
	PurgedAt       *time.Time `db:"purged_at" json:"-"` // start of its last complete purge; nil: none
	ReadAt         time.Time  `db:"read_at" json:"-"`   // by the clock of the server, as At
}

// tombstonesAtOnce bounds one purge.
const tombstonesAtOnce = 500

// DueTombstones returns the next 500 tombstones to be purged, oldest first: those never purged, those not purged since
// the delay after their deletion, and those not purged for interval. MarkPurged makes room for the next.
func (db *DB) DueTombstones(ctx context.Context, delay, interval time.Duration) ([]Tombstone, error) {
	return queryAll[Tombstone](ctx, db, "tombstones", delay.Seconds(), interval.Seconds(), tombstonesAtOnce)
}

// MarkPurged records that the tombstones, as DueTombstones returned them, were purged.
func (db *DB) MarkPurged(ctx context.Context, due []Tombstone) error {
	if len(due) == 0 {
		return nil
	}
	return wrap(exec(ctx, db, "mark_purged", due, due[0].ReadAt), "record %d purges", len(due))
}

// PurgeBacklog returns how many deletions were never purged, and how long the oldest of them has waited.
func (db *DB) PurgeBacklog(ctx context.Context) (waiting int, oldest time.Duration, err error) {
	row, err := queryOne[struct {
		Waiting int     `db:"waiting"`
		Seconds float64 `db:"oldest"`
	}](ctx, db, "purge_backlog")
	return row.Waiting, time.Duration(row.Seconds * float64(time.Second)), err
}

// Salt is the random key of a day's visitor hashes.
type Salt struct {
	Day time.Time `db:"day"`  // its midnight, UTC
	Key []byte    `db:"salt"` // 16 bytes
}

// Salts returns the salts of days, midnights in UTC, the same for every process; a day without a salt gets one.
func (db *DB) Salts(ctx context.Context, days ...time.Time) ([]Salt, error) {
	if err := exec(ctx, db, "make_salts", days); err != nil {
		return nil, fmt.Errorf("make visitor salts: %w", err)
	}
	salts, err := queryAll[Salt](ctx, db, "salts", days)
	return salts, wrap(err, "read visitor salts")
}

// DropSalts deletes the salts whose day ended an hour ago, before any is 48 hours old, from the server's files too.
func (db *DB) DropSalts(ctx context.Context) error {
	return wrap(exec(ctx, db, "drop_salts"), "drop visitor salts")
}
