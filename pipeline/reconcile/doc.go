// Package reconcile compares every rollup with the landing rows that it comes from,
// month by month, and makes anew what differs.
//
// Sinks insert meanwhile: a row lands before the rollups have it, so that a month in
// which something lands differs for a moment. It is compared twice beside the sinks,
// and only if it differs both times a third time while they are held (see hold.go).
// What both sides had was read before and is remembered by part, so that the sinks
// stand still for the few rows that came last.
//
// A month is mended by making it anew beside the old one, from its landing rows:
// most of it beside the sinks, the rest while they are held, and then put in the
// place of the old one by one statement. A process that is killed at any point leaves
// each rollup as it was or as it should be, and a twin that the next one drops.
//
// A frozen month is left alone: its landing rows expire.
package reconcile
