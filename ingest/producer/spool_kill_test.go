package producer

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/segmentio/kafka-go/protocol/produce"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/fault"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/wait"
)

// A process is killed at each step of the way through the spool, and at some moments between them. Every record that it
// acknowledged is on the log in the end, on one partition.
func TestAKilledProcessLosesNothingThatItAcknowledged(t *testing.T) {
	if at := os.Getenv("SPOOL_KILL"); at != "" {
		appendUntilKilled(t, at)
		return
	}
	brokers := testkit.Kafka(t)
	prefix := freshTopics(t, brokers, 3)
	dir := t.TempDir()
	var kills []string
	for _, p := range append(fault.SpoolPoints, fault.Produced) {
		kills = append(kills, string(p)+":1")
		if p != fault.Begun { // a process seldom comes to its second file
			kills = append(kills, string(p)+":7")
		}
	}
	kills = append(kills, "after 100", "after 1000", "after 3000")
	acknowledged := map[string]bool{}
	for round, at := range kills {
		some := runUntilKilled(t, at, fmt.Sprintf("SPOOL_ROUND=%d", round), "SPOOL_DIR="+dir, "SPOOL_PREFIX="+prefix,
			"SPOOL_BROKERS="+strings.Join(brokers, ","))
		for _, v := range some {
			acknowledged[v] = true
		}
		t.Logf("killed %s: %d acknowledged", at, len(some))
	}
	p := running(t, brokers, prefix, spooling(dir))
	if err := p.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("the last one leaves %d records", p.spill.disk.Load().Records())
	wait.For(t, "an empty spool", func() bool { return p.spill.disk.Load().Records() == 0 })
	partitions := partitionsOf(t, all(t, brokers, prefix+event.TopicVisits))
	for v := range acknowledged {
		if _, ok := partitions[v]; !ok {
			t.Errorf("%s was acknowledged and is not on the log", v)
		}
	}
}

// runUntilKilled returns what a process acknowledged before it was killed.
func runUntilKilled(t *testing.T, at string, env ...string) (acknowledged []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	defer cancel()
	child := exec.CommandContext(ctx, os.Args[0], "-test.run", "^"+t.Name()+"$")
	child.Env = append(append(os.Environ(), "SPOOL_KILL="+at), env...)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	child.Stderr = os.Stderr
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	enough := 0
	fmt.Sscanf(at, "after %d", &enough)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		v, ok := strings.CutPrefix(lines.Text(), "safe: ")
		if !ok {
			t.Errorf("the process said %s", lines.Text())
			continue
		}
		acknowledged = append(acknowledged, v)
		if len(acknowledged) == enough {
			_ = child.Process.Kill()
		}
	}
	_ = child.Wait() // its state says more
	if status, _ := child.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() ||
		status.Signal() != syscall.SIGKILL || ctx.Err() != nil {
		t.Errorf("killed %s it ended with %v", at, child.ProcessState)
	}
	return acknowledged
}

// appendUntilKilled is the process: half of its requests are lost on the way, on the
// way back, or for longer than an append waits.
func appendUntilKilled(t *testing.T, at string) {
	if !strings.HasPrefix(at, "after") {
		if err := fault.Arm(at); err != nil {
			t.Fatal(err)
		}
	}
	var requests atomic.Int64
	p := running(t, strings.Split(os.Getenv("SPOOL_BROKERS"), ","), os.Getenv("SPOOL_PREFIX"), func(c *Config) {
		spooling(os.Getenv("SPOOL_DIR"))(c)
		c.AckTimeout = 60 * time.Millisecond
	}, func(*produce.Request) outcome {
		return []outcome{fine, unsent, fine, lost, fine, hung}[requests.Add(1)%6]
	})
	var group sync.WaitGroup
	var next atomic.Int64
	for range 8 {
		group.Go(func() {
			for {
				v := fmt.Sprintf("record %d of round %s", next.Add(1), os.Getenv("SPOOL_ROUND"))
				if err := p.Append(t.Context(), event.TopicVisits, []byte(v)); err != nil {
					t.Error(err)
					return
				}
				fmt.Fprintf(os.Stdout, "safe: %s\n", v)
			}
		})
	}
	group.Wait()
}
