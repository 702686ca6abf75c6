package sink

import (
	"strings"
	"time"

	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// maxDetail bounds what is kept of why a record does not land, in bytes.
const maxDetail = 4 << 10

// deadLetter keeps a record that does not land, byte for byte, and says in which
// month it is kept.
func deadLetter(r *consume.Record, reason, detail string) (letter *clickhouse.DeadLetter, month int) {
	at := r.Time.UTC().Truncate(time.Millisecond)
	if at.Year() < 1970 || at.Year() > 2199 { // whatever a producer's clock said, the column must hold it
		at = time.UnixMilli(0).UTC()
	}
	letter = &clickhouse.DeadLetter{
		LogTopic:     r.Topic,
		LogPartition: r.Partition,
		LogOffset:    r.Offset,
		AppendedAt:   at,
		Key:          string(r.Key),
		Value:        string(r.Value),
		Reason:       reason,
		Detail:       detailOf(detail),
	}
	for _, h := range r.Headers {
		letter.HeaderKeys = append(letter.HeaderKeys, h.Key)
		letter.HeaderValues = append(letter.HeaderValues, string(h.Value))
	}
	return letter, monthOf(at)
}

// detailOf bounds a text.
func detailOf(text string) string { return strings.ToValidUTF8(text[:min(len(text), maxDetail)], "") }

// monthOf numbers months without gaps.
func monthOf(t time.Time) int { return t.Year()*12 + int(t.Month()) }
