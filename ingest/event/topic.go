// Package event is the contract on the log: the records that producers append and consumers read, their topics, keys,
// ids and JSON codec.
//
// A record is one JSON object. Its field v is the version of this contract: a consumer reads its own version and every
// older one, and refuses a newer one with ErrNewer, since a misread fact would stay wrong. Timestamps are RFC 3339 in
// UTC with milliseconds.
package event

import (
	"slices"

	"github.com/gofrs/uuid/v5"
)

// A Topic describes a topic of the log. Producers, sinks, retention, export and commands range over Topics.
type Topic struct {
	Name   string // without the configured prefix; also of its landing table, and of its facts in commands and settings
	Group  string // the consumer group of its sink, without the prefix
	Record any    // zero value of its records
}

// The names of the topics.
const (
	TopicAnswers = "answers"
	TopicVisits  = "visits"
	TopicCrawls  = "crawls"
)

// Topics lists every topic of the log. A new one also needs a file here for its record; a landing table with its view
// of log_progress (sql/clickhouse/migrate), its rows (sql/clickhouse) and its export (sql/clickhouse/query); a sink
// (pipeline/sink) and a line in pipeline.go. Schemas, goldens and the dictionary are generated.
var Topics = []Topic{
	{TopicAnswers, "answerscope-sink", Answer{}},
	{TopicVisits, "answerscope-sink-visits", Visit{}},
	{TopicCrawls, "answerscope-sink-crawls", Crawl{}},
}

// TopicNames returns the name of every topic.
func TopicNames() (names []string) {
	for _, t := range Topics {
		names = append(names, t.Name)
	}
	return names
}

// IsTopic reports whether there is a topic of that name.
func IsTopic(name string) bool { return slices.Contains(TopicNames(), name) }

const (
	// MaxRecordBytes is max.message.bytes of the topics, which counts a record's key, headers and batch too.
	MaxRecordBytes = 8 << 20

	// MaxValueBytes bounds a record's value, and leaves enough for its key, headers and batch.
	MaxValueBytes = MaxRecordBytes - 4<<10
)

// BrandKey returns the key of the records of a brand. They share a partition and so an order, and records of a file
// that is read again come to the same partition.
func BrandKey(brandID uuid.UUID) []byte { return []byte(brandID.String()) }
