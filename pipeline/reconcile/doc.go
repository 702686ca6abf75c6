// Package reconcile compares every rollup with the landing rows that it comes from, month by month, and rebuilds what
// differs. Before that it deletes what stands twice in a landing table.
//
// Sinks insert meanwhile, and a row lands before the rollups have it, so a month in which something lands differs for a
// moment. A month is compared twice beside the sinks, and only if it differs both times a third time under the
// exclusive sink lock (lock.go). Checksums are cached by part, so that only the last rows are read under the lock.
//
// A month is rebuilt from its landing rows in a shadow schema: most of it beside the sinks, the rest under the lock;
// then one statement replaces the old month. A process that is killed at any point leaves each rollup as it was or as
// it should be, and a shadow schema that the next run drops.
//
// Recover puts landing rows back that were lost with a broken part.
//
// A frozen month is left alone: its landing rows expire.
package reconcile
