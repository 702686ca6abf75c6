package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gofrs/uuid/v5"
)

// Reread is a run over the kept answers of a brand, leased to one process.
type Reread struct {
	BrandID        uuid.UUID  `db:"brand_id"`
	OrganizationID uuid.UUID  `db:"organization_id"`
	FromStart      bool       `db:"from_start"` // else it goes on after the cursor
	FirstDay       time.Time  `db:"first_day"`
	LastDay        time.Time  `db:"last_day"`
	CursorDay      *time.Time `db:"cursor_day"` // nil at the start
	CursorID       *uuid.UUID `db:"cursor_id"`
	LeftOver       int64      `db:"left_over"` // answers that could not be read again so far
}

// Page is the progress of a Reread.
type Page struct {
	CursorDay      *time.Time // of the last answer of the page; nil to start again
	CursorID       *uuid.UUID
	Done           int64 // answers appended again
	LeftOver       int64 // answers that could not be, or were not inserted
	Revision       int64 // of the names that they are read by
	ExtractVersion int
}

// RereadState is the state of a brand's reread, as people read it.
type RereadState struct {
	Organization   string     `db:"organization" json:"organization"` // slug
	Brand          string     `db:"brand" json:"brand"`               // slug
	BrandID        uuid.UUID  `db:"brand_id" json:"brand_id"`
	State          string     `db:"state" json:"state"`                     // waiting, reading, incomplete or done
	Revision       int64      `db:"revision" json:"revision"`               // of the last page, 0 before the first
	ExtractVersion int        `db:"extract_version" json:"extract_version"` // the same
	Done           int64      `db:"done" json:"done"`
	Total          int64      `db:"total" json:"total"`
	LeftOver       int64      `db:"left_over" json:"left_over"`
	FirstDay       string     `db:"first_day" json:"from"` // "" for the first
	LastDay        string     `db:"last_day" json:"to"`    // "" for the last
	AskedAt        *time.Time `db:"asked_at" json:"asked_at"`
	DueAt          *time.Time `db:"due_at" json:"due_at"`
	StartedAt      *time.Time `db:"started_at" json:"started_at"`
	FinishedAt     *time.Time `db:"finished_at" json:"finished_at"`
	LastError      string     `db:"last_error" json:"last_error"`
}

// RereadBacklog is how much is to be read again now.
type RereadBacklog struct {
	Brands  int64   `db:"brands"`
	Seconds float64 `db:"seconds"` // for which the first of them has been due
}

// OutdatedBrand is a brand with its oldest reading.
type OutdatedBrand struct {
	BrandID        uuid.UUID
	Revision       int64
	ExtractVersion int
}

// Days is a range of days, both included; nil is without an end.
type Days struct{ First, Last *time.Time }

// ErrLeaseLost says that another process has the lease, or that the brand was deleted.
var ErrLeaseLost = errors.New("the lease of the reread is lost")

// RereadQueue leases brands that are to be read again to this process, one of many. A lease ends when it was not
// extended for its time. It is safe for concurrent use.
type RereadQueue struct {
	db     *DB
	holder uuid.UUID
	lease  time.Duration
}

// NewRereadQueue has leased nothing yet.
func (db *DB) NewRereadQueue(lease time.Duration) (*RereadQueue, error) {
	holder, err := uuid.NewV4()
	if err != nil {
		return nil, fmt.Errorf("name holder of rereads: %w", err)
	}
	return &RereadQueue{db, holder, lease}, nil
}

// Lease leases the most urgent reread that is due; ErrNotFound when none is.
func (q *RereadQueue) Lease(ctx context.Context) (Reread, error) {
	return queryOne[Reread](ctx, q.db, "lease_reread", q.holder, q.lease.Seconds())
}

// Begin saves how many answers a run will read.
func (q *RereadQueue) Begin(ctx context.Context, brand uuid.UUID, total int64) error {
	return exec(ctx, q.db, "begin_reread", brand, q.holder, total)
}

// Extend extends the lease, or returns ErrLeaseLost. requested: there is a newer request; Pause takes it up.
func (q *RereadQueue) Extend(ctx context.Context, brand uuid.UUID) (requested bool, err error) {
	requested, err = queryOne[bool](ctx, q.db, "extend_reread", brand, q.holder, q.lease.Seconds())
	return requested, leaseLost(err)
}

// Advance saves a page and extends the lease as Extend does.
func (q *RereadQueue) Advance(ctx context.Context, brand uuid.UUID, p Page) (requested bool, err error) {
	requested, err = queryOne[bool](ctx, q.db, "advance_reread", brand, q.holder, p.CursorDay, p.CursorID, p.Done, p.LeftOver, p.Revision, p.ExtractVersion,
		q.lease.Seconds())
	return requested, leaseLost(err)
}

// Pause ends the lease of a reread that goes on after a pause; why is its error, "" for none.
func (q *RereadQueue) Pause(ctx context.Context, brand uuid.UUID, pause time.Duration, why string) error {
	return exec(ctx, q.db, "pause_reread", brand, q.holder, pause.Seconds(), why)
}

// Finish ends a run; why is what it could not do, "" for nothing. The run of an edit is followed by another one after
// late, for answers that were under way with the earlier names.
func (q *RereadQueue) Finish(ctx context.Context, brand uuid.UUID, why string, late time.Duration) error {
	return exec(ctx, q.db, "finish_reread", brand, q.holder, why, late.Seconds())
}

func leaseLost(err error) error {
	if errors.Is(err, ErrNotFound) {
		return ErrLeaseLost
	}
	return err
}

// RequestRereads requests rereads of one brand, or of an organization's, or of all (nil), now. It returns of how many
// brands.
func (db *DB) RequestRereads(ctx context.Context, organization, brand *uuid.UUID, days Days) (int64, error) {
	return execRows(ctx, db, "request_rereads", organization, brand, days.First, days.Last)
}

// QueueOutdated queues those of the brands whose oldest reading is older than their revision and extractVersion, and
// returns how many it queued. One whose last reread left answers over is not queued again for most of a day.
func (db *DB) QueueOutdated(ctx context.Context, outdated []OutdatedBrand, extractVersion int) (int64, error) {
	var brands []uuid.UUID
	var revisions []int64
	var versions []int32
	for _, b := range outdated {
		brands, revisions, versions = append(brands, b.BrandID), append(revisions, b.Revision), append(versions, int32(b.ExtractVersion))
	}
	return execRows(ctx, db, "queue_outdated", brands, revisions, versions, extractVersion)
}

// Rereads lists the rereads of one brand, or of an organization's, or of all (nil); unfinished ones first.
func (db *DB) Rereads(ctx context.Context, organization, brand *uuid.UUID) ([]RereadState, error) {
	return queryAll[RereadState](ctx, db, "rereads", organization, brand)
}

// RereadBacklog counts the rereads that are due now.
func (db *DB) RereadBacklog(ctx context.Context) (RereadBacklog, error) {
	return queryOne[RereadBacklog](ctx, db, "reread_backlog")
}
