// Package spool keeps entries on this machine's disk until Kafka has them.
//
// Put returns after an fsync that several entries may share. Next and Read give the entries of a partition, and Remove
// removes them. A process that opens the directory after a kill finds whole entries, each with a checksum. A part of an
// entry at the end of a file was never acknowledged and is cut off; bytes that are wrong elsewhere are quarantined in a
// file of their own, and logged.
//
// Entries lie one after the other in segments, files that are deleted when all their entries are removed. To remove an
// entry, four bytes of it are overwritten without an fsync: a loss of power may bring removed entries back, and never
// takes one away. In memory an entry costs 24 bytes.
//
// Why not github.com/tidwall/wal: a torn tail makes its Open fail, it has no checksums, entries are removed only from
// its front, it keeps whole segments in memory, and it syncs no directory.
package spool

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/answerscope/answerscope/internal/disk"
	"github.com/answerscope/answerscope/internal/fault"
)

// Config names the directory of a spool and bounds its files.
type Config struct {
	Dir          string
	SegmentBytes int64               // a file of this size takes no more entries
	Synced       func(time.Duration) // called with the duration of each fsync of entries; may be nil
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
	changed chan struct{} // one token: there may be an entry to read

	mu       sync.Mutex
	synced   *sync.Cond // on mu: the fsync of a segment ended
	closed   bool
	segments map[uint32]*segment
	active   *segment        // takes new entries; nil: the next entry begins a file
	last     uint32          // number of the newest segment
	streams  map[int32][]Ref // by partition, in the order in which they became readable; none is empty
}

// Ref names an entry of the spool. It is small, since there may be millions.
type Ref struct {
	partition             int32
	segment, offset, size uint32
	records               uint32
	at                    uint32 // unix seconds
}

// refOf fills all fields but segment and offset.
func refOf(e Entry) Ref {
	return Ref{
		partition: int32(e.Partition), size: uint32(headSize + len(e.Body)),
		records: uint32(e.Records), at: uint32(e.At.Unix()),
	}
}

// Records returns the number of records of the entry.
func (r Ref) Records() int { return int(r.records) }

func (r Ref) String() string { return fmt.Sprintf("%d/%d", r.segment, r.offset) }

// Open opens a directory with the entries in it, and creates it where it is missing. The error is ErrInUse while
// another process uses it.
func Open(cfg Config, log *slog.Logger) (*Spool, error) {
	s := &Spool{
		cfg: cfg, log: log, changed: make(chan struct{}, 1),
		segments: map[uint32]*segment{}, streams: map[int32][]Ref{},
	}
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

// Close unlocks the directory and leaves the entries in it. A Put under way fails.
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

// Used returns the bytes of the segments, removed entries included.
func (s *Spool) Used() int64 { return s.used.Load() }

// Records returns the number of records that are not removed.
func (s *Spool) Records() int64 { return s.pending.Load() }

// Changed has a token after an entry came to be read, and after Signal.
func (s *Spool) Changed() <-chan struct{} { return s.changed }

// Signal gives Changed a token.
func (s *Spool) Signal() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// Put writes an entry and returns when it is safe on disk. A held entry is not given to readers until EndHold. After an
// error the entry may or may not be there after a restart.
func (s *Spool) Put(e Entry, hold bool) (Ref, error) {
	r, head := refOf(e), e.head()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.write(&r, head, e.Body); err != nil {
		return Ref{}, fmt.Errorf("put entry of %d bytes for partition %d: %w", r.size, e.Partition, err)
	}
	fault.Pass(fault.Kept)
	s.pending.Add(int64(r.records))
	if !hold {
		s.show(r)
	}
	return r, nil
}

// EndHold removes a held entry if it was sent, else gives it to readers.
func (s *Spool) EndHold(r Ref, sent bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !sent {
		s.show(r)
	} else if !s.closed {
		s.markRemoved(r)
	}
}

// show gives an entry to readers. s.mu is held.
func (s *Spool) show(r Ref) {
	s.streams[r.partition] = append(s.streams[r.partition], r)
	s.Signal()
}

// Partitions returns the partitions with an entry to read.
func (s *Spool) Partitions() (all []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for partition := range s.streams {
		all = append(all, int(partition))
	}
	return all
}

// Next returns the first entries of a partition, up to so many bytes and records, one at least.
func (s *Spool) Next(partition, bytes, records int) (refs []Ref) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.streams[int32(partition)] {
		bytes, records = bytes-int(r.size), records-int(r.records)
		if len(refs) > 0 && (bytes < 0 || records < 0) {
			break
		}
		refs = append(refs, r)
	}
	return refs
}

// Oldest returns when the oldest entry to read was put, in seconds; zero where there is none. An entry that was held
// may be older than those before it, by less than the time for which it was held.
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

// Remove removes entries that Next returned: Kafka has them.
func (s *Spool) Remove(refs ...Ref) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	for _, r := range refs {
		stream := s.streams[r.partition]
		switch i := slices.Index(stream, r); {
		case i < 0:
			continue
		case i == 0: // nearly always: in constant time
			stream = stream[1:]
		default:
			stream = slices.Delete(stream, i, i+1)
		}
		if s.streams[r.partition] = stream; len(stream) == 0 {
			delete(s.streams, r.partition)
		}
		s.markRemoved(r)
	}
	s.Signal()
}

// Read reads an entry, into buffer where there is room.
func (s *Spool) Read(r Ref, buffer []byte) (Entry, error) {
	text, err := s.bytes(r, buffer)
	if err != nil {
		return Entry{}, err
	}
	e, _, _, err := decode(text)
	if err != nil {
		return Entry{}, fmt.Errorf("read spooled entry %s: %w", r, err)
	}
	return e, nil
}

func (s *Spool) bytes(r Ref, buffer []byte) ([]byte, error) {
	s.mu.Lock()
	g, closed := s.segments[r.segment], s.closed
	s.mu.Unlock()
	if closed || g == nil {
		return nil, fmt.Errorf("read spooled entry %s: %w", r, ErrClosed)
	}
	buffer = slices.Grow(buffer[:0], int(r.size))[:r.size]
	if _, err := g.file.ReadAt(buffer, int64(r.offset)); err != nil {
		return nil, fmt.Errorf("read spooled entry %s: %w", r, err)
	}
	return buffer, nil
}
