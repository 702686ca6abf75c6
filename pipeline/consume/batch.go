package consume

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"time"
)

// Record is one record of a partition. Key and Value are not shared with
// anything.
type Record struct {
	Topic     string
	Partition int32
	Offset    int64
	Key       []byte
	Value     []byte
	Headers   []Header  // nothing of ours reads them
	Time      time.Time // when it was appended
}

// Header is what a producer says of a record beside it.
type Header struct {
	Key   string
	Value []byte
}

// Batch is a contiguous range of a partition's records as the target read them.
type Batch[T any] struct {
	Topic     string
	Partition int32
	First     int64
	Last      int64
	Checksum  uint32 // CRC-32C of the first record's value
	Plan      Plan
	Items     []T

	// Lock is held while the batch is landed; nil without a Config.Lock.
	Lock SinkLock
	// FetchAll reads records of it at rising offsets from the log once more, as they came.
	FetchAll func(ctx context.Context, offsets []int64) ([]*Record, error)

	trace  *batchTrace // nil when nobody traces it
	oldest time.Time   // when its first record was appended
	bytes  int         // of keys and values
}

// Token names the batch to a target that takes each token once. The checksum
// keeps the batches of a log that was replaced from passing for those of the
// old one.
func (b *Batch[T]) Token() string {
	return fmt.Sprintf("%s/%d@%d-%d/%08x", b.Topic, b.Partition, b.First, b.Last, b.Checksum)
}

// String names the batch to people.
func (b *Batch[T]) String() string {
	return fmt.Sprintf("%s/%d@%d-%d", b.Topic, b.Partition, b.First, b.Last)
}

// ErrNewer is what a target's Read returns of a record that only a newer build
// understands. The partition stops before it.
var ErrNewer = errors.New("record of a newer version")

// ErrRefused is what a target's Land returns when the target is there and has room, but refuses the batch. The partition
// stops if it stays refused.
var ErrRefused = errors.New("refused")

// A Target reads records into items and takes batches of them.
type Target[T any] interface {
	// Version is the extract version that new plans name.
	Version() int
	// Supports says whether a plan of that version can be replayed.
	Supports(version int) bool
	// Read makes the item of a record. It is pure: the same record and version
	// always make the same item. Month is the number of the month that the item
	// falls into. A record that cannot be understood makes an item too, since a
	// batch has no gaps; only ErrNewer keeps a record out.
	Read(version int, r Record) (item T, month int, err error)
	// Land takes the batch wholly, and what of it was taken before only once. It
	// is repeated until it returns nil. It calls checkOwnership right before each
	// insert, and inserts nothing after an error of it: the partition may be another's by then. After any of these calls
	// the plan may have expired (Plan.Expired): then the token alone does not keep the target from taking it twice.
	Land(ctx context.Context, b *Batch[T], checkOwnership func() error) error
	// Position is the largest offset of a partition that was ever taken; ok is
	// false when none was.
	Position(ctx context.Context, topic string, partition int32) (last int64, ok bool, err error)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// builder grows one batch until it is full.
type builder[T any] struct {
	batch  Batch[T]
	limits Limits
	months []int
}

// Limits bound a batch. A record that is larger than Bytes is a batch of its
// own.
type Limits struct {
	Records int
	Bytes   int
	Linger  time.Duration // how long the first record waits for others
}

// maxMonths is how many months a batch may touch. An insert costs an entry of the
// deduplication windows and a part of every table for each; of 50,000 entries
// what counts is only the last insert of each partition. With 4, an import of
// answers in no order over ten months made inserts of six rows.
const maxMonths = 24

// newBuilder expects a batch of so many items.
func newBuilder[T any](topic string, partition int32, limits Limits, items int) *builder[T] {
	return &builder[T]{batch: Batch[T]{Topic: topic, Partition: partition, Items: make([]T, 0, items)}, limits: limits}
}

// fits says whether a record of that size and month may join.
func (b *builder[T]) fits(size, month int) bool {
	if len(b.batch.Items) == 0 {
		return true
	}
	return len(b.batch.Items) < b.limits.Records && b.batch.bytes+size <= b.limits.Bytes && (b.touches(month) || len(b.months) < maxMonths)
}

func (b *builder[T]) touches(month int) bool {
	return slices.Contains(b.months, month)
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
	if !b.touches(month) {
		b.months = append(b.months, month)
	}
}

// traced says in the batch's trace what it has become.
func (b *builder[T]) traced() {
	b.batch.trace.collected(b.batch.First, b.batch.Last, len(b.batch.Items), b.batch.bytes)
}

func (b *builder[T]) full() bool {
	return len(b.batch.Items) >= b.limits.Records || b.batch.bytes >= b.limits.Bytes
}
