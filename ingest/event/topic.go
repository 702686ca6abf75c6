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

const (
	// MaxRecordBytes is max.message.bytes of the topics, which counts a record's key, headers and batch too.
	MaxRecordBytes = 8 << 20

	// MaxValueBytes bounds a record's value: the rest is more than what is around it has.
	MaxValueBytes = MaxRecordBytes - 4<<10
)

// BrandKey is the key of the records of a brand. They share a partition and so an order, and those of a file that is
// read again come to the partition that they came to before.
func BrandKey(brandID uuid.UUID) []byte { return []byte(brandID.String()) }
