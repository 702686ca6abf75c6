package spool

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Ref names an entry that is in the spool.
type Ref struct {
	Stream Stream
	item   item
}

// Records is how many records the entry has, Bytes what it takes on disk.
func (r Ref) Records() int { return int(r.item.records) }

// Bytes is what the entry takes on disk.
func (r Ref) Bytes() int { return int(r.item.size) }

// At is when the entry was put, in seconds.
func (r Ref) At() time.Time { return time.Unix(int64(r.item.at), 0) }

// item is an entry in memory.
type item struct {
	segment, offset, size uint32
	records               uint32
	at                    uint32 // unix seconds
	state                 state
}

type state uint32

const (
	ready    state = iota
	heldBack       // whoever put it is still sending it
	removed        // behind one that is not
)

// stream has the entries of a Stream in the order in which they lie on disk; the first
// one is not removed.
type stream struct{ items []item }

func order(a, b item) int {
	return cmp.Or(cmp.Compare(a.segment, b.segment), cmp.Compare(a.offset, b.offset))
}

func (s *Spool) stream(l Stream) *stream {
	found := s.streams[l]
	if found == nil {
		found = &stream{}
		s.streams[l] = found
	}
	return found
}

func (l *stream) insert(i item) {
	at, _ := slices.BinarySearchFunc(l.items, i, order) // the end, nearly always
	l.items = slices.Insert(l.items, at, i)
}

// Streams are those with an entry to be read, the one with the oldest first.
func (s *Spool) Streams() []Stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []Stream
	for name, l := range s.streams {
		if l.items[0].state == ready {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b Stream) int { return order(s.streams[a].items[0], s.streams[b].items[0]) })
	return names
}

// Pending is how many entries a stream has, with those that are held.
func (s *Spool) Pending(name Stream) int {
	if s.pending.Load() == 0 {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.streams[name]; l != nil {
		return len(l.items)
	}
	return 0
}

// Next are the first entries of a stream, up to bytes and records, one at least. It
// ends before one that is held.
func (s *Spool) Next(name Stream, bytes, records int) []Ref {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.streams[name]
	if l == nil {
		return nil
	}
	var refs []Ref
	for _, i := range l.items {
		if i.state == heldBack {
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

func (i item) String() string { return fmt.Sprintf("%d/%d", i.segment, i.offset) }

// Release shows a held entry to readers.
func (s *Spool) Release(r Ref) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.streams[r.Stream]; l != nil {
		if at, ok := slices.BinarySearchFunc(l.items, r.item, order); ok {
			l.items[at].state = ready
			s.tell()
		}
	}
}

// Remove takes entries off: somebody else has them.
func (s *Spool) Remove(refs ...Ref) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	for _, r := range refs {
		l := s.streams[r.Stream]
		if l == nil {
			continue
		}
		at, ok := slices.BinarySearchFunc(l.items, r.item, order)
		if !ok || l.items[at].state == removed {
			continue
		}
		s.mark(r.item)
		s.pending.Add(-int64(r.item.records))
		l.items[at].state = removed
		gone := 0
		for gone < len(l.items) && l.items[gone].state == removed {
			gone++
		}
		l.items = l.items[gone:]
		if len(l.items) == 0 {
			delete(s.streams, r.Stream)
		}
	}
	s.tell()
}

// Move puts what a stream has into another one, at its place in the order in which it
// was put, until the process ends: on disk it keeps its stream. Nothing of it may be
// held, or being read.
func (s *Spool) Move(from, to Stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.streams[from]
	if l == nil || from == to {
		return
	}
	delete(s.streams, from)
	target := s.stream(to)
	target.items = append(target.items, l.items...)
	slices.SortFunc(target.items, order)
	s.tell()
}
