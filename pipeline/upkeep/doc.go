// Package upkeep keeps the stores in order beside the sinks: it migrates them, copies edits to the warehouse, purges
// deleted brands, lets months expire and replays dead letters.
package upkeep
