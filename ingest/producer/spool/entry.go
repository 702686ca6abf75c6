package spool

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"time"
)

// A Stream is the entries of one partition, which keep their order.
type Stream struct {
	Topic     string // at most 255 bytes
	Partition int32
}

// Entry is what is kept. Its body has the form of the caller of Put.
type Entry struct {
	Stream
	At      time.Time // milliseconds
	Records int       // in its body, for the figures
	Body    []byte
}

// An entry is, in little endian:
//
//	magic 4 | mark 4 | bytes of the whole entry 4 | CRC-32C of what is before and after it but magic and mark 4 |
//	unix milliseconds 8 | partition 4 | records 4 | length of topic 1 | topic | body
//
// The mark is 0 until the entry is removed, then the complement of the checksum: no other value removes it, so that a
// byte that went bad does not.
const (
	magic    = 0x316c7073 // spl1
	markAt   = 4
	sizeAt   = 8
	sumAt    = 12
	timeAt   = 16
	headSize = 33
)

// MaxBytes is the size of the largest entry.
const MaxBytes = 64 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Why bytes are no entry.
var (
	errShort   = errors.New("entry ends too early")
	errDamaged = errors.New("entry is damaged")
)

// size is what an entry with n bytes in its body takes on disk.
func (l Stream) size(n int) int { return headSize + len(l.Topic) + n }

// head is what an entry begins with, up to its body, which is first and second.
func head(l Stream, at time.Time, records int, first, second []byte) []byte {
	b := make([]byte, headSize, headSize+len(l.Topic))
	binary.LittleEndian.PutUint32(b, magic)
	binary.LittleEndian.PutUint32(b[sizeAt:], uint32(l.size(len(first)+len(second))))
	binary.LittleEndian.PutUint64(b[timeAt:], uint64(at.UnixMilli()))
	binary.LittleEndian.PutUint32(b[timeAt+8:], uint32(l.Partition))
	binary.LittleEndian.PutUint32(b[timeAt+12:], uint32(records))
	b[headSize-1] = byte(len(l.Topic))
	b = append(b, l.Topic...)
	sum := crc32.Checksum(b[sizeAt:sumAt], castagnoli)
	for _, part := range [][]byte{b[timeAt:], first, second} {
		sum = crc32.Update(sum, castagnoli, part)
	}
	binary.LittleEndian.PutUint32(b[sumAt:], sum)
	return b
}

// decode reads the entry that b begins with; its body is a part of b. The errors are errShort, when b ends before the
// entry does, and errDamaged.
func decode(b []byte) (e Entry, size int, removed bool, err error) {
	if len(b) < headSize {
		return Entry{}, 0, false, errShort
	}
	size = int(binary.LittleEndian.Uint32(b[sizeAt:]))
	topic := int(b[headSize-1])
	if binary.LittleEndian.Uint32(b) != magic || size < headSize+topic || size > MaxBytes {
		return Entry{}, 0, false, errDamaged
	}
	if size > len(b) {
		return Entry{}, 0, false, errShort
	}
	sum := crc32.Update(crc32.Checksum(b[sizeAt:sumAt], castagnoli), castagnoli, b[timeAt:size])
	if binary.LittleEndian.Uint32(b[sumAt:]) != sum {
		return Entry{}, 0, false, errDamaged
	}
	return Entry{
		Stream:  Stream{Topic: string(b[headSize : headSize+topic]), Partition: int32(binary.LittleEndian.Uint32(b[timeAt+8:]))},
		At:      time.UnixMilli(int64(binary.LittleEndian.Uint64(b[timeAt:]))).UTC(),
		Records: int(binary.LittleEndian.Uint32(b[timeAt+12:])),
		Body:    b[headSize+topic : size],
	}, size, binary.LittleEndian.Uint32(b[markAt:]) == ^sum, nil
}
