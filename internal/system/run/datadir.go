package run

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
)

// DataDir is a directory for engines; PostgreSQL, another user under root, must pass.
func DataDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "answerscope-cli-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("kept %s", dir)
			return
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return filepath.Join(dir, "var")
}

// MigratedDir is a DataDir whose ClickHouse and PostgreSQL have their schemas: a copy of one that was migrated once.
func MigratedDir(t *testing.T) string {
	t.Helper()
	archive := testkit.Once(t, "cli-migrated-"+store.Fingerprint(t, "sql")+".tar", func() ([]byte, error) {
		dir := DataDir(t)
		Must(t, []string{"ANSWERSCOPE_DATA_DIR=" + dir}, "migrate")
		return exec.CommandContext(t.Context(), "tar", "-C", dir,
			"--exclude=*.port", "-c", "clickhouse", "postgres").Output()
	})
	dir := DataDir(t)
	if err := os.Mkdir(dir, 0o711); err != nil { // PostgreSQL is another user under root
		t.Fatal(err)
	}
	unpack := exec.CommandContext(t.Context(), "tar", "-C", dir, "-xp")
	unpack.Stdin = bytes.NewReader(archive)
	if out, err := unpack.CombinedOutput(); err != nil {
		t.Fatalf("copy the data directory: %v\n%s", err, out)
	}
	return dir
}
