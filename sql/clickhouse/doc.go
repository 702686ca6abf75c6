// Package clickhouse owns all statements that the service sends to ClickHouse: the schema in migrate/, the shared
// expressions in function/, the queries in query/, and the Go types of their parameters and rows.
//
// A metric is one file. The server has each file of query/ as a parameterized view of the same name, so that an
// analyst's SQL and the API cannot disagree; the API sends the file without what its parameters make superfluous.
package clickhouse
