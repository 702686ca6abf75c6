package postgres

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// A statement is sent again whose failure passes, and no other. A deadlock, a server that had become read-only and a
// pool without a free connection ended a tracking job with all of its requests.
func TestTransientErrorsAreThoseThatPass(t *testing.T) {
	t.Parallel()
	cfg := DefaultConfig()
	cfg.DSN, cfg.MaxConns = migratedDSN(t), 1
	db, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	for code, want := range map[string]bool{
		"08006": true, "40001": true, "40P01": true, "53100": true, "53200": true, "53300": true, "57014": true,
		"57P01": true, "57P03": true,
		"25006": true, "22001": false, "23505": false, "25001": false, "42501": false, "42P01": false, "55P03": false,
		"XX000": false,
	} {
		_, err := db.Exec(t.Context(), fmt.Sprintf("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '%s'; END $$", code))
		if err == nil || IsTransient(wrap(err, "try")) != want {
			t.Errorf("IsTransient(%v) is not %t", err, want)
		}
	}
	err = pgx.BeginTxFunc(t.Context(), db, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		return exec(t.Context(), tx, "set_checked", nil, nil)
	})
	if !IsTransient(err) {
		t.Errorf("IsTransient(%v) is not true", err)
	}
	busy, err := db.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Release()
	ctx, done := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer done()
	if _, err := db.TrackingWorkers(ctx); !IsTransient(err) {
		t.Errorf("without a free connection: IsTransient(%v) is not true", err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := db.TrackingWorkers(cancelled); err == nil || IsTransient(err) {
		t.Errorf("of a caller that went away: IsTransient(%v) is not false", err)
	}
}
