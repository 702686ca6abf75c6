package engine

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// The test binary stands in for answerscope where a test needs another process: a
// parent to kill, or another user's process.
const roleEnv = "ENGINE_TEST_ROLE"

// runRole plays a role and does not return, if the binary was started for one: it opens the engines that the JSON of
// its options names, prints "ready", and stops them when stdin ends.
func runRole() {
	text := os.Getenv(roleEnv)
	if text == "" {
		return
	}
	var o Options
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		fail(err)
	}
	o.Log = slog.New(slog.DiscardHandler)
	engines, err := Open(context.Background(), o)
	if err != nil {
		fail(err)
	}
	fmt.Fprintln(os.Stdout, "ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := engines.Stop(context.Background()); err != nil {
		fail(err)
	}
	os.Exit(0)
}

func fail(err error) {
	fmt.Fprintln(os.Stdout, err)
	os.Exit(1)
}

// role is a process that plays one.
type role struct {
	cmd   *exec.Cmd
	stdin io.Closer
}

// startRole starts a process that opens engines and waits until it has them.
func startRole(t *testing.T, o Options, attr *syscall.SysProcAttr) *role {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	cmd, err := selfCommand()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(os.Environ(), roleEnv+"="+string(text))
	cmd.Stderr, cmd.SysProcAttr = os.Stderr, attr
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
	r := &role{cmd, stdin}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	said, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil || said != "ready\n" {
		t.Fatalf("role said %q, %v", said, err)
	}
	return r
}

// end lets the role stop its engines and waits for it.
func (r *role) end(t *testing.T) {
	t.Helper()
	_ = r.stdin.Close()
	if err := r.cmd.Wait(); err != nil {
		t.Errorf("role: %v", err)
	}
}

// kill ends the role as a crash would.
func (r *role) kill() {
	_ = r.cmd.Process.Kill()
	_ = r.cmd.Wait()
}
