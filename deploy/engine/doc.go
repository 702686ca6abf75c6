// Package engine runs the stores and the log that answerscope needs when no
// address of theirs is given: ClickHouse, PostgreSQL and a Kafka broker, each
// kept under one directory, bound to loopback, and gone when this process is.
//
// The engines are real ones out of pinned packages (see package-lock.json and
// apache/pom.xml beside this file; `make engines` and `make kafka-apache` fetch
// them). Open is how a command gets them: it starts the engines of a data
// directory or joins those that another process runs there. StartClickHouse,
// StartPostgres, StartKafka and StartApacheKafka start one each.
package engine
