package crawl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// A Following is a file that is written to while it is read. It ends when its name is
// another file's, as when logs are rotated, or when the file was cut.
type Following struct {
	stop    context.Context //nolint:containedctx // a Reader has no other way to be stopped
	file    *os.File
	every   time.Duration
	read    int64  // bytes of whole lines and of rest
	left    int    // how often in a row the name was another file's
	rest    []byte // of a line that is not whole yet
	pending []byte // whole lines to be handed out
}

// followEvery is how often a file is looked at for more.
const followEvery = 250 * time.Millisecond

// Follow opens a file, waiting for it where there is none, until stop ends: then it
// is io.EOF.
func Follow(stop context.Context, name string) (*Following, error) {
	for stop.Err() == nil {
		file, err := os.Open(name)
		if err == nil {
			return &Following{stop: stop, file: file, every: followEvery}, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("follow: %w", err)
		}
		pause(stop, followEvery)
	}
	return nil, io.EOF
}

// Close lets go of the file.
func (f *Following) Close() error { return f.file.Close() }

// Again lets the file be read once more from its beginning, whatever its name is by now.
func (f *Following) Again() error {
	_, err := f.file.Seek(0, io.SeekStart)
	f.read, f.left, f.rest, f.pending = 0, 0, nil, nil
	return err
}

// Read gives whole lines only: what is written of the last one may be half of it. It is
// errQuiet when there is nothing more for now, and io.EOF at the end.
func (f *Following) Read(b []byte) (int, error) {
	for len(f.pending) == 0 {
		if f.stop.Err() != nil {
			return 0, io.EOF // whatever there is still: whoever follows again begins there
		}
		piece := make([]byte, 64<<10)
		n, err := f.file.Read(piece)
		f.read += int64(n)
		f.rest = append(f.rest, piece[:n]...)
		if whole := bytes.LastIndexByte(f.rest, '\n') + 1; whole > 0 {
			f.pending = append(f.pending, f.rest[:whole]...)
			f.rest = append(f.rest[:0], f.rest[whole:]...)
			break
		}
		switch {
		case len(f.rest) > longestFollowed:
			f.pending, f.rest = f.rest, nil // it is refused for its length
		case err != nil && !errors.Is(err, io.EOF):
			return 0, err
		case n > 0:
		case f.ended() || !pause(f.stop, f.every):
			return 0, io.EOF
		default:
			return 0, errQuiet
		}
	}
	n := copy(b, f.pending)
	f.pending = f.pending[n:]
	return n, nil
}

// longestFollowed bounds what is held of a line that does not end, in bytes.
const longestFollowed = 1 << 20

// leftFor is how often the name must be another file's: servers write to the old one
// until they are told.
const leftFor = 20

// ended says whether the name is another file's by now, or the file is shorter than
// what was read of it. Where there is no file of that name, the next one is waited for.
func (f *Following) ended() bool {
	here, err := f.file.Stat()
	if err != nil {
		return true
	}
	named, err := os.Stat(f.file.Name())
	if f.left++; err != nil || os.SameFile(here, named) {
		f.left = 0
	}
	return here.Size() < f.read || f.left >= leftFor
}

// pause waits, and says whether stop has not ended.
func pause(stop context.Context, long time.Duration) bool {
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-stop.Done():
		return false
	}
}
