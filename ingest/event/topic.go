// Package event is the contract on the log: the records that producers append and consumers read, their topics, keys,
// ids and JSON codec.
//
// A record is one JSON object. Its field v is the version of this contract: a consumer reads its own version and every
// older one, and refuses a newer one with ErrNewer, since a misread fact would be counted wrongly for ever. Timestamps
// are RFC 3339 in UTC with milliseconds.
package event

import "github.com/gofrs/uuid/v5"

// The topics, without the configured prefix.
const (
	TopicAnswers = "answers"
	TopicVisits  = "visits"
	TopicCrawls  = "crawls"
)

// Topics lists every topic of the log.
var Topics = []string{TopicAnswers, TopicVisits, TopicCrawls}

// MaxRecordBytes bounds one record's value; the topics are created with it as max.message.bytes.
const MaxRecordBytes = 8 << 20

// AnswerKey is the key of an answer's record: answers of one brand share a partition and so an order.
func AnswerKey(brandID uuid.UUID) []byte { return []byte(brandID.String()) }

// CrawlKey is the key of a crawl's record: a log that is read again comes to the partition that it came to before.
func CrawlKey(brandID uuid.UUID) []byte { return []byte(brandID.String()) }
