// Package postgres owns the control plane: the schema in migrate/, the statements in query/, and the Go types of their
// parameters and rows.
//
// Connections act as role answerscope_service, whatever the login, so that row-level security holds for them too. A
// caller's own transactions run through DB.As. Postgres refuses texts with a zero byte.
package postgres
