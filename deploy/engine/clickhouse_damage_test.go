package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit/tempdir"
	"github.com/answerscope/answerscope/internal/testkit/wait"
)

// A part that was written while the disk was full and cannot be read takes the engine down with it once, and the rows
// are there again, from the parts that it was merged from.
func TestAPartThatAFullDiskDamagedIsReplacedByItsSources(t *testing.T) {
	t.Parallel()
	dir := tempdir.Passable(t)
	var full atomic.Bool
	engines, err := Open(t.Context(),
		Options{DataDir: dir, ClickHouse: true, Owner: "all", Exclusive: true, Log: quiet, Room: func() error {
			if full.Load() {
				return errors.New("full")
			}
			return nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	mustEnd(t, engines)
	ask := func(statement string) (string, error) {
		engines.mu.Lock()
		defer engines.mu.Unlock()
		return engines.running[0].(*ClickHouse).query(context.WithoutCancel(t.Context()), statement)
	}
	for _, statement := range []string{
		"CREATE TABLE answerscope.lines (line UInt32, text String) ENGINE = MergeTree ORDER BY line SETTINGS " +
			"old_parts_lifetime = 480",
		"INSERT INTO answerscope.lines SELECT number, toString(number) FROM numbers(100000)",
		"INSERT INTO answerscope.lines SELECT number, toString(number) FROM numbers(100000)",
		"OPTIMIZE TABLE answerscope.lines FINAL",
	} {
		if _, err := ask(statement); err != nil {
			t.Fatal(err)
		}
	}
	merged, err := ask("SELECT path FROM system.parts WHERE table = 'lines' AND active")
	if err != nil {
		t.Fatal(err)
	}
	marks, err := filepath.Glob(filepath.Join(merged, "*mrk*"))
	if err != nil || len(marks) == 0 {
		t.Fatalf("marks of %s: %v, %v", merged, marks, err)
	}
	for _, file := range marks {
		if err := os.Truncate(file, 0); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ask("SYSTEM DROP MARK CACHE"); err != nil {
		t.Fatal(err)
	}
	if got, err := ask("SELECT sum(cityHash64(text)) FROM answerscope.lines"); err == nil {
		t.Fatalf("the damaged part was read: %s", got)
	}

	full.Store(true)
	wait.For(t, "the rows to be back", func() bool {
		rows, err := ask("SELECT count(), uniqExact(text) FROM answerscope.lines WHERE NOT ignore(text)")
		return err == nil && rows == "200000\t100000"
	})
	if detached, err := ask("SELECT name FROM system.detached_parts"); err != nil ||
		!strings.HasPrefix(detached, "broken-on-start") {
		t.Errorf("detached: %s, %v", detached, err)
	}
}
