package postgres

import "time"

// SetSinkLockTimeout lets a test wait less for a silent server.
func (db *DB) SetSinkLockTimeout(timeout time.Duration) { db.sinkLockTimeout = timeout }
