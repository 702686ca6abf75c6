// Package sink turns a batch of the log into one ClickHouse insert.
//
// The rows of a batch depend on its plan, its records, and landing rows below
// it; never on the clock or on how far another consumer got. A batch that is
// replayed is therefore the same rows under the same token, of which the server
// takes what it lacks.
package sink
