package sink

import (
	"strings"
	"time"

	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// maxDetail bounds what is kept of why a record could not be read, in bytes.
const maxDetail = 4 << 10

// deadLetter keeps a record that cannot be understood, byte for byte, and says
// in which month it is kept.
func deadLetter(r *consume.Record, reason, detail string) (letter *clickhouse.DeadLetter, month int) {
	at := r.Time.UTC().Truncate(time.Millisecond)
	if at.Year() < 1970 || at.Year() > 2199 { // whatever a producer's clock said, the column must hold it
		at = time.UnixMilli(0).UTC()
	}
	return &clickhouse.DeadLetter{
		LogTopic:     r.Topic,
		LogPartition: r.Partition,
		LogOffset:    r.Offset,
		AppendedAt:   at,
		Key:          string(r.Key),
		Value:        string(r.Value),
		Reason:       reason,
		Detail:       strings.ToValidUTF8(detail[:min(len(detail), maxDetail)], ""),
	}, monthOf(at)
}

// monthOf numbers months without gaps.
func monthOf(t time.Time) int { return t.Year()*12 + int(t.Month()) }
