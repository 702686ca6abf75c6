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

// The first and the longest pause before a follower tries again because an engine is away.
const leastRetry, mostRetry = time.Second, 30 * time.Second

// finishTimeout is how long a stopped follower waits until Kafka has the lines that it read.
const finishTimeout = 10 * time.Second

// FollowAccessLog imports a file, and those that take its name when it is rotated, until ctx ends, which is no error.
// progress is called with the bytes that were read of all files, retry before each pause because an engine is away.
func (im *Importer) FollowAccessLog(
	ctx context.Context, name string, log AccessLog,
	progress func(bytes int64), retry func(err error, pause time.Duration),
) (AccessLogSummary, error) {
	total := AccessLogSummary{Hosts: []Passed{}, Agents: []Passed{}, Refusals: []Refusal{}}
	for earlier := int64(0); ; {
		file, err := OpenTail(ctx, name)
		if errors.Is(err, io.EOF) {
			return total, nil
		}
		if err != nil {
			return total, err
		}
		current := int64(0)
		addProgress := func(bytes int64) { current = bytes; progress(earlier + bytes) }
		summary, err := im.followFile(ctx, file, log, addProgress, retry)
		earlier += current
		total.add(summary)
		if err := errors.Join(err, file.Close()); err != nil || ctx.Err() != nil {
			return total, err
		}
	}
}

// followFile imports a file until another one has its name. After an engine was away it imports the same file from its
// beginning, even if it has lost its name: facts that are in the warehouse are skipped.
func (im *Importer) followFile(
	ctx context.Context, file *Tail, log AccessLog, progress func(int64), retry func(error, time.Duration),
) (AccessLogSummary, error) {
	appending, cancel := lifecycle.Finishing(ctx, finishTimeout)
	defer cancel()
	imported := 0 // by earlier attempts
	for wait := leastRetry; ; wait = min(2*wait, mostRetry) {
		summary, err := im.ImportAccessLog(appending, file, log, progress)
		summary.Imported += imported
		if err == nil || ctx.Err() != nil || errors.Is(err, ErrPacked) {
			return summary, err
		}
		imported = summary.Imported
		retry(err, wait)
		_ = lifecycle.Pause(ctx, wait) // the file ends when ctx has ended
		if err := file.Rewind(); err != nil {
			return summary, err
		}
	}
}

// add adds the counts of another file.
func (s *AccessLogSummary) add(other AccessLogSummary) {
	s.Imported += other.Imported
	s.Skipped += other.Skipped
	s.Refused += other.Refused
	s.Others += other.Others
	s.Hosts, s.Agents = addPassed(s.Hosts, other.Hosts), addPassed(s.Agents, other.Agents)
	s.Refusals = append(s.Refusals, other.Refusals...)
	s.Refusals = s.Refusals[:min(len(s.Refusals), defaultLimits.listed)]
}

// Tail is a file that is written to while it is read. It ends when its name is another file's, as when logs are
// rotated, or when the file was truncated.
type Tail struct {
	stop    context.Context //nolint:containedctx // a Reader has no other way to be stopped
	file    *os.File
	bytes   int64  // of whole lines and of rest
	renamed int    // how often in a row the name was another file's
	rest    []byte // the beginning of a line
	pending []byte // lines that were not returned yet
}

const (
	pollInterval   = 250 * time.Millisecond
	renamedPolls   = 20      // in a row: servers write to the old file for a while
	longestUnended = 1 << 20 // bytes of a line that does not end
)

// errQuiet means that a followed file has nothing new at present.
var errQuiet = errors.New("nothing new at present")

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

// Rewind makes the next Read begin at the file's beginning.
func (t *Tail) Rewind() error {
	_, err := t.file.Seek(0, io.SeekStart)
	t.bytes, t.renamed, t.rest, t.pending = 0, 0, nil, nil
	return err
}

// Read returns whole lines only, since the last one may be half written. The error is errQuiet when there is nothing
// more at present, and io.EOF at the end.
func (t *Tail) Read(b []byte) (int, error) {
	for len(t.pending) == 0 {
		if t.stop.Err() != nil {
			return 0, io.EOF // the next follower reads the rest of the file
		}
		piece := make([]byte, 64<<10)
		n, err := t.file.Read(piece)
		t.bytes += int64(n)
		t.rest = append(t.rest, piece[:n]...)
		if end := bytes.LastIndexByte(t.rest, '\n') + 1; end > 0 {
			t.pending = append(t.pending, t.rest[:end]...)
			t.rest = append(t.rest[:0], t.rest[end:]...)
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

// ended reports whether another file has the name, or the file became shorter. While no file has the name, Read waits
// for the next one.
func (t *Tail) ended() bool {
	here, err := t.file.Stat()
	if err != nil {
		return true
	}
	other, err := os.Stat(t.file.Name())
	if t.renamed++; err != nil || os.SameFile(here, other) {
		t.renamed = 0
	}
	return here.Size() < t.bytes || t.renamed >= renamedPolls
}
