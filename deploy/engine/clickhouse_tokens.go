package engine

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/answerscope/answerscope/internal/disk"
)

// removeLostTokens removes the tokens of missing parts from the deduplication logs of every table below data, the
// directory of a stopped server. MergeTree writes a token and then renames the part into place: killed in between, it
// would take the replay of that insert for a duplicate. Parts that were removed in another way do not matter, since at
// most the last insert of each writer is replayed.
func removeLostTokens(data string, log *slog.Logger) error {
	logs, err := filepath.Glob(filepath.Join(data, "store", "*", "*", "deduplication_logs", "deduplication_log_*.txt"))
	if err != nil {
		return fmt.Errorf("find deduplication logs: %w", err)
	}
	for _, path := range logs {
		table := filepath.Dir(filepath.Dir(path))
		parts, err := partsOf(table)
		if err != nil {
			return err
		}
		removed, err := removeTokensIn(path, parts)
		if err != nil {
			return fmt.Errorf("repair %s: %w", path, err)
		}
		if len(removed) > 0 {
			log.Info("inserts that a kill cut short may be repeated", "engine", "clickhouse",
				"table", filepath.Base(table), "parts", removed)
		}
	}
	return nil
}

// part is a range of blocks of one partition: one insert, or several that were merged.
type part struct {
	partition string
	min, max  int64
}

// partName is PARTITION_MIN_MAX_LEVEL, with a suffix _MUTATION if rows were rewritten.
var partName = regexp.MustCompile(`^(.+?)_(\d+)_(\d+)_\d+(?:_\d+)?$`)

func parsePart(name string) (part, bool) {
	m := partName.FindStringSubmatch(name)
	if m == nil {
		return part{}, false
	}
	lowest, errMin := strconv.ParseInt(m[2], 10, 64)
	highest, errMax := strconv.ParseInt(m[3], 10, 64)
	return part{m[1], lowest, highest}, errMin == nil && errMax == nil
}

// partsOf lists the complete parts of a table.
func partsOf(table string) ([]part, error) {
	entries, err := os.ReadDir(table)
	if err != nil {
		return nil, fmt.Errorf("list parts: %w", err)
	}
	var parts []part
	for _, entry := range entries {
		if p, ok := parsePart(entry.Name()); ok && entry.IsDir() && !strings.HasPrefix(entry.Name(), "tmp") {
			parts = append(parts, p)
		}
	}
	return parts, nil
}

// removeTokensIn rewrites a log without the tokens of missing parts, and returns the names of these parts. The line of
// an inserted token has 1, the part and the token.
func removeTokensIn(path string, parts []part) (removed []string, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var rest bytes.Buffer
	for line := range bytes.Lines(text) {
		fields := strings.Split(string(line), "\t")
		if len(fields) == 3 && fields[0] == "1" {
			if p, ok := parsePart(fields[1]); ok && !slices.ContainsFunc(parts, p.within) {
				removed = append(removed, fields[1])
				continue
			}
		}
		rest.Write(line)
	}
	if len(removed) == 0 {
		return nil, nil
	}
	return removed, disk.ReplaceFile(path, rest.Bytes(), 0o640)
}

func (p part) within(other part) bool {
	return p.partition == other.partition && other.min <= p.min && p.max <= other.max
}
