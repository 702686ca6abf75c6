package imports

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/gofrs/uuid/v5"
)

// Refusal is a refused line, with what would be right.
type Refusal struct {
	Line   int       `json:"line"`              // from 1; 0 for a fact that came from no file
	Brand  uuid.UUID `json:"brand_id,omitzero"` // where it concerns one of several brands
	Reason string    `json:"reason"`
}

// Interrupted is an import that ended early. The same import again continues from there.
type Interrupted struct {
	Line     int    // the last line of which all facts are on the log; 0 none
	Imported int    // facts that Kafka had acknowledged
	Facts    string // what they are called
	Cause    error
}

func (e *Interrupted) Error() string {
	return fmt.Sprintf("stopped after line %d; Kafka has acknowledged %d %s, and the same import again goes on from there: %v", e.Line, e.Imported, e.Facts, e.Cause)
}

func (e *Interrupted) Unwrap() error { return e.Cause }

// lineReader reads lines and never holds more than limit bytes of one: a longer line is refused.
type lineReader struct {
	Number int   // of the last line, from 1
	Read   int64 // bytes so far

	from   *bufio.Reader
	limit  int
	refuse func(line int, why error)
	line   []byte // so far
	length int    // of it, also where it is over the limit
}

var byteOrderMark = []byte("\ufeff")

// newLineReader returns a reader of from. refuse is called with each line over the limit.
func newLineReader(from io.Reader, limit int, refuse func(line int, why error)) *lineReader {
	return &lineReader{from: bufio.NewReaderSize(from, 64<<10), limit: limit, refuse: refuse}
}

// Next returns the next line that is not blank, valid until the next call, without its end (LF or CRLF) and without a
// byte-order mark at the beginning of the file. The error is io.EOF at the end; after any other error of the file the
// same line may be read on.
func (r *lineReader) Next() ([]byte, error) {
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
	r.Number++
	line, length := r.line, r.length
	r.line, r.length = r.line[:0], 0
	if length > r.limit {
		r.line = nil // frees what was read of it
		r.refuse(r.Number, fmt.Errorf("line of %d bytes: want at most %d", length, r.limit))
		return nil
	}
	if r.Number == 1 {
		line = bytes.TrimPrefix(line, byteOrderMark)
	}
	return bytes.TrimSuffix(line, []byte("\r"))
}
