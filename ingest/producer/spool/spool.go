// Package spool keeps entries on this machine's disk until Kafka has them.
//
// An entry is put, which returns after an fsync that it may share with others; read, in the order of its partition; and
// removed. The next process that opens the directory finds what a killed one leaves: whole entries, each with a
// checksum. A part of an entry at the end of a file was never acknowledged and is cut off; bytes that are wrong
// elsewhere are quarantined in a file of their own, and logged.
//
// Entries lie one after the other in segments, files that are deleted when all their entries are removed. To remove an
// entry, four bytes of it are overwritten without an fsync: a loss of power may bring removed entries back, and never
// takes one away. In memory an entry costs 28 bytes.
//
// Why not github.com/tidwall/wal: a torn tail makes its Open fail, it has no checksums, entries are removed only from
// its front, it keeps whole segments in memory, and it syncs no directory.
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

	"github.com/answerscope/answerscope/internal/disk"
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

	mu       sync.Mutex
	synced   *sync.Cond // on mu: some segment's fsync ended
	closed   bool
	segments map[uint32]*segment
	active   *segment        // where entries are put; nil: the next one begins a file
	last     uint32          // number of the newest segment
	streams  map[int32][]Ref // entries by partition, in the order in which they lie on disk; none is empty
}

// Open opens a directory, which it creates where there is none, with what is in it. The error is ErrInUse when another
// process has it.
func Open(cfg Config, log *slog.Logger) (*Spool, error) {
	s := &Spool{cfg: cfg, log: log, changed: make(chan struct{}, 1), segments: map[uint32]*segment{}, streams: map[int32][]Ref{}}
	s.synced = sync.NewCond(&s.mu)
	if err := disk.MakeDir(s.path("quarantine")); err != nil {
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
	return s, nil
}

// Close unlocks the directory, with what is in it. What is being put fails.
func (s *Spool) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
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

// Changed has a token after something was put or released, and after Signal.
func (s *Spool) Changed() <-chan struct{} { return s.changed }

// Signal gives Changed a token.
func (s *Spool) Signal() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// Oldest is when the oldest entry was put, in seconds; zero when there is none.
func (s *Spool) Oldest() (oldest time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, refs := range s.streams {
		if at := time.Unix(int64(refs[0].at), 0); oldest.IsZero() || at.Before(oldest) {
			oldest = at
		}
	}
	return oldest
}

// Put writes an entry and returns when it is safe on disk. One that is held is not shown to readers until it is
// released. After an error it may or may not be found after a restart.
func (s *Spool) Put(e Entry, hold bool) (Ref, error) {
	size := headSize + len(e.Body)
	r := Ref{partition: int32(e.Partition), size: uint32(size), records: uint32(e.Records), at: uint32(e.At.Unix()), held: hold}
	head := e.head()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.write(&r, head, e.Body); err != nil {
		return Ref{}, fmt.Errorf("put entry of %d bytes for partition %d: %w", size, e.Partition, err)
	}
	fault.Pass(fault.Kept)
	s.add(r)
	if !hold {
		s.Signal()
	}
	return r, nil
}

// write adds an entry to the active segment, which counts it from then on, and syncs it. s.mu is held.
func (s *Spool) write(r *Ref, head, body []byte) error {
	if s.closed {
		return ErrClosed
	}
	if s.active == nil || s.active.size > 0 && s.active.size+int64(r.size) > s.cfg.SegmentBytes {
		if err := s.begin(); err != nil {
			return err
		}
	}
	g := s.active
	r.segment, r.offset = g.number, uint32(g.size)
	_, err := g.file.WriteAt(head, g.size)
	if err == nil {
		fault.Pass(fault.Torn)
		_, err = g.file.WriteAt(body, g.size+headSize)
	}
	if err != nil {
		// What is there of it is not counted, and cut off when the file is found.
		s.active = nil
		_ = g.file.Truncate(g.size)
		if g.live == 0 {
			s.drop(g)
		}
		return err
	}
	g.size += int64(r.size)
	g.live++
	s.used.Add(int64(r.size))
	fault.Pass(fault.Written)
	if err := s.sync(g, g.size); err != nil {
		s.release(g)
		return err
	}
	return nil
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
		to, isNew := g.size, g.synced == 0
		s.mu.Unlock()
		begin := time.Now()
		err := g.file.Sync()
		if err == nil && isNew {
			err = disk.SyncDir(s.cfg.Dir)
		}
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
