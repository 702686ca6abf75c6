package postgres

import (
	"context"
	"time"
)

// VerdictCheck has the counts of checks of verdicts for a relabelling ("signs", "days", or "none" for the answers as
// they came) and a reach ("brand" or "prompts").
type VerdictCheck struct {
	Relabelling        string  `db:"relabelling" json:"relabelling"`
	Reach              string  `db:"reach" json:"reach"`
	Nights             int     `db:"nights" json:"nights"`
	Rows               int     `db:"rows" json:"rows"`
	Looks              int     `db:"looks" json:"looks"`
	AlarmedLooks       int     `db:"alarmed_looks" json:"alarmed_looks"`
	RowQuarters        float64 `db:"row_quarters" json:"row_quarters"` // 90 looks each, a night
	AlarmedRowQuarters int     `db:"alarmed_row_quarters" json:"alarmed_row_quarters"`
	Moves              int     `db:"moves" json:"moves"`
	HeldMoves          int     `db:"held_moves" json:"held_moves"`
}

// StoreVerdictChecks stores the counts of the night that looked at verdicts up to a UTC day. An earlier check of the
// same day is replaced. PostgreSQL computes RowQuarters.
func (db *DB) StoreVerdictChecks(ctx context.Context, day time.Time, checks []VerdictCheck) error {
	return wrap(exec(ctx, db, "store_verdict_checks", day, checks), "store checks of verdicts")
}

// VerdictChecks returns the sums over the nights of inclusive UTC days, by relabelling and reach. RowQuarters is the
// mean of the nights. Moves are the newest night's, since every night counts all moves of a quarter.
func (db *DB) VerdictChecks(ctx context.Context, from, to time.Time) ([]VerdictCheck, error) {
	checks, err := queryAll[VerdictCheck](ctx, db, "verdict_checks", from, to)
	return checks, wrap(err, "read checks of verdicts")
}
