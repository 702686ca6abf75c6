package crash

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/fault"
	"github.com/answerscope/answerscope/internal/system/run"
)

// importsARound is how many imports share the lines of a round, one after the other. An import appends what it brings
// at once, and a batch takes all that is there: of one import the sink would make one batch of each partition.
const importsARound = 5

// importers are those of a round.
type importers struct {
	over   chan struct{}      // closed when the last has ended, or one in trouble
	kill   context.CancelFunc // the one under way
	enough atomic.Bool        // no further one begins
	err    error              // of the last, once they are over
	whole  atomic.Int64       // lines that imports brought which have ended
	died   bool               // the last, by itself; once they are over
}

// importing starts the imports of a round, each of which dies at a point if one is given. The first brings again
// whatever earlier rounds have lost.
func (k *killing) importing(t *testing.T, s *run.Server, at fault.Point) *importers {
	t.Helper()
	var files []string
	var ends []int
	from := 0
	for part := range importsARound {
		to := k.lines - linesARound + (part+1)*linesARound/importsARound
		files, ends = append(files, run.CapturedFrom(t, from, to)), append(ends, to)
		from = to
	}
	ctx, end := context.WithTimeout(context.WithoutCancel(t.Context()), run.Timeout)
	i := &importers{over: make(chan struct{}), kill: end}
	env := k.armed(at)
	go func() {
		defer close(i.over)
		for n, file := range files {
			cmd := run.Command(ctx, t, env, "import", file, "--org", "acme", "--create", k.create)
			cmd.Cancel = func() error { return cmd.Process.Kill() }
			cmd.Stderr = s.Log
			if i.err = cmd.Run(); i.err != nil || i.enough.Load() {
				i.died = ctx.Err() == nil && shot(i.err)
				return
			}
			i.whole.Store(int64(ends[n]))
		}
	}()
	return i
}

// finish waits until the import under way has ended: killed now, or by the loss of its engines.
func (i *importers) finish(kill bool) {
	i.enough.Store(true)
	if kill {
		i.kill()
	}
	<-i.over
	i.kill() // nothing: it frees the context
}

// shot says whether a command has ended by SIGKILL.
func shot(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && run.BySIGKILL(exit.ProcessState)
}

// batches is how many batches of answers the sinks of a process have landed.
func (k *killing) batches(t *testing.T, s *run.Server) int {
	t.Helper()
	_, text := run.Fetch(t, s.Admin(t)+"/metrics", "")
	_, after, found := strings.Cut(text,
		fmt.Sprintf("answerscope_consume_batch_records_count{group=%q,topic=%q} ", run.GroupOfAnswers,
			event.TopicAnswers))
	figure, _, _ := strings.Cut(after, "\n")
	n, err := strconv.Atoi(figure)
	if !found || err != nil {
		t.Fatalf("no batches of answers in the metrics:\n%s", text)
	}
	return n
}
