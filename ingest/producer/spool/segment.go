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

	"github.com/answerscope/answerscope/internal/disk"
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
	s.release(g)
}

// recover finds what is in the directory. s is not shared yet, so that no lock is taken.
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

// load finds what is in one segment. Nothing is added to it any more.
func (s *Spool) load(number uint32) error {
	f, err := os.OpenFile(s.segmentPath(number), os.O_RDWR, 0)
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
		e, size, gone, err := decode(text[at:])
		if err == nil {
			if !gone {
				s.add(Ref{int32(e.Partition), number, uint32(at), uint32(size), uint32(e.Records), uint32(e.At.Unix()), false})
				g.live++
			}
			at += size
			continue
		}
		next := following(text, at)
		if next == len(text) && (errors.Is(err, errShort) || blank(text[at:])) {
			text, err = text[:at], s.cutOff(f, at, len(text)-at)
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

// cutOff removes what was being written when the process or the power went: it was not acknowledged.
func (s *Spool) cutOff(f *os.File, at, bytes int) error {
	s.log.Info("spool file ends in a part of an entry, which is cut off", "file", f.Name(), "offset", at, "bytes", bytes)
	return f.Truncate(int64(at))
}

// quarantineDamaged keeps the bytes between whole entries in a file.
func (s *Spool) quarantineDamaged(g *segment, at int, text []byte) error {
	file, err := s.quarantine(fmt.Sprintf("%d-%d-damaged", g.number, at), text)
	if err != nil {
		return err
	}
	s.log.Error("spool is damaged: records may be lost", "segment", g.file.Name(), "offset", at, "bytes", len(text), "file", file,
		"next", "look at the disk and the file system; the bytes are kept in file, whatever is whole around them is sent")
	return nil
}

// following is where the next whole entry after at begins, or the end.
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

// Quarantine copies the bytes of an entry, whatever they are, to a file of its own. It returns the file's name.
func (s *Spool) Quarantine(r Ref, why string) (string, error) {
	text, err := s.bytes(r, nil)
	if err != nil {
		return "", err
	}
	return s.quarantine(fmt.Sprintf("%d-%d-%s", r.segment, r.offset, why), text)
}

// quarantine writes a file that is there, whole, when it returns.
func (s *Spool) quarantine(name string, text []byte) (string, error) {
	name = s.path(filepath.Join("quarantine", name))
	f, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.Write(text)
		err = errors.Join(err, f.Sync(), f.Close(), disk.SyncDir(s.path("quarantine")))
	}
	if err != nil {
		return "", fmt.Errorf("quarantine %d bytes: %w", len(text), err)
	}
	return name, nil
}
