package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
)

// Change is a row of the outbox: a brand, competitor, prompt or topic as it is, or
// as it last was when Deleted.
type Change struct {
	ID             int64      `db:"id"`   // of two changes of one row the later has the higher: it is the row's version
	Kind           string     `db:"kind"` // brand, competitor, prompt or topic
	RowID          uuid.UUID  `db:"row_id"`
	OrganizationID uuid.UUID  `db:"organization_id"`
	BrandID        uuid.UUID  `db:"brand_id"` // of a brand, its own id
	Row            ChangedRow `db:"payload"`
	Deleted        bool       `db:"deleted"`
	At             time.Time  `db:"at"`
}

// ChangedRow holds the columns of any kind; those that its kind lacks are empty.
type ChangedRow struct {
	Name      string     `json:"name"`       // brand, competitor, topic
	Slug      string     `json:"slug"`       // brand, as are industry, region, language and revision
	Industry  string     `json:"industry"`   //
	Region    string     `json:"region"`     //
	Language  string     `json:"language"`   //
	Revision  int64      `json:"revision"`   //
	Aliases   []string   `json:"aliases"`    // brand, competitor
	Domains   []string   `json:"domains"`    // brand, competitor
	IsActive  bool       `json:"is_active"`  // brand, prompt, topic
	Text      string     `json:"text"`       // prompt
	TopicID   *uuid.UUID `json:"topic_id"`   // prompt; nil: none
	IsBranded *bool      `json:"is_branded"` // prompt; nil: decided by its text
}

type (
	limit     struct{ Most int }
	changeIDs struct{ IDs []int64 }
	lock      struct {
		Locked bool `db:"locked"`
	}
)

var (
	lockOutbox    = query[struct{}, lock]("lock_outbox")
	listenOutbox  = query[struct{}, none]("listen_outbox")
	outboxChanges = query[limit, Change]("outbox_changes")
	deleteChanges = query[changeIDs, none]("delete_changes")
)

// Outbox reads the changes that the warehouse has yet to learn, on a connection of
// its own. Of all the Outboxes in all processes one at a time holds the lock, which
// goes with its connection; the others must leave the changes alone. It is not safe
// for concurrent use. When ctx ends, all but Wait close the connection.
type Outbox struct{ conn *pgx.Conn }

// OpenOutbox connects; the outbox is another's until TryLock says otherwise.
func (db *DB) OpenOutbox(ctx context.Context) (*Outbox, error) {
	// Not one of the pool's, which may have died unseen.
	cfg := db.Config()
	conn, err := pgx.ConnectConfig(ctx, cfg.ConnConfig)
	if err != nil {
		return nil, fmt.Errorf("open outbox: %w", err)
	}
	o := &Outbox{conn}
	if err := cfg.AfterConnect(ctx, conn); err != nil {
		return nil, errors.Join(fmt.Errorf("open outbox: %w", err), o.Close())
	}
	return o, nil
}

// TryLock reports whether this is now the Outbox that holds the lock. It does not
// wait for it: a statement that waits holds back what VACUUM may clean.
func (o *Outbox) TryLock(ctx context.Context) (bool, error) {
	got, err := lockOutbox.one(ctx, o.conn, struct{}{})
	if err != nil || !got.Locked {
		return false, err
	}
	_, err = listenOutbox.run(ctx, o.conn, struct{}{})
	return err == nil, err
}

// Read returns the first changes, at most most. Until they are deleted, another
// Read returns them again. A change may come after another row's with a higher id,
// so what was read is deleted by its ids.
func (o *Outbox) Read(ctx context.Context, most int) ([]Change, error) {
	return outboxChanges.all(ctx, o.conn, limit{most})
}

// Delete forgets changes that the warehouse has.
func (o *Outbox) Delete(ctx context.Context, changes []Change) error {
	ids := make([]int64, len(changes))
	for i, c := range changes {
		ids[i] = c.ID
	}
	_, err := deleteChanges.run(ctx, o.conn, changeIDs{ids})
	return err
}

// Wait returns when there may be a change that was not there when Wait was last
// called, or ctx ends; an ended ctx leaves the outbox open.
func (o *Outbox) Wait(ctx context.Context) error {
	if _, err := o.conn.WaitForNotification(ctx); err != nil {
		return fmt.Errorf("wait for outbox: %w", err)
	}
	return nil
}

// Close lets the next one open.
func (o *Outbox) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return o.conn.Close(ctx)
}
