package engine

import (
	"bufio"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// The watchdog stands between us and an engine where the kernel has no parent-death
// signal; it works everywhere, so it is tested everywhere.
func TestTheWatchdogEndsItsCommandWhenStdinEnds(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	cmd, err := selfCommand(watchdogChild, strconv.Itoa(int(syscall.SIGTERM)), shell, "-c",
		`trap 'echo ended; exit 0' TERM; echo running; while :; do sleep 0.05; done`)
	if err != nil {
		t.Fatal(err)
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	var said []string
	for lines.Scan() {
		if said = append(said, lines.Text()); lines.Text() == "running" {
			_ = stdin.Close()
		}
	}
	if err := cmd.Wait(); err != nil || strings.Join(said, " ") != "running ended" {
		t.Errorf("watchdog: %v, its command said %q", err, said)
	}
}
