package upkeep

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A DeadLetter is a dead letter without its bytes, with the time of its replay.
type DeadLetter struct {
	clickhouse.DeadLetterLine
	ReplayedAt time.Time // zero: not replayed
}

// deadLettersAtOnce bounds the dead letters of a list that are in memory.
const deadLettersAtOnce = 1000

// EachDeadLetter calls f with each dead letter that passes the filter, in the order of the log, until f returns an
// error, which it returns. It holds a page of them at a time.
func EachDeadLetter(
	ctx context.Context, conn *clickhouse.Conn, filter clickhouse.DeadLetterFilter, f func(DeadLetter) error,
) error {
	return deadLetterPages(ctx, conn, filter, func(page []DeadLetter) error {
		for _, letter := range page {
			if err := f(letter); err != nil {
				return err
			}
		}
		return nil
	})
}

func deadLetterPages(
	ctx context.Context, conn *clickhouse.Conn, filter clickhouse.DeadLetterFilter, f func([]DeadLetter) error,
) error {
	after := clickhouse.BeforeAll
	for {
		page, err := clickhouse.DeadLetterPage(ctx, conn, filter, after, deadLettersAtOnce)
		if err != nil || len(page) == 0 {
			return err
		}
		first := page[0].LogPosition
		after = page[len(page)-1].LogPosition
		marks, err := clickhouse.MarksBetween(ctx, conn, first, after)
		if err != nil {
			return err
		}
		if err := f(withMarks(page, marks)); err != nil || len(page) < deadLettersAtOnce {
			return err
		}
	}
}

// withMarks adds when each dead letter was replayed. Both lists are in the order of the log.
func withMarks(page []clickhouse.DeadLetterLine, marks []clickhouse.TimedMark) []DeadLetter {
	letters := make([]DeadLetter, len(page))
	for i, line := range page {
		letters[i] = DeadLetter{DeadLetterLine: line}
		for len(marks) > 0 && marks[0].LogPosition.Compare(line.LogPosition) <= 0 {
			if marks[0].LogPosition == line.LogPosition && marks[0].Mark == clickhouse.MarkReplayed {
				letters[i].ReplayedAt = marks[0].At
			}
			marks = marks[1:]
		}
	}
	return letters
}

// A Replayer appends dead letters to the log again. Two replayers at a time append a dead letter twice that both find
// unmarked.
//
// A dead letter is appended to its partition, unchanged, and is marked then, so that it is replayed once. A crash
// between the two appends it again: the sink deduplicates it by its id, on that partition. A record that still cannot
// be counted becomes a dead letter again, at its new position.
type Replayer struct {
	conn     *clickhouse.Conn
	producer *producer.Producer
	prefix   string // of the topics
}

// NewReplayer returns a Replayer for topics with a prefix.
func NewReplayer(conn *clickhouse.Conn, appender *producer.Producer, prefix string) *Replayer {
	return &Replayer{conn, appender, prefix}
}

// A ReplayRefusal is a dead letter that is not replayed.
type ReplayRefusal struct {
	clickhouse.LogPosition
	Reason string `json:"reason"`
}

// ReplaySummary counts the dead letters of a replay.
type ReplaySummary struct {
	Replayed int `json:"replayed"`
	Skipped  int `json:"skipped"` // that were replayed before
	Refused  int `json:"refused"`
}

