// Package metrics answers /api/v1: what AI answers say of a brand, as JSON that other people's reports are built on.
//
// An endpoint is one file with its body's type and one function from a caller and a query string to that body; the
// table in metrics.go names them all. A figure is never computed here: it comes ready-made from a query of
// sql/clickhouse, and this package decides who may ask, what may be asked, and how the answer is written.
package metrics
