package spool

import (
	"cmp"
	"fmt"
	"slices"
)

// Ref names an entry that is in the spool. It is small, since there may be millions.
type Ref struct {
	partition             int32
	segment, offset, size uint32
	records               uint32
	at                    uint32 // unix seconds
	held                  bool   // still being sent
}

// Records is how many records the entry has.
func (r Ref) Records() int { return int(r.records) }

func (r Ref) String() string { return fmt.Sprintf("%d/%d", r.segment, r.offset) }

// order is that of two entries on disk.
func order(a, b Ref) int {
	return cmp.Or(cmp.Compare(a.segment, b.segment), cmp.Compare(a.offset, b.offset))
}

// add puts an entry into its stream. s.mu is held.
func (s *Spool) add(r Ref) {
	refs := s.streams[r.partition]
	at, _ := slices.BinarySearchFunc(refs, r, order) // the end, nearly always
	s.streams[r.partition] = slices.Insert(refs, at, r)
	s.pending.Add(int64(r.records))
}

// Partitions are those with an entry to be read.
func (s *Spool) Partitions() (all []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for partition, refs := range s.streams {
		if !refs[0].held {
			all = append(all, int(partition))
		}
	}
	return all
}

// Next are the first entries of a partition, up to bytes and records, one at least. It ends before one that is held.
func (s *Spool) Next(partition, bytes, records int) (refs []Ref) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.streams[int32(partition)] {
		bytes, records = bytes-int(r.size), records-int(r.records)
		if r.held || len(refs) > 0 && (bytes < 0 || records < 0) {
			break
		}
		refs = append(refs, r)
	}
	return refs
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

// Release shows a held entry to readers.
func (s *Spool) Release(r Ref) {
	s.mu.Lock()
	defer s.mu.Unlock()
	refs := s.streams[r.partition]
	if at, ok := slices.BinarySearchFunc(refs, r, order); ok {
		refs[at].held = false
		s.Signal()
	}
}

// Remove removes entries: Kafka has them.
func (s *Spool) Remove(refs ...Ref) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	for _, r := range refs {
		left := s.streams[r.partition]
		at, ok := slices.BinarySearchFunc(left, r, order)
		if !ok {
			continue
		}
		s.markRemoved(r)
		s.pending.Add(-int64(r.records))
		if at == 0 { // as usual: in constant time
			left = left[1:]
		} else {
			left = slices.Delete(left, at, at+1)
		}
		if s.streams[r.partition] = left; len(left) == 0 {
			delete(s.streams, r.partition)
		}
	}
	s.Signal()
}