// Replay appends the dead letters that pass the filter and existed when it began. It calls refuse with each that it
// refuses, and progress after each chunk. An error leaves the rest for another call.
func (r *Replayer) Replay(
	ctx context.Context, filter clickhouse.DeadLetterFilter,
	refuse func(ReplayRefusal), progress func(replayed int),
) (ReplaySummary, error) {
	var done ReplaySummary
	ends, err := clickhouse.DeadLetterEnds(ctx, r.conn)
	if err != nil {
		return done, err
	}
	last := map[clickhouse.TopicPartition]int64{}
	for _, p := range ends {
		last[clickhouse.TopicPartition{Topic: p.Topic, Partition: p.Partition}] = p.Offset
	}
	err = deadLetterPages(ctx, r.conn, filter, func(page []DeadLetter) error {
		var due []DeadLetter
		for _, letter := range page {
			topic, prefixed := strings.CutPrefix(letter.Topic, r.prefix)
			switch {
			case letter.Offset > last[clickhouse.TopicPartition{Topic: letter.Topic, Partition: letter.Partition}]:
				// a dead letter that was replayed and came back
			case !letter.ReplayedAt.IsZero():
				done.Skipped++
			case !prefixed || !event.IsTopic(topic):
				done.Refused++
				reason := fmt.Sprintf("topic %s is of another log: the prefix is %q here", letter.Topic, r.prefix)
				refuse(ReplayRefusal{letter.LogPosition, reason})
			default:
				due = append(due, letter)
			}
		}
		for chunk := range chunks(due) {
			appended, err := r.append(ctx, chunk)
			done.Replayed += appended
			if err != nil {
				return err
			}
			progress(done.Replayed)
		}
		return nil
	})
	return done, err
}

// Bounds of a chunk. A larger dead letter is a chunk of its own.
const (
	chunkRecords = 500
	chunkBytes   = 8 << 20
)

// chunks splits dead letters into lists of one partition each.
func chunks(letters []DeadLetter) iter.Seq[[]DeadLetter] {
	return func(yield func([]DeadLetter) bool) {
		for len(letters) > 0 {
			first := &letters[0]
			n, bytes := 1, first.Bytes
			for ; n < len(letters) && n < chunkRecords; n++ {
				next := &letters[n]
				bytes += next.Bytes
				if next.Topic != first.Topic || next.Partition != first.Partition || bytes > chunkBytes {
					break
				}
			}
			if !yield(letters[:n]) {
				return
			}
			letters = letters[n:]
		}
	}
}

// markTimeout bounds the marks of appended records if ctx has ended meanwhile.
const markTimeout = 5 * time.Second

// append appends dead letters of one partition and marks them.
func (r *Replayer) append(ctx context.Context, chunk []DeadLetter) (appended int, err error) {
	topic, partition := chunk[0].Topic, chunk[0].Partition
	offsets := make([]int64, len(chunk))
	for i := range chunk {
		offsets[i] = chunk[i].Offset
	}
	letters, err := clickhouse.DeadLettersAt(ctx, r.conn, topic, partition, offsets)
	if err != nil {
		return 0, err
	}
	records := make([]producer.Record, len(letters))
	marks := make([]clickhouse.RecordMark, len(letters))
	for i := range letters {
		position := clickhouse.LogPosition{Topic: topic, Partition: partition, Offset: letters[i].LogOffset}
		records[i] = recordOf(&letters[i])
		marks[i] = clickhouse.RecordMark{LogPosition: position, Mark: clickhouse.MarkReplayed}
	}
	appended, err = r.producer.AppendTo(ctx, strings.TrimPrefix(topic, r.prefix), int(partition), records)
	marking, cancel := context.WithTimeout(context.WithoutCancel(ctx), markTimeout)
	defer cancel()
	if errMark := clickhouse.MarkRecords(marking, r.conn, marks[:appended]); errMark != nil {
		const format = "mark %d records that were replayed, which a further replay would append again: %w"
		err = errors.Join(err, fmt.Errorf(format, appended, errMark))
	}
	return appended, err
}

func recordOf(l *clickhouse.DeadLetter) producer.Record {
	r := producer.Record{Value: []byte(l.Value)}
	if l.Key != "" {
		r.Key = []byte(l.Key)
	}
	for i, key := range l.HeaderKeys {
		r.Headers = append(r.Headers, producer.Header{Key: key, Value: []byte(l.HeaderValues[i])})
	}
	return r
}
