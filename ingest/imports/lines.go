package imports

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
)

// lineReader reads lines and never holds more than limit bytes of one: a longer line is refused.
type lineReader struct {
	number int   // of the last line, from 1
	bytes  int64 // read so far

	from   *bufio.Reader
	limit  int
	refuse func(line int, err error)
	line   []byte // so far
	length int    // of it, also where it is over the limit
}

var byteOrderMark = []byte("\ufeff")

// newLineReader returns a reader of from. refuse is called with each line over the limit.
func newLineReader(from io.Reader, limit int, refuse func(line int, err error)) *lineReader {
	return &lineReader{from: bufio.NewReaderSize(from, 64<<10), limit: limit, refuse: refuse}
}

// next returns the next line that is not blank, valid until the next call, without its end (LF or CRLF) and without a
// byte-order mark at the beginning of the file. The error is io.EOF at the end; after any other error of the file the
// same line may be read on.
func (r *lineReader) next() ([]byte, error) {
	for {
		piece, err := r.from.ReadSlice('\n')
		r.bytes += int64(len(piece))
		ended := err == nil
		piece = bytes.TrimSuffix(piece, []byte("\n"))
		r.length += len(piece)
		if r.length <= r.limit {
			r.line = append(r.line, piece...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && r.length > 0, ended:
			if line := r.finish(); len(bytes.TrimSpace(line)) > 0 {
				return line, nil
			}
		default:
			return nil, err
		}
	}
}

// finish returns nil for a line that is refused.
func (r *lineReader) finish() []byte {
	r.number++
	line, length := r.line, r.length
	r.line, r.length = r.line[:0], 0
	if length > r.limit {
		r.line = nil // frees what was read of it
		r.refuse(r.number, fmt.Errorf("line of %d bytes: want at most %d", length, r.limit))
		return nil
	}
	if r.number == 1 {
		line = bytes.TrimPrefix(line, byteOrderMark)
	}
	return bytes.TrimSuffix(line, []byte("\r"))
}

// countedReader counts the bytes that are read of a file, which may be compressed.
type countedReader struct {
	from  io.Reader
	bytes int64
}

func (c *countedReader) Read(b []byte) (int, error) {
	n, err := c.from.Read(b)
	c.bytes += int64(n)
	return n, err
}

// ErrPacked refuses to follow a gzip file, which no server goes on writing.
var ErrPacked = errors.New("a file that is followed is gzip: " +
	"want the one that the server writes to, and this one without --follow")

// openLines opens an access log, which is gzip if it begins like that.
func openLines(file io.Reader, refuse func(line int, err error)) (*lineReader, *countedReader, error) {
	raw := &countedReader{from: file}
	buffered := bufio.NewReaderSize(raw, 64<<10)
	head, err := buffered.Peek(2)
	for errors.Is(err, errQuiet) {
		head, err = buffered.Peek(2)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	if !bytes.Equal(head, []byte{0x1f, 0x8b}) {
		return newLineReader(buffered, longestLogLine, refuse), raw, nil
	}
	if _, follows := file.(*Tail); follows {
		return nil, nil, ErrPacked
	}
	unpacked, err := gzip.NewReader(buffered)
	if err != nil {
		return nil, nil, fmt.Errorf("unpack: %w", err)
	}
	return newLineReader(unpacked, longestLogLine, refuse), raw, nil
}

// ordinals number equal lines of a file. Equal lines have the same instant, and so are near each other: a line that
// comes again after more than limit distinct lines counts as the earlier one.
type ordinals struct {
	recent map[[16]byte]int
	older  map[[16]byte]int // of the lines before the recent ones
	limit  int
}

func newOrdinals(limit int) *ordinals { return &ordinals{recent: map[[16]byte]int{}, limit: limit} }

// next returns how many lines of a site equal this one before it.
func (o *ordinals) next(site string, line []byte) int {
	h := sha256.New()
	h.Write([]byte(site))
	h.Write([]byte{0})
	h.Write(line)
	key := [16]byte(h.Sum(nil))
	n, ok := o.recent[key]
	if !ok {
		n = o.older[key]
		if len(o.recent) >= o.limit {
			o.older, o.recent = o.recent, map[[16]byte]int{}
		}
	}
	o.recent[key] = n + 1
	return n
}
