// Package results keeps table prompt_results of Postgres: one row for each answer
// whose prompt is there, for clients that read rows and not figures.
//
// It reads the topic of answers in a consumer group of its own, so that what is slow
// or refused here holds up nothing else. A batch that is replayed leaves the rows as
// they are: a first telling adds the row that is missing, a reread changes one that
// is older. Given-up runs have no row.
package results
