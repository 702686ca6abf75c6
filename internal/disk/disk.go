// Package disk watches whether the disks that hold the data have room: below a watermark nothing new is accepted, so
// that accepted data can still be counted.
package disk

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/answerscope/answerscope/internal/lifecycle"
)

// lookInterval is how old an answer may be. A disk is filled from the watermark to its end in seconds at the soonest,
// and a look costs a microsecond.
const lookInterval = 100 * time.Millisecond

// Watermark compares the free space of directories with the least that they must have. It is safe for concurrent use. A
// nil Watermark always has room.
type Watermark struct {
	dirs  []string
	least int64

	looked atomic.Int64 // when, in Unix nanoseconds
	full   atomic.Pointer[FullError]
}

// New watches the file systems that directories are on. One that does not exist has room.
func New(least int64, dirs ...string) *Watermark { return &Watermark{least: least, dirs: dirs} }

// A FullError names the full disk.
type FullError struct {
	Dir         string
	Free, Least int64 // bytes
}

func (e *FullError) Error() string {
	return fmt.Sprintf("disk of %s has %d MB left, and %d MB are kept free (ANSWERSCOPE_MIN_FREE): make room", e.Dir,
		e.Free>>20, e.Least>>20)
}

// Err is a *FullError while a disk has less than the watermark, else nil.
func (w *Watermark) Err() error {
	if w == nil {
		return nil
	}
	now := time.Now().UnixNano()
	if last := w.looked.Load(); now-last > int64(lookInterval) && w.looked.CompareAndSwap(last, now) {
		w.full.Store(w.look())
	}
	if full := w.full.Load(); full != nil {
		return full
	}
	return nil
}

// look returns the error of the first directory whose disk is full.
func (w *Watermark) look() *FullError {
	for _, dir := range w.dirs {
		if free, ok := Free(dir); ok && free < w.least {
			return &FullError{dir, free, w.least}
		}
	}
	return nil
}

// Free is how many bytes an ordinary user may still write below a directory.
func Free(dir string) (bytes int64, ok bool) {
	var fs syscall.Statfs_t
	if syscall.Statfs(dir, &fs) != nil {
		return 0, false
	}
	return int64(fs.Bavail) * int64(fs.Bsize), true //nolint:unconvert // other types on other systems
}

// Watch logs when room has run out and when there is some again, until ctx ends.
func (w *Watermark) Watch(ctx context.Context, log *slog.Logger) error {
	for was := false; ctx.Err() == nil; _ = lifecycle.Pause(ctx, time.Second) {
		err := w.Err()
		switch full := err != nil; {
		case full && !was:
			log.Error("disk is full: nothing new is accepted", "error", err, "next",
				"make room; all goes on by itself then")
		case was && !full:
			log.Info("disk has room again")
		}
		was = err != nil
	}
	return nil
}

// Register registers the metrics.
func (w *Watermark) Register(reg prometheus.Registerer) {
	auto := promauto.With(reg)
	auto.NewGauge(prometheus.GaugeOpts{Name: "answerscope_disk_least_bytes",
		Help: "Free space below which nothing new is accepted."}).Set(float64(w.least))
	for _, dir := range w.dirs {
		auto.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "answerscope_disk_free_bytes", Help: "Free space of the disk of a directory.",
			ConstLabels: prometheus.Labels{"directory": dir},
		}, func() float64 { free, _ := Free(dir); return float64(free) })
	}
}
