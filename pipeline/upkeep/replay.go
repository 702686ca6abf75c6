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

// A Replayer appends dead letters to the log again. Two at a time append what both find before one has marked it.
//
// A dead letter is appended to the partition that it came from, as it came, and is marked then, so that it is replayed
// once. A crash between the two appends it again: the sink deduplicates it by its id, on that partition. A record that
// cannot be counted this time either becomes a dead letter again, at its new position.
type Replayer struct {
	conn     *clickhouse.Conn
	producer *producer.Producer
	prefix   string // of the topics
}

// NewReplayer does nothing yet.
func NewReplayer(conn *clickhouse.Conn, appender *producer.Producer, prefix string) *Replayer {
	return &Replayer{conn, appender, prefix}
}

// A ReplayRefusal is a dead letter that is not replayed, and why.
type ReplayRefusal struct {
	clickhouse.LogPosition
	Reason string `json:"reason"`
}

// ReplaySummary says how a replay ended.
type ReplaySummary struct {
	Replayed int `json:"replayed"`
	Skipped  int `json:"skipped"` // that were replayed before
	Refused  int `json:"refused"`
}

// Replay appends the dead letters that pass the filter and that were there when it began, without those that they
// become again. It calls refuse with each that it refuses, and progress after each portion. An error leaves the rest
// for another call.
func (r *Replayer) Replay(ctx context.Context, filter clickhouse.DeadLetterFilter, refuse func(ReplayRefusal), progress func(replayed int)) (ReplaySummary, error) {
	var done ReplaySummary
	lastOffsets, err := r.lastOffsets(ctx)
	if err != nil {
		return done, err
	}
	err = deadLetterPages(ctx, r.conn, filter, func(lines []DeadLetter) error {
		var due []DeadLetter
		for _, line := range lines {
			topic, prefixed := strings.CutPrefix(line.Topic, r.prefix)
			switch {
			case line.Offset > lastOffsets[clickhouse.TopicPartition{Topic: line.Topic, Partition: line.Partition}]:
			case !line.ReplayedAt.IsZero():
				done.Skipped++
			case !prefixed || !event.IsTopic(topic):
				done.Refused++
				refuse(ReplayRefusal{line.LogPosition, fmt.Sprintf("topic %s is of another log: the prefix is %q here", line.Topic, r.prefix)})
			default:
				due = append(due, line)
			}
		}
		for portion := range portions(due) {
			appended, err := r.append(ctx, portion)
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

// lastOffsets are those of the dead letters that there are now.
func (r *Replayer) lastOffsets(ctx context.Context) (map[clickhouse.TopicPartition]int64, error) {
	last, err := clickhouse.DeadLetterEnds(ctx, r.conn)
	offsets := map[clickhouse.TopicPartition]int64{}
	for _, p := range last {
		offsets[clickhouse.TopicPartition{Topic: p.Topic, Partition: p.Partition}] = p.Offset
	}
	return offsets, err
}

// Bounds of a portion, but for one dead letter that is larger.
const (
	portionRecords = 500
	portionBytes   = 8 << 20
)

// portions are dead letters of one partition each, as many as are held at once.
func portions(lines []DeadLetter) iter.Seq[[]DeadLetter] {
	return func(yield func([]DeadLetter) bool) {
		for len(lines) > 0 {
			n, bytes := 1, lines[0].Bytes
			for n < len(lines) && n < portionRecords && lines[n].Topic == lines[0].Topic && lines[n].Partition == lines[0].Partition && bytes+lines[n].Bytes <= portionBytes {
				bytes += lines[n].Bytes
				n++
			}
			if !yield(lines[:n]) {
				return
			}
			lines = lines[n:]
		}
	}
}

// markTimeout bounds the marks of appended records when ctx has ended meanwhile.
const markTimeout = 5 * time.Second

// append appends dead letters of one partition, marks them, and says how many.
func (r *Replayer) append(ctx context.Context, portion []DeadLetter) (appended int, err error) {
	topic, id := portion[0].Topic, portion[0].Partition
	var offsets []int64
	for _, line := range portion {
		offsets = append(offsets, line.Offset)
	}
	letters, err := clickhouse.DeadLettersAt(ctx, r.conn, topic, id, offsets)
	if err != nil {
		return 0, err
	}
	records := make([]producer.Record, len(letters))
	marks := make([]clickhouse.RecordMark, len(letters))
	for i := range letters {
		records[i] = record(&letters[i])
		marks[i] = clickhouse.RecordMark{LogPosition: clickhouse.LogPosition{Topic: topic, Partition: id, Offset: letters[i].LogOffset}, Mark: clickhouse.MarkReplayed}
	}
	appended, err = r.producer.AppendTo(ctx, strings.TrimPrefix(topic, r.prefix), int(id), records)
	marking, cancel := context.WithTimeout(context.WithoutCancel(ctx), markTimeout)
	defer cancel()
	if unmarked := clickhouse.MarkRecords(marking, r.conn, marks[:appended]); unmarked != nil {
		err = errors.Join(err, fmt.Errorf("mark %d records that were replayed, which a further replay would append again: %w", appended, unmarked))
	}
	return appended, err
}

func record(l *clickhouse.DeadLetter) producer.Record {
	r := producer.Record{Value: []byte(l.Value)}
	if l.Key != "" {
		r.Key = []byte(l.Key)
	}
	for i, key := range l.HeaderKeys {
		r.Headers = append(r.Headers, producer.Header{Key: key, Value: []byte(l.HeaderValues[i])})
	}
	return r
}
