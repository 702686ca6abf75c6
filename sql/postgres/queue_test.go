package postgres

import "testing"

// riverSchema is the version of River's tables that tracking_heartbeat.sql and resume_tracking_jobs.sql read and write.
// If a newer River fails this test, read its migrations: state, attempted_at, finalized_at, args, kind, max_attempts,
// priority and queue of river_job must mean what they do.
const riverSchema = 8

func TestRiverHasTheSchemaThatOurStatementsKnow(t *testing.T) {
	t.Parallel()
	db := openMigrated(t)
	var version int
	if err := db.QueryRow(t.Context(), "SELECT max(version) FROM private.river_migration").Scan(&version); err != nil ||
		version != riverSchema {
		t.Errorf("River's schema has version %d, want %d: %v", version, riverSchema, err)
	}
}
