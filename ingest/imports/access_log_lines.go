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

// countedReader counts the bytes that are read of a file, which may be compressed.
type countedReader struct {
	from io.Reader
	read int64
}

func (c *countedReader) Read(b []byte) (int, error) {
	n, err := c.from.Read(b)
	c.read += int64(n)
	return n, err
}

// errQuiet says that a followed file has nothing new for now.
var errQuiet = errors.New("nothing new for now")

// ErrPacked refuses to follow a gzip file, which no server goes on writing.
var ErrPacked = errors.New("a file that is followed is gzip: want the one that the server writes to, and this one without --follow")

// readLines reads gzip where the first bytes say so.
func readLines(file io.Reader, refuse func(line int, why error)) (*lineReader, *countedReader, error) {
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
	if _, followed := file.(*Tail); followed {
		return nil, nil, ErrPacked
	}
	unpacked, err := gzip.NewReader(buffered)
	if err != nil {
		return nil, nil, fmt.Errorf("unpack: %w", err)
	}
	return newLineReader(unpacked, longestLogLine, refuse), raw, nil
}

// ordinals number equal lines of a file. Equal lines are of the same instant, and so near each other: a line that comes
// again after more distinct lines than are remembered counts as the earlier one.
type ordinals struct {
	recent map[[16]byte]int
	older  map[[16]byte]int // of the lines before the recent ones
	most   int
}

func newOrdinals(most int) *ordinals { return &ordinals{recent: map[[16]byte]int{}, most: most} }

// next is how many lines of a site equal this one before it.
func (o *ordinals) next(site string, line []byte) int {
	h := sha256.New()
	h.Write([]byte(site))
	h.Write([]byte{0})
	h.Write(line)
	key := [16]byte(h.Sum(nil))
	n, known := o.recent[key]
	if !known {
		n = o.older[key]
		if len(o.recent) >= o.most {
			o.older, o.recent = o.recent, map[[16]byte]int{}
		}
	}
	o.recent[key] = n + 1
	return n
}
