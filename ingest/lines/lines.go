// Package lines reads files line by line in bounded memory.
package lines

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// Reader reads lines and never holds more than limit bytes of one: of a longer line it returns only the length.
type Reader struct {
	Number int   // of the last line, from 1
	Read   int64 // bytes so far

	from   *bufio.Reader
	limit  int
	line   []byte // so far
	length int    // of it, also where it is over the limit
}

var byteOrderMark = []byte("\ufeff")

// New returns a reader of from.
func New(from io.Reader, limit int) *Reader {
	return &Reader{from: bufio.NewReaderSize(from, 64<<10), limit: limit}
}

// Next returns the next line without its end (LF or CRLF) and without a byte-order mark at the beginning of the file,
// valid until the next call, and its length in bytes; line is nil when that is over the limit. The error is io.EOF at
// the end; after any other error of the file the same line may be read on.
func (r *Reader) Next() (line []byte, length int, err error) {
	for {
		piece, err := r.from.ReadSlice('\n')
		r.Read += int64(len(piece))
		ended := err == nil
		piece = bytes.TrimSuffix(piece, []byte("\n"))
		r.length += len(piece)
		if r.length <= r.limit {
			r.line = append(r.line, piece...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && r.length > 0, ended:
			line, length = r.finish()
			return line, length, nil
		default:
			return nil, 0, err
		}
	}
}

func (r *Reader) finish() (line []byte, length int) {
	r.Number++
	line, length = r.line, r.length
	r.line, r.length = r.line[:0], 0
	if length > r.limit {
		r.line = nil // frees what was read of it
		return nil, length
	}
	if r.Number == 1 {
		line = bytes.TrimPrefix(line, byteOrderMark)
	}
	return bytes.TrimSuffix(line, []byte("\r")), length
}
