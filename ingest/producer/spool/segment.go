package spool

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
)

// segment is one file of entries.
type segment struct {
	number  uint32
	file    *os.File
	size    int64
	live    int   // entries that are not struck off, or still being put
	synced  int64 // bytes known to be on disk
	syncing bool
	err     error // of an fsync
}

// keep is how large a file may be that stays when all in it is struck off, so that
// a broker that is slow now and then does not cost a new file each time.
const keep = 1 << 20

const suffix = ".spool"

func (s *Spool) path(name string) string { return filepath.Join(s.cfg.Dir, name) }
func (s *Spool) asideDir() string        { return s.path("aside") }
func (s *Spool) segmentPath(n uint32) string {
	return s.path(fmt.Sprintf("%010d%s", n, suffix))
}

// begin makes a new segment the active one. s.mu is held.
func (s *Spool) begin() error {
	before := s.active
	f, err := os.OpenFile(s.segmentPath(s.last+1), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := syncDir(s.cfg.Dir); err != nil {
		f.Close()
		_ = os.Remove(f.Name())
		return err
	}
	s.last++
	s.active = &segment{number: s.last, file: f}
	s.segments[s.last] = s.active
	if before != nil && before.live == 0 {
		s.remove(before)
	}
	return nil
}

// release counts an entry of g no more. s.mu is held.
func (s *Spool) release(g *segment) {
	g.live--
	switch {
	case g.live > 0:
	case g != s.active:
		s.remove(g)
	case g.size > keep:
		s.active = nil
		s.remove(g)
	}
}

// remove drops a segment in which nothing is left. Should the file come back after a
// loss of power, its entries are struck off or read once more. s.mu is held.
func (s *Spool) remove(g *segment) {
	delete(s.segments, g.number)
	s.used.Add(-g.size)
	g.file.Close()
	if err := os.Remove(g.file.Name()); err != nil {
		s.log.Warn("spool file stays", "file", g.file.Name(), "error", err, "next", "nothing now: what is in it is read once more after the next start, and counted once")
	}
}

// strike marks an entry on disk. s.mu is held.
func (s *Spool) strike(i item) {
	g := s.segments[i.segment]
	var sum, mark [4]byte
	_, err := g.file.ReadAt(sum[:], int64(i.offset)+sumAt)
	if err == nil {
		binary.LittleEndian.PutUint32(mark[:], ^binary.LittleEndian.Uint32(sum[:]))
		_, err = g.file.WriteAt(mark[:], int64(i.offset)+markAt)
	}
	if err != nil {
		s.log.Warn("spooled entry is not struck off on disk", "file", g.file.Name(), "offset", i.offset, "error", err,
			"next", "look at the disk; after a restart the entry is sent once more, and counted once")
	}
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
