package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/gofrs/uuid/v5"
)

// Tombstone is what is left of a brand or an organization that was deleted.
type Tombstone struct {
	Kind           string     `db:"kind"` // brand or organization
	ID             uuid.UUID  `db:"id"`
	OrganizationID uuid.UUID  `db:"organization_id"`
	At             time.Time  `db:"at"`
	PurgedAt       *time.Time `db:"purged_at"` // when its last purge began; nil: none has ended
	ReadAt         time.Time  `db:"read_at"`   // by the clock of At
}

type (
	dueTombstones struct {
		Again, Every float64 // seconds
		Most         int
	}
	purgedRows struct {
		Kinds []string
		IDs   []uuid.UUID
		At    time.Time
	}
	unpurgedRow struct {
		Waiting int     `db:"waiting"`
		Oldest  float64 `db:"oldest"`
	}
)

var (
	tombstones = query[dueTombstones, Tombstone]("tombstones")
	purged     = query[purgedRows, none]("purged")
	unpurged   = query[struct{}, unpurgedRow]("unpurged")
)

// DueTombstones are what is to be purged now, oldest first, some hundreds at most:
// what never was, what was last purged before it was deleted for again, and what was
// not for every. Once Purged is told of them, the next are due.
func (db *DB) DueTombstones(ctx context.Context, again, every time.Duration) ([]Tombstone, error) {
	return tombstones.all(ctx, db, dueTombstones{again.Seconds(), every.Seconds(), tombstonesAtOnce})
}

// tombstonesAtOnce bounds what one purge takes.
const tombstonesAtOnce = 500

// Purged notes that what was read as due has been purged since.
func (db *DB) MarkPurged(ctx context.Context, due []Tombstone) error {
	if len(due) == 0 {
		return nil
	}
	rows := purgedRows{At: due[0].ReadAt}
	for _, t := range due {
		rows.Kinds, rows.IDs = append(rows.Kinds, t.Kind), append(rows.IDs, t.ID)
	}
	if _, err := purged.run(ctx, db, rows); err != nil {
		return fmt.Errorf("note %d purges: %w", len(due), err)
	}
	return nil
}

// Unpurged is how many deletions were never purged, and how long the oldest of them
// has waited.
func (db *DB) Unpurged(ctx context.Context) (waiting int, oldest time.Duration, err error) {
	row, err := unpurged.one(ctx, db, struct{}{})
	return row.Waiting, time.Duration(row.Oldest * float64(time.Second)), err
}
