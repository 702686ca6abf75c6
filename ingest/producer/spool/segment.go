package spool

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/answerscope/answerscope/internal/disk"
	"github.com/answerscope/answerscope/internal/fault"
)

// segment is one file of entries.
type segment struct {
	number  uint32
	file    *os.File
	size    int64
	live    int   // entries that are not removed, or still being put
	synced  int64 // bytes known to be on disk; the first sync covers the file's name too
	syncing bool
	err     error // of an fsync
}

// maxIdleSegment is the largest file that stays when all its entries are removed, so that a broker that is slow now and
// then does not cost a new file each time.
const maxIdleSegment = 1 << 20

const suffix = ".spool"

func (s *Spool) path(name string) string { return filepath.Join(s.cfg.Dir, name) }

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
		// A torn entry is not counted; recovery cuts it off.
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
		s.uncount(g)
		return err
	}
	return nil
}

// begin makes a new segment the active one. s.mu is held.
func (s *Spool) begin() error {
	s.last++
	f, err := os.OpenFile(s.path(segmentName(s.last)), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
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

func segmentName(number uint32) string { return fmt.Sprintf("%010d%s", number, suffix) }

// sync returns when g is on disk up to end: the first caller syncs for all that wait. s.mu is held, and unlocked
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

// markRemoved marks an entry on disk. s.mu is held.
func (s *Spool) markRemoved(r Ref) {
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
	s.pending.Add(-int64(r.records))
	s.uncount(g)
}

// uncount takes an entry off the count of its segment, and drops the segment after its last one. s.mu is held.
func (s *Spool) uncount(g *segment) {
	g.live--
	if g.live > 0 || g == s.active && g.size <= maxIdleSegment {
		return
	}
	if g == s.active {
		s.active = nil
	}
	s.drop(g)
}

// drop deletes a segment without entries. Should the file come back after a loss of power, its entries are marked, or
// read once more. s.mu is held.
func (s *Spool) drop(g *segment) {
	delete(s.segments, g.number)
	s.used.Add(-g.size)
	_ = g.file.Close()
	if err := os.Remove(g.file.Name()); err != nil {
		s.log.Warn("spool file stays", "file", g.file.Name(), "error", err,
			"next", "nothing now: its entries are read once more after the next start, and counted once")
	}
}

// recover reads the segments of the directory. s is not shared yet, so that no lock is taken.
func (s *Spool) recover() error {
	names, err := os.ReadDir(s.cfg.Dir)
	if err != nil {
		return err
	}
	var numbers []uint32
	for _, n := range names {
		digits, ok := strings.CutSuffix(n.Name(), suffix)
		if number, err := strconv.ParseUint(digits, 10, 32); ok && err == nil {
			numbers = append(numbers, uint32(number))
		}
	}
	slices.Sort(numbers)
	for _, number := range numbers {
		s.last = number
		if err := s.load(number); err != nil {
			return fmt.Errorf("read segment %d: %w", number, err)
		}
	}
	if s.Records() > 0 {
		s.log.Info("records wait in the spool", "dir", s.cfg.Dir, "records", s.Records(), "bytes", s.Used())
	}
	return nil
}

// load reads the entries of one segment, which takes no more of them.
func (s *Spool) load(number uint32) error {
	f, err := os.OpenFile(s.path(segmentName(number)), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	g := &segment{number: number, file: f}
	s.segments[number] = g
	text, err := os.ReadFile(f.Name())
	if err != nil {
		return err
	}
	for at := 0; at < len(text); {
		e, size, removed, err := decode(text[at:])
		if err == nil {
			if !removed {
				r := refOf(e)
				r.segment, r.offset = number, uint32(at)
				s.pending.Add(int64(r.records))
				s.show(r)
				g.live++
			}
			at += size
			continue
		}
		next := following(text, at)
		if next == len(text) && (errors.Is(err, errShort) || blank(text[at:])) {
			// A process or the power went during a write: nothing of it was acknowledged.
			s.log.Info("spool file ends in a part of an entry, which is cut off", "file", f.Name(), "offset", at,
				"bytes", len(text)-at)
			text, err = text[:at], f.Truncate(int64(at))
		} else {
			at, err = next, s.quarantineDamaged(g, at, text[at:next])
		}
		if err != nil {
			return err
		}
	}
	g.size, g.synced = int64(len(text)), int64(len(text))
	s.used.Add(g.size)
	if g.live == 0 {
		s.drop(g)
	}
	return nil
}

// following returns where the next whole entry after at begins, or the end.
func following(text []byte, at int) int {
	sign := binary.LittleEndian.AppendUint32(nil, magic)
	for at++; at < len(text); at++ {
		n := bytes.Index(text[at:], sign)
		if n < 0 {
			break
		}
		at += n
		if _, _, _, err := decode(text[at:]); err == nil {
			return at
		}
	}
	return len(text)
}

// blank reports a tail for which a file system had made room and not yet written.
func blank(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }

// quarantineDamaged keeps the bytes between whole entries in a file.
func (s *Spool) quarantineDamaged(g *segment, at int, text []byte) error {
	file, err := s.quarantine(fmt.Sprintf("%d-%d-damaged", g.number, at), text)
	if err != nil {
		return err
	}
	s.log.Error("spool is damaged: records may be lost", "segment", g.file.Name(), "offset", at, "bytes", len(text),
		"file", file,
		"next", "look at the disk and the file system; the bytes are kept in file, whole entries around them are sent")
	return nil
}

// Quarantine copies the bytes of an entry, damaged or not, to a file of its own and returns the file's name.
func (s *Spool) Quarantine(r Ref, why string) (string, error) {
	text, err := s.bytes(r, nil)
	if err != nil {
		return "", err
	}
	return s.quarantine(fmt.Sprintf("%d-%d-%s", r.segment, r.offset, why), text)
}

// quarantine writes a file that survives a loss of power.
func (s *Spool) quarantine(name string, text []byte) (string, error) {
	name = s.path(filepath.Join("quarantine", name))
	if err := disk.ReplaceFile(name, text, 0o600); err != nil {
		return "", fmt.Errorf("quarantine %d bytes: %w", len(text), err)
	}
	return name, nil
}
