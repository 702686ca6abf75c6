package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
)

// listener is a connection of its own that is notified of changes. Connecting and every statement must be answered
// within timeout, because a connection whose other end has gone would stay silent for a quarter of an hour. It is not
// safe for concurrent use.
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

// Wait returns when there may be a change that was not there when Wait was last called, or after atMost: notified says
// which. Any number of notifications that have come end it once. The connection stays open when ctx ends.
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
	for err == nil { // with an ended context it returns what has come, and waits for no more
		_, err = l.conn.WaitForNotification(bounded)
	}
	return true, nil
}

// Close closes the connection, and ends what it holds.
func (l *listener) Close() error { return closeConn(l.conn) }

// Change is a row of the outbox: a brand, competitor, prompt or topic as it is, or as it was when it was Deleted.
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

// Outbox reads the changes that the warehouse lacks, and is notified of them. Of all Outboxes in all processes one at a
// time holds the lock, which ends with its connection; the others must leave the changes alone.
type Outbox struct{ *listener }

// OpenOutbox connects. Each statement must be answered within timeout. Until TryLock succeeds, the outbox is another
// process's.
func (db *DB) OpenOutbox(ctx context.Context, timeout time.Duration) (*Outbox, error) {
	l, err := db.openListener(ctx, timeout)
	if err != nil {
		return nil, fmt.Errorf("open outbox: %w", err)
	}
	return &Outbox{l}, nil
}

// TryLock reports whether this Outbox now holds the lock. It does not wait: a statement that waits holds back what
// VACUUM may clean.
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

// Read returns the first changes, at most most. Until they are deleted, Read returns them again. A change may appear
// after another row's with a higher id, so changes are deleted by their ids.
func (o *Outbox) Read(ctx context.Context, most int) ([]Change, error) {
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	return queryAll[Change](ctx, o.conn, "outbox_changes", most)
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

// Site is a brand with the hosts that are its own, in lower case and punycode.
type Site struct {
	BrandID        uuid.UUID `db:"brand_id"`
	OrganizationID uuid.UUID `db:"organization_id"`
	Domains        []string  `db:"domains"` // in the order of their bytes
}

// Sites reads the brands and their domains, and is notified when they change.
type Sites struct{ *listener }

// OpenSites connects; every change from then on ends a Wait. Each statement must be answered within timeout, and Read
// within ten times of it.
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

// Version is another text after any change, notified or not; it costs one look at each brand. What is read after
// Version is never older than it.
func (s *Sites) Version(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return queryOne[string](ctx, s.conn, "sites_version")
}

// Read returns every brand, also those without a domain, in the order of ids.
func (s *Sites) Read(ctx context.Context) ([]Site, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*s.timeout)
	defer cancel()
	return queryAll[Site](ctx, s.conn, "sites")
}
