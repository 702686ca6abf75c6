package intake

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// lines reads a file line by line and never holds more than limit bytes of one:
// a longer line is read over and only its length is told.
type lines struct {
	from   *bufio.Reader
	limit  int
	line   []byte
	number int   // of the last line, from 1
	read   int64 // bytes so far
}

var byteOrderMark = []byte("\ufeff")

func newLines(from io.Reader, limit int) *lines {
	return &lines{from: bufio.NewReaderSize(from, 64<<10), limit: limit}
}

// next returns the next line without its end, valid until the next call, and
// its length; line is nil when the length is over the limit. io.EOF ends.
func (l *lines) next() (line []byte, length int, err error) {
	l.line = l.line[:0]
	for {
		piece, err := l.from.ReadSlice('\n')
		l.read += int64(len(piece))
		ended := err == nil
		if ended {
			piece = piece[:len(piece)-1]
		}
		length += len(piece)
		if length <= l.limit {
			l.line = append(l.line, piece...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && length > 0, ended:
			return l.finish(length), length, nil
		default:
			return nil, 0, err
		}
	}
}

func (l *lines) finish(length int) []byte {
	l.number++
	if length > l.limit {
		l.line = nil // what was gathered of it is let go
		return nil
	}
	if l.number == 1 {
		return bytes.TrimPrefix(l.line, byteOrderMark)
	}
	return l.line
}
