package postgres

import "context"

// WarehouseVersion rises with every change of the warehouse that answerscope makes, after the change: of facts when the
// sink lock is released under which they were inserted, repaired or deleted, of dimensions when the mirror has copied
// them. What was read from a warehouse without replicas after a version was read is right as long as the version is the
// same, unless a process died between a change and its version; the next change raises it.
func (db *DB) WarehouseVersion(ctx context.Context) (int64, error) {
	return queryOne[int64](ctx, db, "warehouse_version")
}
