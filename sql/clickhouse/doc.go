// Package clickhouse owns everything the service says to ClickHouse: the schema in migrate/, the shared expressions in
// function/, the questions in query/, and the Go types that go in and come out.
//
// A metric is one file. The server keeps each file of query/ as a parameterized view of the same name, so that an
// analyst's SQL and the API cannot disagree; the API sends the file itself, byte for byte.
package clickhouse
