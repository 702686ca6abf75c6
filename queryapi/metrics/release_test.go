package metrics

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	_ "unsafe" // for go:linkname

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/extract"
)

// The releases whose pipelines these tests run: this build's, and one to come whose extractor reads otherwise.
const (
	thisRelease = extract.Version
	nextRelease = thisRelease + 1
)

// readers are those that package extract carries; none can be added, and no test should make it.
//
//go:linkname readers github.com/answerscope/answerscope/pipeline/extract.readers
var readers map[int]func(*event.Answer) extract.Reading

func init() {
	readers[nextRelease] = func(a *event.Answer) extract.Reading { return extract.Read(improved(a)) }
}

// improved is the answer that this release reads as the next one reads a.
func improved(a *event.Answer) *event.Answer {
	b := *a
	b.Text = strings.ReplaceAll(a.Text, "Dusk", "Lumen")
	b.Citations = slices.DeleteFunc(slices.Clone(a.Citations), func(c event.Citation) bool {
		return strings.HasSuffix(c.URL, "/a")
	})
	return &b
}

// A release is a target as that release's build has it.
type release[T any] struct {
	consume.Target[T]
	version int
}

func (r release[T]) Version() int { return r.version }

// Supports says that a build carries the readers of the releases before.
func (r release[T]) Supports(version int) bool { return version <= r.version }

// A mortal target counts down its batches, and at the last one ends as a process that is killed there: before the batch
// was taken, or after.
type mortal[T any] struct {
	consume.Target[T]
	left  *atomic.Int32
	after bool
}

var errKilled = errors.New("killed")

func (m mortal[T]) Insert(ctx context.Context, b *consume.Batch[T], checkOwnership func() error) error {
	left := m.left.Add(-1)
	if left > 0 || left == 0 && m.after {
		if err := m.Target.Insert(ctx, b, checkOwnership); err != nil || left > 0 {
			return err
		}
	}
	return errKilled
}
