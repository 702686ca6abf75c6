package crawl

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

var byteOrderMark = []byte("\ufeff")

// counted counts what is read of a file.
type counted struct {
	from io.Reader
	read int64
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.from.Read(b)
	c.read += int64(n)
	return n, err
}

// lines reads a file line by line and never holds more than limit bytes of one: a
// longer one is read over and only its length is told.
type lines struct {
	raw    *counted
	from   *bufio.Reader
	limit  int
	line   []byte // so far
	length int    // of it, also where it is over the limit
	number int    // of the last line, from 1
}

// errQuiet says that a file which is followed has nothing new for now.
var errQuiet = errors.New("quiet")

// ErrPacked is of a file that is followed and packed: nobody writes on to such a one.
var ErrPacked = errors.New("a file that is followed is gzip: want the one that the server writes to, and this one without --follow")

// newLines reads gzip where the first bytes say so.
func newLines(file io.Reader, limit int) (*lines, error) {
	l := &lines{raw: &counted{from: file}, limit: limit}
	l.from = bufio.NewReaderSize(l.raw, 64<<10)
	head, err := l.from.Peek(2)
	for errors.Is(err, errQuiet) {
		head, err = l.from.Peek(2)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if bytes.Equal(head, []byte{0x1f, 0x8b}) {
		if _, followed := file.(*Following); followed {
			return nil, ErrPacked
		}
		unpacked, err := gzip.NewReader(l.from)
		if err != nil {
			return nil, fmt.Errorf("unpack: %w", err)
		}
		l.from = bufio.NewReaderSize(unpacked, 64<<10)
	}
	return l, nil
}

// next returns the next line without its end, valid until the next call, and its
// length; line is nil when the length is over the limit. io.EOF ends; after errQuiet
// the same line goes on.
func (l *lines) next() (line []byte, length int, err error) {
	for {
		piece, err := l.from.ReadSlice('\n')
		ended := err == nil
		piece = bytes.TrimSuffix(piece, []byte("\n"))
		l.length += len(piece)
		if l.length <= l.limit {
			l.line = append(l.line, piece...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && l.length > 0, ended:
			line, length = l.finish()
			return line, length, nil
		default:
			return nil, 0, err
		}
	}
}

func (l *lines) finish() (line []byte, length int) {
	l.number++
	line, length = l.line, l.length
	l.line, l.length = l.line[:0], 0
	if length > l.limit {
		l.line = nil // what was gathered of it is let go
		return nil, length
	}
	line = bytes.TrimSuffix(line, []byte("\r"))
	if l.number == 1 {
		line = bytes.TrimPrefix(line, byteOrderMark)
	}
	return line, length
}
