package spool

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"time"
)

// Entry is a batch of records for one partition. The caller of Put defines the format of its body.
type Entry struct {
	Partition int
	At        time.Time // milliseconds
	Records   int       // in its body, for the metrics
	Body      []byte
}

// An entry is, in little endian:
//
//	magic 4 | mark 4 | bytes of the whole entry 4 | CRC-32C of the size and of all that follows the checksum 4 |
//	unix milliseconds 8 | partition 4 | records 4 | body
//
// The mark is 0 until the entry is removed, then the complement of the checksum: no other value removes it, so that a
// byte that went bad does not.
const (
	magic    = 0x326c7073 // spl2
	markAt   = 4
	sizeAt   = 8
	sumAt    = 12
	timeAt   = 16
	headSize = 32
)

// maxBytes is more than the size of the largest entry.
const maxBytes = 64 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// The reasons why bytes are no entry.
var (
	errShort   = errors.New("entry ends too early")
	errDamaged = errors.New("entry is damaged")
)

// head returns the bytes of an entry before its body.
func (e Entry) head() []byte {
	b := make([]byte, headSize)
	binary.LittleEndian.PutUint32(b, magic)
	binary.LittleEndian.PutUint32(b[sizeAt:], uint32(headSize+len(e.Body)))
	binary.LittleEndian.PutUint64(b[timeAt:], uint64(e.At.UnixMilli()))
	binary.LittleEndian.PutUint32(b[timeAt+8:], uint32(e.Partition))
	binary.LittleEndian.PutUint32(b[timeAt+12:], uint32(e.Records))
	binary.LittleEndian.PutUint32(b[sumAt:], checksum(b, e.Body))
	return b
}

// checksum covers an entry without magic, mark and checksum.
func checksum(head, body []byte) uint32 {
	sum := crc32.Checksum(head[sizeAt:sumAt], castagnoli)
	return crc32.Update(crc32.Update(sum, castagnoli, head[timeAt:headSize]), castagnoli, body)
}

// decode reads the entry at the beginning of b; its body is a part of b. The error is errShort where b ends before the
// entry does, else errDamaged.
func decode(b []byte) (e Entry, size int, removed bool, err error) {
	if len(b) < headSize {
		return Entry{}, 0, false, errShort
	}
	size = int(binary.LittleEndian.Uint32(b[sizeAt:]))
	if binary.LittleEndian.Uint32(b) != magic || size < headSize || size > maxBytes {
		return Entry{}, 0, false, errDamaged
	}
	if size > len(b) {
		return Entry{}, 0, false, errShort
	}
	sum := checksum(b, b[headSize:size])
	if binary.LittleEndian.Uint32(b[sumAt:]) != sum {
		return Entry{}, 0, false, errDamaged
	}
	return Entry{
		Partition: int(int32(binary.LittleEndian.Uint32(b[timeAt+8:]))),
		At:        time.UnixMilli(int64(binary.LittleEndian.Uint64(b[timeAt:]))).UTC(),
		Records:   int(binary.LittleEndian.Uint32(b[timeAt+12:])),
		Body:      b[headSize:size],
	}, size, binary.LittleEndian.Uint32(b[markAt:]) == ^sum, nil
}
