// Package rest serves a schema of PostgreSQL over HTTP in the dialect of PostgREST, so that its clients work unchanged.
//
// A request takes five steps, each of which may refuse it:
//
//   - parse reads the request into a query (request.go, parse_*.go, prefer.go, accept.go, span.go, body.go). It knows
//     no schema.
//   - plan finds what the query names in the schema cache (cache.go), which is read from PostgreSQL's catalog and read
//     again on NOTIFY pgrst: relations, columns, relationships, functions (plan_*.go).
//   - render writes one statement: identifiers from the cache, values as parameters (render_*.go).
//   - run sends it, in one transaction that has the caller's role and claims (run.go, prepared.go).
//   - respond makes status, headers and body of the result (respond.go).
//
// The package knows no table by name: which schemas it serves, and to whom, is configuration.
package rest
