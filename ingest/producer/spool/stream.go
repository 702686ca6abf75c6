package spool

import (
	"cmp"
	"fmt"
	"slices"
)

// Ref names an entry that is in the spool.
type Ref struct {
	stream Stream
	item   item
}

// Records is how many records the entry has.
func (r Ref) Records() int { return int(r.item.records) }

// item is an entry in memory.
type item struct {
	segment, offset, size uint32
	records               uint32
	at                    uint32 // unix seconds
	state                 state
}

func (i item) String() string { return fmt.Sprintf("%d/%d", i.segment, i.offset) }

type state uint32

const (
	ready   state = iota
	held          // still being sent
	removed       // behind one that is not
)

// items are the entries of a stream in the order in which they lie on disk; the first one is not removed.
type items []item

func order(a, b item) int {
	return cmp.Or(cmp.Compare(a.segment, b.segment), cmp.Compare(a.offset, b.offset))
}

// add puts an entry into its stream. s.mu is held.
func (s *Spool) add(to Stream, i item) {
	all := s.streams[to]
	at, _ := slices.BinarySearchFunc(all, i, order) // the end, nearly always
	s.streams[to] = slices.Insert(all, at, i)
	s.pending.Add(int64(i.records))
}

// find is where an entry is in its stream. s.mu is held.
func (s *Spool) find(r Ref) (*item, bool) {
	all := s.streams[r.stream]
	at, ok := slices.BinarySearchFunc(all, r.item, order)
	if !ok {
		return nil, false
	}
	return &all[at], true
}

// Streams are those with an entry to be read.
func (s *Spool) Streams() (all []Stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, items := range s.streams {
		if items[0].state == ready {
			all = append(all, name)
		}
	}
	return all
}

// Next are the first entries of a stream, up to bytes and records, one at least. It ends before one that is held.
func (s *Spool) Next(name Stream, bytes, records int) (refs []Ref) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range s.streams[name] {
		if i.state == held {
			break
		}
		if i.state == removed {
			continue
		}
		bytes, records = bytes-int(i.size), records-int(i.records)
		if len(refs) > 0 && (bytes < 0 || records < 0) {
			break
		}
		refs = append(refs, Ref{name, i})
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
		return Entry{}, fmt.Errorf("read spooled entry %s: %w", r.item, err)
	}
	return e, nil
}

func (s *Spool) bytes(r Ref, buffer []byte) ([]byte, error) {
	s.mu.Lock()
	g, closed := s.segments[r.item.segment], s.closed
	s.mu.Unlock()
	if closed || g == nil {
		return nil, fmt.Errorf("read spooled entry %s: %w", r.item, ErrClosed)
	}
	buffer = slices.Grow(buffer[:0], int(r.item.size))[:r.item.size]
	if _, err := g.file.ReadAt(buffer, int64(r.item.offset)); err != nil {
		return nil, fmt.Errorf("read spooled entry %s: %w", r.item, err)
	}
	return buffer, nil
}

// Release shows a held entry to readers.
func (s *Spool) Release(r Ref) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i, ok := s.find(r); ok {
		i.state = ready
		s.signal()
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
		i, ok := s.find(r)
		if !ok || i.state == removed {
			continue
		}
		s.mark(*i)
		s.pending.Add(-int64(i.records))
		i.state = removed
		left := s.streams[r.stream]
		for len(left) > 0 && left[0].state == removed {
			left = left[1:]
		}
		if s.streams[r.stream] = left; len(left) == 0 {
			delete(s.streams, r.stream)
		}
	}
	s.signal()
}
