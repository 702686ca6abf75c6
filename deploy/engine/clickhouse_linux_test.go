package engine

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/answerscope/answerscope/internal/testkit/tempdir"
)

// A thread that writes to a peer that has gone gets SIGPIPE, which would end the engine. A replica wrote to a ZooKeeper
// that was killed.
func TestClickHouseOutlivesABrokenPipe(t *testing.T) {
	e := startedClickHouse(t, tempdir.Passable(t))
	mustStop(t, e)
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", e.PID()))
	if err != nil {
		t.Fatal(err)
	}
	for _, thread := range threads {
		if id, err := strconv.Atoi(thread.Name()); err == nil {
			_ = unix.Tgkill(e.PID(), id, syscall.SIGPIPE) // it may have ended
		}
	}
	stillAnswers(t, e, "SIGPIPE")
}
