package spool

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"

	"github.com/answerscope/answerscope/internal/fault"
)

// segment is one file of entries.
type segment struct {
	number  uint32
	file    *os.File
	size    int64
	live    int   // entries that are not removed, or still being put
	synced  int64 // bytes known to be on disk
	syncing bool
	err     error // of an fsync
}

// keep is how large a file may be that stays when all in it is removed, so that a broker that is slow now and then does
// not cost a new file each time.
const keep = 1 << 20

const suffix = ".spool"

func (s *Spool) path(name string) string { return filepath.Join(s.cfg.Dir, name) }
func (s *Spool) quarantineDir() string   { return s.path("quarantine") }
func (s *Spool) segmentPath(n uint32) string {
	return s.path(fmt.Sprintf("%010d%s", n, suffix))
}

// begin makes a new segment the active one. s.mu is held.
func (s *Spool) begin() error {
	before := s.active
	g := s.spare
	s.spare = nil
	if g == nil {
		var err error
		s.last++
		if g, err = s.create(s.last); err != nil {
			return err
		}
	}
	s.active = g
	s.segments[g.number] = g
	if before != nil && before.live == 0 {
		s.drop(before)
	}
	s.prepare()
	return nil
}

// create makes the file of a segment, which is there after a loss of power too.
func (s *Spool) create(number uint32) (*segment, error) {
	f, err := os.OpenFile(s.segmentPath(number), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	fault.Pass(fault.Begun)
	if err := syncDir(s.cfg.Dir); err != nil {
		_ = f.Close()
		_ = os.Remove(f.Name())
		return nil, err
	}
	return &segment{number: number, file: f}, nil
}

// prepare creates the next segment's file beforehand, so that no Put waits for the directory's fsync. s.mu is held.
func (s *Spool) prepare() {
	s.last++
	number := s.last
	s.preparing.Go(func() {
		g, err := s.create(number)
		if err != nil {
			return // it is tried again when the segment is needed, and reported then
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if number != s.last { // too late: a later segment has entries already
			g.discard()
			return
		}
		s.spare = g
	})
}

// discard deletes a file without entries. One that stays is deleted at the next start.
func (g *segment) discard() {
	_ = g.file.Close()
	_ = os.Remove(g.file.Name())
}

// dropSpare deletes the file that is not needed after all.
func (s *Spool) dropSpare() {
	s.preparing.Wait()
	if s.spare != nil {
		s.spare.discard()
	}
}

// release counts an entry of g no more. s.mu is held.
func (s *Spool) release(g *segment) {
	g.live--
	switch {
	case g.live > 0:
	case g != s.active:
		s.drop(g)
	case g.size > keep:
		s.active = nil
		s.drop(g)
	}
}

// drop deletes a segment in which nothing is left. Should the file come back after a loss of power, its entries are
// marked or read once more. s.mu is held.
func (s *Spool) drop(g *segment) {
	delete(s.segments, g.number)
	s.used.Add(-g.size)
	_ = g.file.Close()
	if err := os.Remove(g.file.Name()); err != nil {
		s.log.Warn("spool file stays", "file", g.file.Name(), "error", err, "next", "nothing now: what is in it is read once more after the next start, and counted once")
	}
}

// mark marks an entry on disk as removed. s.mu is held.
func (s *Spool) mark(i item) {
	g := s.segments[i.segment]
	var sum, mark [4]byte
	_, err := g.file.ReadAt(sum[:], int64(i.offset)+sumAt)
	if err == nil {
		binary.LittleEndian.PutUint32(mark[:], ^binary.LittleEndian.Uint32(sum[:]))
		_, err = g.file.WriteAt(mark[:], int64(i.offset)+markAt)
	}
	if err != nil {
		s.log.Warn("spooled entry is not marked on disk", "file", g.file.Name(), "offset", i.offset, "error", err,
			"next", "look at the disk; after a restart the entry is sent once more, and counted once")
	}
	fault.Pass(fault.Removed)
	s.release(g)
}

func syncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
