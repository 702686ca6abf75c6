package disk_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/disk"
)

func TestAWatermarkSaysWhichDiskIsFull(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	free, ok := disk.Free(dir)
	if !ok || free <= 0 {
		t.Fatalf("free space of %s: %d, %v", dir, free, ok)
	}
	err := disk.New(1000*free, filepath.Join(dir, "absent"), dir).Err()
	full, ok := errors.AsType[*disk.FullError](err)
	if !ok || full.Dir != dir || !strings.HasPrefix(err.Error(), "disk of "+dir) {
		t.Errorf("below the watermark: %v", err)
	}
	for name, w := range map[string]*disk.Watermark{
		"above": disk.New(1, dir), "none": nil,
		"a directory that is absent": disk.New(1<<62, filepath.Join(dir, "absent")),
	} {
		if err := w.Err(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
