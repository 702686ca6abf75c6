package postgres

import "time"

// MigrateTo lets a test stop at an earlier version.
var MigrateTo = migrateTo

// SetQueueLimit lets a test fill the queue.
func (db *DB) SetQueueLimit(runs, jobs int) { db.queueLimit = trackingQueue{runs, jobs} }

// SetSinkLockTimeout lets a test wait less for a silent server.
func (db *DB) SetSinkLockTimeout(timeout time.Duration) { db.sinkLockTimeout = timeout }
