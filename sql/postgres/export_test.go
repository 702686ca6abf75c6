package postgres

import "time"

// MigrateTo lets a test stop at an earlier version.
var MigrateTo = migrateTo

// SetMaxQueuedRuns lets a test fill the queue of runs.
func (db *DB) SetMaxQueuedRuns(runs int) { db.maxQueuedRuns = runs }

// SetSinkLockTimeout lets a test wait less for a silent server.
func (db *DB) SetSinkLockTimeout(timeout time.Duration) { db.sinkLockTimeout = timeout }
