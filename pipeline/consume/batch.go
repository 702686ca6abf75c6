package consume

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"time"

	"github.com/segmentio/kafka-go"
)

// Record is one record of a partition. Key and Value are not shared with anything.
type Record struct {
	Topic     string
	Partition int32
	Offset    int64
	Key       []byte
	Value     []byte
	Headers   []Header  // only dead letters keep them
	Time      time.Time // of its append
}

// Header is a key and a value beside a record.
type Header = kafka.Header

// Batch is a contiguous range of a partition's records, decoded by the target.
type Batch[T any] struct {
	Topic     string
	Partition int32
	First     int64
	Last      int64
	Checksum  uint32 // CRC-32C of the first record's value
	Plan      Plan
	Items     []T
	Repeated  bool // some of it may have landed: its plan was found open, or the end of an insert is not known

	// Lock is held from plan to commit; nil without a Config.Lock.
	Lock SinkLock
	// FetchAll fetches records of the batch, by rising offsets, from the log once more.
	FetchAll func(ctx context.Context, offsets []int64) ([]*Record, error)

	trace  *batchTrace
	oldest time.Time // of the append of its first record
	bytes  int       // of keys and values
}

// Token identifies the batch to a target that deduplicates by tokens. The checksum tells it from a batch of the same
// offsets in a log that was replaced.
func (b *Batch[T]) Token() string {
	return fmt.Sprintf("%s/%08x", b, b.Checksum)
}

// String identifies the batch to people.
func (b *Batch[T]) String() string {
	return fmt.Sprintf("%s/%d@%d-%d", b.Topic, b.Partition, b.First, b.Last)
}

// ErrRefused is returned by Insert when the target is reachable and has room, but refuses the batch. The partition
// stops if it stays refused.
var ErrRefused = errors.New("refused")

// A Target decodes records into items and inserts batches of them.
type Target[T any] interface {
	// Version is the extract version that new plans name.
	Version() int
	// Supports reports whether a plan of that version can be replayed.
	Supports(version int) bool
	// Decode makes the item of a record, and the number of its month. It is pure: the same record and version always
	// make the same item. A malformed record makes an item too, since a batch has no gaps. An error stops the partition
	// before the record: only a newer build understands it.
	Decode(version int, r Record) (item T, month int, err error)
	// Insert inserts the rows of a batch that an earlier attempt has not inserted. It is retried until it returns nil.
	// It calls checkOwnership right before each insert, and inserts nothing after an error of it: another consumer may
	// have the partition by then.
	Insert(ctx context.Context, b *Batch[T], checkOwnership func() error) error
	// LastOffset is the largest offset of a partition that was ever inserted; ok is false when none was.
	LastOffset(ctx context.Context, topic string, partition int32) (last int64, ok bool, err error)
}

// Limits bound a batch. A record that is larger than Bytes is a batch of its own.
type Limits struct {
	Records int
	Bytes   int
	Linger  time.Duration // how long the first record waits for others
}

// maxMonths is how many months a batch may touch. An insert adds for each of them an entry to the deduplication windows
// and a part to every table. With 4, an unsorted import over ten months made inserts of six rows.
const maxMonths = 24

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// builder grows one batch until it is full.
type builder[T any] struct {
	batch  Batch[T]
	limits Limits
	months []int
}

// newBuilder allocates room for items.
func (p *partition[T]) newBuilder(items int) *builder[T] {
	return &builder[T]{limits: p.consumer.cfg.Limits, batch: Batch[T]{
		Topic: p.consumer.cfg.Topic, Partition: p.id, Items: make([]T, 0, items), FetchAll: p.fetchAll,
	}}
}

// fits reports whether a record of that size and month may join.
func (b *builder[T]) fits(size, month int) bool {
	if len(b.batch.Items) == 0 {
		return true
	}
	return !b.full() && b.batch.bytes+size <= b.limits.Bytes &&
		(slices.Contains(b.months, month) || len(b.months) < maxMonths)
}

func (b *builder[T]) full() bool {
	return len(b.batch.Items) >= b.limits.Records || b.batch.bytes >= b.limits.Bytes
}

func (b *builder[T]) add(r *Record, item T, month int) {
	if len(b.batch.Items) == 0 {
		b.batch.First = r.Offset
		b.batch.oldest = r.Time
		b.batch.Checksum = crc32.Checksum(r.Value, castagnoli)
	}
	b.batch.Last = r.Offset
	b.batch.Items = append(b.batch.Items, item)
	b.batch.bytes += len(r.Key) + len(r.Value)
	if !slices.Contains(b.months, month) {
		b.months = append(b.months, month)
	}
}

// end completes the batch, if it has any records. stop is the reason why there will be no further one.
func (b *builder[T]) end(stop error) collected[T] {
	if len(b.batch.Items) == 0 {
		b.batch.trace.end(stop)
		return collected[T]{stop: stop}
	}
	b.batch.trace.collected(b.batch.First, b.batch.Last, len(b.batch.Items), b.batch.bytes)
	b.batch.Plan.Last = b.batch.Last
	return collected[T]{&b.batch, stop}
}
