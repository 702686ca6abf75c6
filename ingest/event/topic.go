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
