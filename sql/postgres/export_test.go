package postgres

import "time"

// MigrateTo lets a test stop at an earlier version.
var MigrateTo = migrateTo

// SetSinkLockTimeout lets a test wait less for a silent server.
func (db *DB) SetSinkLockTimeout(timeout time.Duration) { db.sinkLockTimeout = timeout }
