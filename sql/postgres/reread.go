package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gofrs/uuid/v5"
)

// Reread is a run over the kept answers of a brand that its holder has in hand.
type Reread struct {
	BrandID        uuid.UUID  `db:"brand_id"`
	OrganizationID uuid.UUID  `db:"organization_id"`
	Anew           bool       `db:"anew"` // begins; else it goes on behind the cursor
	FirstDay       time.Time  `db:"first_day"`
	LastDay        time.Time  `db:"last_day"`
	CursorDay      *time.Time `db:"cursor_day"` // nil at the beginning
	CursorID       *uuid.UUID `db:"cursor_id"`
	LeftOver       int64      `db:"left_over"` // answers that could not be told again so far
}

// Page is what a holder has done of a Reread.
type Page struct {
	CursorDay      *time.Time // behind the last answer of the page; nil to begin once more
	CursorID       *uuid.UUID
	Done           int64 // answers told again
	LeftOver       int64 // answers that could not be, or did not land
	Revision       int64 // with which the page was read
	ExtractVersion int
}

// RereadState is what becomes of a brand's reread, as people read it.
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

// RereadsWaiting says how much there is to be done.
type RereadsWaiting struct {
	Brands  int64   `db:"brands"`
	Seconds float64 `db:"seconds"` // for which the first of them has been due
}

// StaleBrand has answers of which the oldest reading is this one.
type StaleBrand struct {
	BrandID        uuid.UUID
	Revision       int64
	ExtractVersion int
}

// Days are some days, ends included; nil is without an end.
type Days struct{ First, Last *time.Time }

// ErrLost says that somebody else has it in hand now, or that its brand is gone.
var ErrLost = errors.New("no longer in hand")

type (
	claimParams struct {
		Holder  uuid.UUID
		Seconds float64
	}
	beginParams struct {
		BrandID, Holder uuid.UUID
		Total           int64
	}
	holdParams struct {
		BrandID, Holder uuid.UUID
		Seconds         float64
	}
	advanceParams struct {
		BrandID, Holder uuid.UUID
		CursorDay       *time.Time
		CursorID        *uuid.UUID
		Done, LeftOver  int64
		Revision        int64
		ExtractVersion  int
		Seconds         float64
	}
	leaveParams struct {
		BrandID, Holder uuid.UUID
		Seconds         float64
		Why             string
	}
	finishParams struct {
		BrandID, Holder uuid.UUID
		Why             string
		Late            float64
	}
	askParams struct {
		Organization, Brand *uuid.UUID
		First, Last         *time.Time
	}
	staleParams struct {
		Brands          []uuid.UUID
		Revisions       []int64
		ExtractVersions []int32
		ExtractVersion  int
	}
	rereadsOf struct{ Organization, Brand *uuid.UUID }
	askedRow  struct {
		Asked bool `db:"asked"`
	}
)

var (
	claimReread    = query[claimParams, Reread]("claim_reread")
	beginReread    = query[beginParams, none]("begin_reread")
	holdReread     = query[holdParams, askedRow]("hold_reread")
	advanceReread  = query[advanceParams, askedRow]("advance_reread")
	leaveReread    = query[leaveParams, none]("leave_reread")
	finishReread   = query[finishParams, none]("finish_reread")
	askRereads     = query[askParams, none]("ask_rereads")
	queueStale     = query[staleParams, none]("queue_stale")
	rereads        = query[rereadsOf, RereadState]("rereads")
	rereadsWaiting = query[struct{}, RereadsWaiting]("rereads_waiting")
)

// Rereader takes brands in hand that are to be read again, one process of many. What
// it has in hand is its own until the lease has passed since it last said so. It is
// safe for concurrent use.
type Rereader struct {
	db     *DB
	holder uuid.UUID
	lease  time.Duration
}

// NewRereader has nothing in hand yet.
func (db *DB) NewRereader(lease time.Duration) (*Rereader, error) {
	holder, err := uuid.NewV4()
	if err != nil {
		return nil, fmt.Errorf("name rereader: %w", err)
	}
	return &Rereader{db, holder, lease}, nil
}

// Claim takes the next one in hand; ErrNotFound when nothing is due.
func (r *Rereader) Claim(ctx context.Context) (Reread, error) {
	return claimReread.one(ctx, r.db, claimParams{r.holder, r.lease.Seconds()})
}

// Begin notes how many answers a run begins with.
func (r *Rereader) Begin(ctx context.Context, brand uuid.UUID, total int64) error {
	_, err := beginReread.run(ctx, r.db, beginParams{brand, r.holder, total})
	return err
}

// Hold says that this is still in hand, or is ErrLost. asked: there is a newer
// request, which is taken up by leaving this one.
func (r *Rereader) Hold(ctx context.Context, brand uuid.UUID) (asked bool, err error) {
	row, err := holdReread.one(ctx, r.db, holdParams{brand, r.holder, r.lease.Seconds()})
	return row.Asked, lost(err)
}

// Advance notes a page; else as Hold.
func (r *Rereader) Advance(ctx context.Context, brand uuid.UUID, p Page) (asked bool, err error) {
	row, err := advanceReread.one(ctx, r.db, advanceParams{
		brand, r.holder, p.CursorDay, p.CursorID, p.Done, p.LeftOver, p.Revision, p.ExtractVersion, r.lease.Seconds(),
	})
	return row.Asked, lost(err)
}

// Leave lets go of what is to go on after a pause, at the earliest; why is "" where
// nothing is wrong.
func (r *Rereader) Leave(ctx context.Context, brand uuid.UUID, pause time.Duration, why string) error {
	_, err := leaveReread.run(ctx, r.db, leaveParams{brand, r.holder, pause.Seconds(), why})
	return err
}

// Finish ends a run; why says what it could not do, "" for nothing. The run of an
// edit is followed by another one, late.
func (r *Rereader) Finish(ctx context.Context, brand uuid.UUID, why string, late time.Duration) error {
	_, err := finishReread.run(ctx, r.db, finishParams{brand, r.holder, why, late.Seconds()})
	return err
}

func lost(err error) error {
	if errors.Is(err, ErrNotFound) {
		return ErrLost
	}
	return err
}

// AskRereads asks for rereads now: of one brand, or of an organization's, or of all
// (nil). It returns of how many brands.
func (db *DB) AskRereads(ctx context.Context, organization, brand *uuid.UUID, days Days) (int64, error) {
	return askRereads.run(ctx, db, askParams{organization, brand, days.First, days.Last})
}

// QueueStale queues those of the brands of which a reading is older than the brand's
// revision and extractVersion, and returns how many were not queued already. One that
// could not be read again whole is left alone for most of a day.
func (db *DB) QueueStale(ctx context.Context, stale []StaleBrand, extractVersion int) (int64, error) {
	p := staleParams{ExtractVersion: extractVersion}
	for _, s := range stale {
		p.Brands = append(p.Brands, s.BrandID)
		p.Revisions = append(p.Revisions, s.Revision)
		p.ExtractVersions = append(p.ExtractVersions, int32(s.ExtractVersion))
	}
	return queueStale.run(ctx, db, p)
}

// Rereads lists what is to be, is and was read again, of one brand, or of an
// organization's, or of all (nil); what is under way first.
func (db *DB) Rereads(ctx context.Context, organization, brand *uuid.UUID) ([]RereadState, error) {
	return rereads.all(ctx, db, rereadsOf{organization, brand})
}

// RereadsWaiting says how much there is to be done now.
func (db *DB) RereadsWaiting(ctx context.Context) (RereadsWaiting, error) {
	return rereadsWaiting.one(ctx, db, struct{}{})
}
