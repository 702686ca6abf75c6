package postgres

import (
	"context"
	"time"

	"github.com/gofrs/uuid/v5"
)

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

// Unpurged is how many deletions were never purged, and how long the oldest of them has waited.
func (db *DB) Unpurged(ctx context.Context) (waiting int, oldest time.Duration, err error) {
	row, err := queryOne[unpurgedRow](ctx, db, "unpurged")
	return row.Waiting, time.Duration(row.Oldest * float64(time.Second)), err
}
