// Package postgres owns everything the service says to Postgres: the schema in
// migrate/, the statements in query/, and the Go types that go in and come out.
//
// Connections act as role answerscope_service, whoever signs in, so that row-level
// security holds for them too. Texts that Postgres cannot keep (a zero byte) are
// refused by it.
package postgres
