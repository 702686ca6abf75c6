package postgres

import (
	"context"
	"time"

	"github.com/gofrs/uuid/v5"
)

// Reread is a run over the stored answers of a brand, leased to one process.
type Reread struct {
	BrandID        uuid.UUID  `db:"brand_id"`
	OrganizationID uuid.UUID  `db:"organization_id"`
	FromStart      bool       `db:"from_start"` // false: it goes on after the cursor
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
	LeftOver       int64 // answers that could not be read, or were not inserted
	Revision       int64 // of the brand's names
	ExtractVersion int
}

// RereadState is the state of a brand's reread, for people.
type RereadState struct {
	Organization   string     `db:"organization" json:"organization"` // slug
	Brand          string     `db:"brand" json:"brand"`               // slug
	BrandID        uuid.UUID  `db:"brand_id" json:"brand_id"`
	State          string     `db:"state" json:"state"`                     // waiting, reading, incomplete or done
	Revision       int64      `db:"revision" json:"revision"`               // of the last page; 0 before the first
	ExtractVersion int        `db:"extract_version" json:"extract_version"` // the same
	Done           int64      `db:"done" json:"done"`
	Total          int64      `db:"total" json:"total"`
	LeftOver       int64      `db:"left_over" json:"left_over"`
	FirstDay       string     `db:"first_day" json:"from"` // "": the first
	LastDay        string     `db:"last_day" json:"to"`    // "": the last
	AskedAt        *time.Time `db:"asked_at" json:"asked_at"`
	DueAt          *time.Time `db:"due_at" json:"due_at"`
	StartedAt      *time.Time `db:"started_at" json:"started_at"`
	FinishedAt     *time.Time `db:"finished_at" json:"finished_at"`
	LastError      string     `db:"last_error" json:"last_error"`
}

// RereadBacklog counts the brands that are due to be read again.
type RereadBacklog struct {
	Brands  int64   `db:"brands"`
	Seconds float64 `db:"seconds"` // since the first of them was due
}

// OutdatedBrand is a brand with its oldest reading.
type OutdatedBrand struct {
	BrandID        uuid.UUID `json:"brand_id"`
	Revision       int64     `json:"revision"`
	ExtractVersion int       `json:"extract_version"`
}

// Days is a range of days, both included; nil has no end.
type Days struct{ First, Last *time.Time }

// RereadQueue leases brands that are due to be read again to this process, one of many. It is safe for concurrent use.
type RereadQueue struct{ leases leaseholder }

// NewRereadQueue returns a queue that has leased nothing yet.
func (db *DB) NewRereadQueue(lease time.Duration) (*RereadQueue, error) {
	leases, err := db.newLeaseholder(lease)
	return &RereadQueue{leases}, err
}

// Lease leases the most urgent reread that is due; ErrNotFound when none is.
func (q *RereadQueue) Lease(ctx context.Context) (Reread, error) {
	return leaseNext[Reread](ctx, q.leases, "lease_reread")
}

// Begin stores how many answers a run will read.
func (q *RereadQueue) Begin(ctx context.Context, brand uuid.UUID, total int64) error {
	return q.leases.execLeased(ctx, "begin_reread", brand, total)
}

// Extend extends the lease, or returns ErrLeaseLost. After requested, a newer request, Pause lets the next Lease start
// again.
func (q *RereadQueue) Extend(ctx context.Context, brand uuid.UUID) (requested bool, err error) {
	return q.leases.extend(ctx, "extend_reread", brand)
}

// Advance stores a page and extends the lease as Extend does.
func (q *RereadQueue) Advance(ctx context.Context, brand uuid.UUID, p Page) (requested bool, err error) {
	return q.leases.extend(ctx, "advance_reread", brand,
		p.CursorDay, p.CursorID, p.Done, p.LeftOver, p.Revision, p.ExtractVersion)
}

// Pause ends the lease of a reread that goes on after a pause. The reason is an error text, "" for none.
func (q *RereadQueue) Pause(ctx context.Context, brand uuid.UUID, pause time.Duration, reason string) error {
	return q.leases.execLeased(ctx, "pause_reread", brand, pause.Seconds(), reason)
}

// Finish ends a run; the reason is an error text about the answers that it could not read, "" for none. The run of an
// edit is followed by another one after followUp, for answers that were under way with the earlier names.
func (q *RereadQueue) Finish(ctx context.Context, brand uuid.UUID, reason string, followUp time.Duration) error {
	return q.leases.execLeased(ctx, "finish_reread", brand, reason, followUp.Seconds())
}

// RequestRereads requests rereads of one brand, or of an organization's, or of all (nil), now, and returns their
// number.
func (db *DB) RequestRereads(ctx context.Context, organization, brand *uuid.UUID, days Days) (int64, error) {
	return execRows(ctx, db, "request_rereads", organization, brand, days.First, days.Last)
}

// QueueOutdated queues the brands whose oldest reading is older than their revision and extractVersion, and returns
// their number. A brand whose last reread left answers over is not queued again for most of a day.
func (db *DB) QueueOutdated(ctx context.Context, outdated []OutdatedBrand, extractVersion int) (int64, error) {
	return execRows(ctx, db, "queue_outdated", outdated, extractVersion)
}

// Rereads lists the rereads of one brand, or of an organization's, or of all (nil); unfinished ones first.
func (db *DB) Rereads(ctx context.Context, organization, brand *uuid.UUID) ([]RereadState, error) {
	return queryAll[RereadState](ctx, db, "rereads", organization, brand)
}

// RereadBacklog returns the rereads that are due now.
func (db *DB) RereadBacklog(ctx context.Context) (RereadBacklog, error) {
	return queryOne[RereadBacklog](ctx, db, "reread_backlog")
}
