package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"

	"github.com/answerscope/answerscope/internal/disk"
)

// repairCommits drops from the embedded broker's file of commits what is no whole entry. A full disk cuts an entry off,
// and the broker appends the next ones behind it; but it reads the file only as far as its entries are whole.
func repairCommits(path string) error {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("repair commits: %w", err)
	}
	whole := make([]byte, 0, len(raw))
	for rest := raw; len(rest) > 0; {
		size := entrySize(rest)
		whole = append(whole, rest[:size]...)
		rest = rest[max(size, 1):]
	}
	if len(whole) == len(raw) {
		return nil
	}
	return disk.ReplaceFile(path, whole, 0o600)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// entrySize is the size of the entry that b begins with, 0 if it begins with none: four bytes have the length of what
// is behind the next four, which have its checksum, a version of two bytes first.
func entrySize(b []byte) int {
	if len(b) < 10 {
		return 0
	}
	size := 8 + int(binary.LittleEndian.Uint32(b))
	if size < 10 || size > len(b) || crc32.Checksum(b[8:size], castagnoli) != binary.LittleEndian.Uint32(b[4:]) {
		return 0
	}
	return size
}
