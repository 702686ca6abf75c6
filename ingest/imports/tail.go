package imports

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/answerscope/answerscope/internal/lifecycle"
)

// Tail is a file that is written to while it is read. It ends when its name is another file's, as when logs are
// rotated, or when the file was truncated.
type Tail struct {
	stop    context.Context //nolint:containedctx // a Reader has no other way to be stopped
	file    *os.File
	read    int64  // bytes of whole lines and of rest
	renamed int    // how often in a row the name was another file's
	rest    []byte // of a line that is not whole yet
	pending []byte // whole lines that were not returned yet
}

// pollInterval is how often a file is read for more.
const pollInterval = 250 * time.Millisecond

// OpenTail opens a file, waiting for it where there is none; io.EOF when stop ends meanwhile.
func OpenTail(stop context.Context, name string) (*Tail, error) {
	for stop.Err() == nil {
		file, err := os.Open(name)
		if err == nil {
			return &Tail{stop: stop, file: file}, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("follow: %w", err)
		}
		_ = lifecycle.Pause(stop, pollInterval)
	}
	return nil, io.EOF
}

// Close closes the file.
func (t *Tail) Close() error { return t.file.Close() }

// Rewind makes the next Read begin at the file's beginning, whatever its name is by now.
func (t *Tail) Rewind() error {
	_, err := t.file.Seek(0, io.SeekStart)
	t.read, t.renamed, t.rest, t.pending = 0, 0, nil, nil
	return err
}

// Read returns whole lines only, since the last one may be half written. The error is errQuiet when there is nothing
// more for now, and io.EOF at the end.
func (t *Tail) Read(b []byte) (int, error) {
	for len(t.pending) == 0 {
		if t.stop.Err() != nil {
			return 0, io.EOF // whatever is left of the file: the next follower reads it
		}
		piece := make([]byte, 64<<10)
		n, err := t.file.Read(piece)
		t.read += int64(n)
		t.rest = append(t.rest, piece[:n]...)
		if whole := bytes.LastIndexByte(t.rest, '\n') + 1; whole > 0 {
			t.pending = append(t.pending, t.rest[:whole]...)
			t.rest = append(t.rest[:0], t.rest[whole:]...)
			break
		}
		switch {
		case len(t.rest) > longestUnended:
			t.pending, t.rest = t.rest, nil // it is refused for its length
		case err != nil && !errors.Is(err, io.EOF):
			return 0, err
		case n > 0:
		case t.ended() || lifecycle.Pause(t.stop, pollInterval) != nil:
			return 0, io.EOF
		default:
			return 0, errQuiet
		}
	}
	n := copy(b, t.pending)
	t.pending = t.pending[n:]
	return n, nil
}

// longestUnended bounds what is held of a line that does not end, in bytes.
const longestUnended = 1 << 20

// renamedPolls is how often in a row the name must be another file's: servers write to the old one for a while.
const renamedPolls = 20

// ended reports whether the name is another file's by now, or the file is shorter than what was read of it. While no
// file has the name, the next one is waited for.
func (t *Tail) ended() bool {
	here, err := t.file.Stat()
	if err != nil {
		return true
	}
	named, err := os.Stat(t.file.Name())
	if t.renamed++; err != nil || os.SameFile(here, named) {
		t.renamed = 0
	}
	return here.Size() < t.read || t.renamed >= renamedPolls
}
