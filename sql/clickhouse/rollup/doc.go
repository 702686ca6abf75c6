// Package rollup compares the rollups, which are the tables that views fill from landing tables, with what their
// views make of the landing rows, and rebuilds a month of one that differs.
package rollup
