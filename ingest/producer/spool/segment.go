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
	synced  int64 // bytes known to be on disk; with the first of them the file's name is
	syncing bool
	err     error // of an fsync
}

// keep is how large a file may be that stays when all in it is removed, so that a broker that is slow now and then does
// not cost a new file each time.
const keep = 1 << 20

const suffix = ".spool"

func (s *Spool) path(name string) string { return filepath.Join(s.cfg.Dir, name) }

func (s *Spool) segmentPath(n uint32) string { return s.path(fmt.Sprintf("%010d%s", n, suffix)) }

// begin makes a new segment the active one. s.mu is held.
func (s *Spool) begin() error {
	s.last++
	f, err := os.OpenFile(s.segmentPath(s.last), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	fault.Pass(fault.Begun)
	before := s.active
	s.active = &segment{number: s.last, file: f}
	s.segments[s.last] = s.active
	if before != nil && before.live == 0 {
		s.drop(before)
	}
	return nil
}

// release counts an entry of g no more. s.mu is held.
func (s *Spool) release(g *segment) {
	g.live--
	if g.live > 0 || g == s.active && g.size <= keep {
		return
	}
	if g == s.active {
		s.active = nil
	}
	s.drop(g)
}

// drop deletes a segment in which nothing is left. Should the file come back after a loss of power, its entries are
// marked or read once more. s.mu is held.
func (s *Spool) drop(g *segment) {
	delete(s.segments, g.number)
	s.used.Add(-g.size)
	_ = g.file.Close()
	if err := os.Remove(g.file.Name()); err != nil {
		s.log.Warn("spool file stays", "file", g.file.Name(), "error", err,
			"next", "nothing now: what is in it is read once more after the next start, and counted once")
	}
}

// mark marks an entry on disk as removed. s.mu is held.
func (s *Spool) mark(r Ref) {
	g := s.segments[r.segment]
	var sum, mark [4]byte
	_, err := g.file.ReadAt(sum[:], int64(r.offset)+sumAt)
	if err == nil {
		binary.LittleEndian.PutUint32(mark[:], ^binary.LittleEndian.Uint32(sum[:]))
		_, err = g.file.WriteAt(mark[:], int64(r.offset)+markAt)
	}
	if err != nil {
		s.log.Warn("spooled entry is not marked on disk", "file", g.file.Name(), "offset", r.offset, "error", err,
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
