package spool

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/answerscope/answerscope/internal/fault"
)

// Config says where entries are kept.
type Config struct {
	Dir          string
	SegmentBytes int64               // a file that has as much takes no more entries
	Synced       func(time.Duration) // called with how long each fsync of entries took; may be nil
}

// Errors of a spool, for errors.Is.
var (
	ErrInUse  = errors.New("spool in use by another process")
	ErrClosed = errors.New("spool closed")
)

// Spool is a directory of entries. It is safe for concurrent use.
type Spool struct {
	cfg     Config
	log     *slog.Logger
	lock    *os.File
	used    atomic.Int64
	pending atomic.Int64  // records
	changed chan struct{} // one token: there may be something to read

	preparing sync.WaitGroup

	mu       sync.Mutex
	synced   *sync.Cond // on mu: some segment's fsync ended
	closed   bool
	segments map[uint32]*segment
	active   *segment // where entries are put; nil: the next one begins a file
	spare    *segment // the next active one; nil: not made yet
	last     uint32   // number of the newest segment
	streams  map[Stream]items
}

// Open opens a directory, which it creates where there is none, with what is in it. The error is ErrInUse when another
// process has it.
func Open(cfg Config, log *slog.Logger) (*Spool, error) {
	s := &Spool{cfg: cfg, log: log, changed: make(chan struct{}, 1), segments: map[uint32]*segment{}, streams: map[Stream]items{}}
	s.synced = sync.NewCond(&s.mu)
	if err := os.MkdirAll(s.quarantineDir(), 0o700); err != nil {
		return nil, fmt.Errorf("make spool %s: %w", cfg.Dir, err)
	}
	lock, err := os.OpenFile(s.path("lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open spool %s: %w", cfg.Dir, err)
	}
	// The lock goes with the process, however that ends.
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = lock.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = ErrInUse
		}
		return nil, fmt.Errorf("open spool %s: %w", cfg.Dir, err)
	}
	s.lock = lock
	if err := s.recover(); err != nil {
		_ = s.Close()
		return nil, fmt.Errorf("open spool %s: %w", cfg.Dir, err)
	}
	s.prepare()
	return s, nil
}

// Close unlocks the directory, with what is in it. What is being put fails.
func (s *Spool) Close() error {
	s.mu.Lock()
	closed := s.closed
	s.closed = true
	s.mu.Unlock()
	if closed {
		return nil
	}
	s.dropSpare()
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, g := range s.segments {
		errs = append(errs, g.file.Close())
	}
	return errors.Join(append(errs, s.lock.Close())...)
}

// Used is how many bytes the segments have, removed entries included.
func (s *Spool) Used() int64 { return s.used.Load() }

// Records is how many records are to be read.
func (s *Spool) Records() int64 { return s.pending.Load() }

// Changed has a token after something was put or released.
func (s *Spool) Changed() <-chan struct{} { return s.changed }

func (s *Spool) signal() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// Oldest is when the oldest entry was put, in seconds; zero when there is none.
func (s *Spool) Oldest() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	oldest := time.Time{}
	for _, items := range s.streams {
		if at := time.Unix(int64(items[0].at), 0); oldest.IsZero() || at.Before(oldest) {
			oldest = at
		}
	}
	return oldest
}

// Put writes an entry, whose body is first and second, and returns when it is safe on disk. One that is held is not
// shown to readers until it is released. After an error it may or may not be found after a restart.
func (s *Spool) Put(to Stream, at time.Time, records int, hold bool, first, second []byte) (Ref, error) {
	if len(to.Topic) > 255 || to.size(len(first)+len(second)) > MaxBytes {
		return Ref{}, fmt.Errorf("put entry of %d bytes for %s/%d: too large", len(first)+len(second), to.Topic, to.Partition)
	}
	start := head(to, at, records, first, second)
	s.mu.Lock()
	defer s.mu.Unlock()
	i := item{size: uint32(len(start) + len(first) + len(second)), records: uint32(records), at: uint32(at.Unix())}
	if hold {
		i.state = held
	}
	g, err := s.write(&i, start, first, second)
	if err == nil {
		fault.Pass(fault.Written)
		err = s.sync(g, int64(i.offset)+int64(i.size))
	}
	if err != nil {
		if g != nil {
			s.release(g)
		}
		return Ref{}, fmt.Errorf("put entry of %d bytes for %s/%d: %w", i.size, to.Topic, to.Partition, err)
	}
	fault.Pass(fault.Kept)
	s.add(to, i)
	if !hold {
		s.signal()
	}
	return Ref{to, i}, nil
}

// write adds an entry to the active segment, which counts it from then on. s.mu is held.
func (s *Spool) write(i *item, parts ...[]byte) (*segment, error) {
	if s.closed {
		return nil, ErrClosed
	}
	if s.active == nil || s.active.size > 0 && s.active.size+int64(i.size) > s.cfg.SegmentBytes {
		if err := s.begin(); err != nil {
			return nil, err
		}
	}
	g := s.active
	i.segment, i.offset = g.number, uint32(g.size)
	at := g.size
	for n, p := range parts {
		if n == 1 {
			fault.Pass(fault.Torn)
		}
		if _, err := g.file.WriteAt(p, at); err != nil {
			// What is there of it is not counted, and cut off when the file is found.
			s.active = nil
			_ = g.file.Truncate(g.size)
			if g.live == 0 {
				s.drop(g)
			}
			return nil, err
		}
		at += int64(len(p))
	}
	g.size = at
	g.live++
	s.used.Add(int64(i.size))
	return g, nil
}

// sync returns when all of g up to end is on disk: the first caller syncs for all that wait. s.mu is held, and unlocked
// meanwhile.
func (s *Spool) sync(g *segment, end int64) error {
	for g.synced < end && g.err == nil {
		if g.syncing {
			s.synced.Wait()
			continue
		}
		g.syncing = true
		to := g.size
		s.mu.Unlock()
		begin := time.Now()
		err := g.file.Sync()
		if s.cfg.Synced != nil {
			s.cfg.Synced(time.Since(begin))
		}
		s.mu.Lock()
		g.syncing = false
		if err == nil {
			g.synced = to
		} else {
			// A second fsync may succeed though pages were lost: this file gets no more entries.
			g.err = err
			if s.active == g {
				s.active = nil
			}
			_ = g.file.Truncate(g.synced)
		}
		s.synced.Broadcast()
	}
	if g.synced >= end {
		return nil
	}
	return g.err
}
