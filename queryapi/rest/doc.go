// Package rest serves a schema of PostgreSQL over HTTP in the dialect of PostgREST, so that its clients work unchanged.
//
// A request takes five steps, each of which may refuse it:
//
//   - parse reads the request into a query (request.go, parse_*.go, prefer.go, accept.go, span.go, body.go). It knows
//     no schema.
//   - plan finds what the query names in the schema cache (cache.go), which is read from PostgreSQL's catalog and read
//     again on NOTIFY pgrst: relations, columns, relationships, functions (plan_*.go).
//   - render writes one statement: identifiers from the cache or quoted, values as parameters (render_*.go).
//   - run sends it, in one transaction that has the caller's role and claims (run.go, prepared.go).
//   - respond makes status, headers and body of the result (respond.go).
//
// The package knows no table by name: which schemas it serves, and to whom, is configuration.
//
// It has about 4,900 lines of code, where 4,000 were planned. The rest is what clients see of PostgREST beyond its
// results, and what scenarios compare word for word: what a text that cannot be read should have been (scan.go, 350
// lines that follow the rules of PostgREST's parser), names that were probably meant (resolve.go, plan_call.go), the
// choices of an ambiguous relationship (relationship.go), and relationships through views, whose columns are traced
// through their stored definitions (view.go).
package rest
