package postgres

import (
	"context"
	"encoding/json"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
)

// Event is something about a brand that was computed.
type Event struct {
	OrganizationID uuid.UUID
	BrandID        uuid.UUID
	Type           string
	Data           any    // JSON
	Key            string // of several events with one key the first is added
}

// Emit adds an event with its deliveries and mails, unless one has its key: then added is false.
func (db *DB) Emit(ctx context.Context, e Event) (added bool, err error) { return emit(ctx, db, e) }

func emit(ctx context.Context, on querier, e Event) (added bool, err error) {
	added, err = queryOne[bool](ctx, on, "emit", e.OrganizationID, e.BrandID, e.Type, e.Data, e.Key)
	return added, wrap(err, "emit %s of brand %s", e.Type, e.BrandID)
}

// BrandsToJudge returns the active brands that were not judged on a UTC day and whose answers of it are complete.
func (db *DB) BrandsToJudge(ctx context.Context, day time.Time) ([]Brand, error) {
	return queryAll[Brand](ctx, db, "brands_to_judge", day)
}

// NewestEpisodes returns the newest episode of each scope of a brand's visibility, as StoreJudgement got it.
func (db *DB) NewestEpisodes(ctx context.Context, brand uuid.UUID) ([]json.RawMessage, error) {
	return queryAll[json.RawMessage](ctx, db, "newest_episodes", brand)
}

// Judgement is what a judged UTC day of a brand has made.
type Judgement struct {
	OrganizationID uuid.UUID
	BrandID        uuid.UUID
	Day            time.Time
	Verdicts       any    // JSON
	Episodes       any    // a JSON list with platform, direction, opened and closed: those before, and those of the day
	Event          *Event // nil: there are no news
}

// StoreJudgement stores all of a judgement, or nothing if the brand was judged on that day before: then stored is
// false.
func (db *DB) StoreJudgement(ctx context.Context, j Judgement) (stored bool, err error) {
	err = pgx.BeginFunc(ctx, db, func(tx Tx) error {
		added, err := execRows(ctx, tx, "add_judged_day", j.OrganizationID, j.BrandID, j.Day, j.Verdicts)
		if stored = added > 0; err != nil || !stored {
			return err
		}
		if err := exec(ctx, tx, "edit_episodes", j.BrandID, j.Episodes); err != nil {
			return err
		}
		if err := exec(ctx, tx, "add_episodes", j.OrganizationID, j.BrandID, j.Episodes, j.Day); err != nil {
			return err
		}
		if j.Event == nil {
			return nil
		}
		_, err = emit(ctx, tx, *j.Event)
		return err
	})
	return stored, wrap(err, "judge brand %s", j.BrandID)
}

// DueReport is a brand whose week has not been reported yet.
type DueReport struct {
	Brand
	Monday    time.Time `db:"monday"`     // the first UTC day of the week
	LastEmpty bool      `db:"last_empty"` // the newest report had no answers
}

// DueReports returns the active brands whose report of the week before is due at an instant: from Monday 7:00 to
// Wednesday in the time zone of their organization.
func (db *DB) DueReports(ctx context.Context, now time.Time) ([]DueReport, error) {
	return queryAll[DueReport](ctx, db, "due_reports", now)
}

// Failures returns, as the data of an event, the runs of a brand with a slot from one instant to before another that
// were given up, and why it was not asked.
func (db *DB) Failures(ctx context.Context, brand uuid.UUID, from, before time.Time) (json.RawMessage, error) {
	return queryOne[json.RawMessage](ctx, db, "failures", brand, from, before)
}

// EmitSkipped adds an event that platforms of a brand, which were due, were not asked, once a reason and UTC day. until
// is when its budget allows more, nil for another reason.
func (db *DB) EmitSkipped(
	ctx context.Context, brand uuid.UUID, reason string, platforms []string, until *time.Time, now time.Time,
) error {
	err := exec(ctx, db, "emit_skipped", brand, reason, platforms, until, now)
	return wrap(err, "emit that brand %s was skipped", brand)
}
