package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
)

// listener is a connection outside the pool that is notified of changes. The server must answer the connect and every
// statement within timeout, because a dead connection would stay silent for a quarter of an hour. It is not safe for
// concurrent use.
type listener struct {
	conn    *pgx.Conn
	timeout time.Duration
}

func (db *DB) openListener(ctx context.Context, timeout time.Duration) (*listener, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	conn, err := db.openConn(ctx, 0)
	if err != nil {
		return nil, err
	}
	return &listener{conn, timeout}, nil
}

// Wait waits for a notification since its last call, at most for atMost, and reports whether one came. It takes all
// that have come. The connection stays open when ctx ends.
func (l *listener) Wait(ctx context.Context, atMost time.Duration) (notified bool, err error) {
	bounded, cancel := context.WithTimeout(ctx, atMost)
	defer cancel()
	_, err = l.conn.WaitForNotification(bounded)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("wait for a notification: %w", err)
	}
	cancel()
	for err == nil { // with an ended context it only returns notifications that have come
		_, err = l.conn.WaitForNotification(bounded)
	}
	return true, nil
}

// Close closes the connection, which ends its locks.
func (l *listener) Close() error { return closeConn(l.conn) }

// Change is a row of the outbox: the state of a brand, competitor, prompt or topic, or its last state if it was
// deleted.
type Change struct {
	ID             int64      `db:"id"`   // the row's version: a later change of one row has a higher id
	Kind           string     `db:"kind"` // brand, competitor, prompt or topic
	RowID          uuid.UUID  `db:"row_id"`
	OrganizationID uuid.UUID  `db:"organization_id"`
	BrandID        uuid.UUID  `db:"brand_id"` // of a brand, its own id
	Row            ChangedRow `db:"payload"`
	Deleted        bool       `db:"deleted"`
	At             time.Time  `db:"at"`
}

// ChangedRow has the columns of any kind; those that its kind lacks are empty.
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

// Outbox reads the changes that the warehouse lacks, and is notified of them. One Outbox of all processes holds the
// lock at a time, which ends with its connection; the others must not read or delete.
type Outbox struct{ *listener }

// OpenOutbox connects, without the lock. The server must answer each statement within timeout.
func (db *DB) OpenOutbox(ctx context.Context, timeout time.Duration) (*Outbox, error) {
	l, err := db.openListener(ctx, timeout)
	if err != nil {
		return nil, fmt.Errorf("open outbox: %w", err)
	}
	return &Outbox{l}, nil
}

// TryLock takes the lock if it is free, and reports whether it did. It does not wait: a waiting statement holds back
// VACUUM.
func (o *Outbox) TryLock(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	locked, err := queryOne[bool](ctx, o.conn, "lock_lead", "outbox")
	if err != nil || !locked {
		return false, err
	}
	err = exec(ctx, o.conn, "listen_outbox")
	return err == nil, err
}

// Read returns the first changes, and returns them again until they are deleted. A change may appear after another
// row's with a higher id, so changes are deleted by their ids.
func (o *Outbox) Read(ctx context.Context, limit int) ([]Change, error) {
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	return queryAll[Change](ctx, o.conn, "outbox_changes", limit)
}

// Delete deletes changes that the warehouse has.
func (o *Outbox) Delete(ctx context.Context, changes []Change) error {
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	ids := make([]int64, len(changes))
	for i, c := range changes {
		ids[i] = c.ID
	}
	return exec(ctx, o.conn, "delete_changes", ids)
}

// Site is a brand with its own hosts, in lower case and punycode.
type Site struct {
	BrandID        uuid.UUID `db:"brand_id"`
	OrganizationID uuid.UUID `db:"organization_id"`
	Domains        []string  `db:"domains"` // in the order of their bytes
}

// Sites reads the brands and their domains, and is notified when they change.
type Sites struct{ *listener }

// OpenSites connects; every later change ends a Wait. The server must answer each statement within timeout, and Read
// within ten times that.
func (db *DB) OpenSites(ctx context.Context, timeout time.Duration) (*Sites, error) {
	l, err := db.openListener(ctx, timeout)
	if err != nil {
		return nil, fmt.Errorf("open sites: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := exec(ctx, l.conn, "listen_sites"); err != nil {
		return nil, errors.Join(fmt.Errorf("open sites: %w", err), l.Close())
	}
	return &Sites{l}, nil
}

// Version returns a text that differs after any change, notified or not; it reads every brand. A later Read is never
// older than it.
func (s *Sites) Version(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return queryOne[string](ctx, s.conn, "sites_version")
}

// Read returns every brand, also those without a domain, by id.
func (s *Sites) Read(ctx context.Context) ([]Site, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*s.timeout)
	defer cancel()
	return queryAll[Site](ctx, s.conn, "sites")
}
