package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// answerscope is a command of this binary as a person would start it: with no settings of the bench's, but env.
func answerscope(ctx context.Context, env []string, args ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find answerscope: %w", err)
	}
	cmd := exec.CommandContext(ctx, self, args...)
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "ANSWERSCOPE_") {
			cmd.Env = append(cmd.Env, entry)
		}
	}
	cmd.Env = append(cmd.Env, env...)
	return cmd, nil
}

// A child is a command that serves until it is stopped, in a process of its own.
type child struct {
	name  string
	cmd   *exec.Cmd
	ready chan string // the first line of its stdout
	ended chan struct{}

	mu  sync.Mutex
	log []string // its last lines
}

// startChild starts a command. Each line of its log is given to onLog, unless that is nil.
func startChild(cmd *exec.Cmd, onLog func(line string)) (*child, error) {
	c := &child{name: strings.Join(cmd.Args[1:2], " "), cmd: cmd, ready: make(chan string, 1), ended: make(chan struct{})}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	log, err := cmd.StderrPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	go func() {
		line, _ := bufio.NewReader(out).ReadString('\n') // "" where it ended before
		c.ready <- strings.TrimSpace(line)
	}()
	go c.follow(log, onLog)
	return c, nil
}

// awaitReady returns the first line of the command's stdout.
func (c *child) awaitReady(ctx context.Context) (line string, err error) {
	select {
	case line = <-c.ready:
	case <-time.After(time.Minute):
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	if line == "" {
		err = fmt.Errorf("%s is not ready:\n%s", c.name, c.last())
	}
	return line, err
}

// follow reads the log until the process ends.
func (c *child) follow(log io.Reader, onLog func(line string)) {
	defer close(c.ended)
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		line := lines.Text()
		if onLog != nil {
			onLog(line)
		}
		c.mu.Lock()
		c.log = append(c.log[max(0, len(c.log)-50):], line)
		c.mu.Unlock()
	}
	_ = c.cmd.Wait() // its log says more than its status
}

func (c *child) last() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.log, "\n")
}

// memory is the most that was resident, in bytes; 0 where the system has no such figure.
func (c *child) memory() int64 {
	text := field(fmt.Sprintf("/proc/%d/status", c.cmd.Process.Pid), "VmHWM")
	kB, err := strconv.ParseInt(strings.TrimSuffix(text, " kB"), 10, 64)
	if err != nil {
		return 0
	}
	return kB << 10
}

// stop ends the process in order.
func (c *child) stop() error {
	_ = c.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-c.ended:
		return nil
	case <-time.After(30 * time.Second):
		_ = c.cmd.Process.Kill()
		<-c.ended
		return fmt.Errorf("%s did not stop:\n%s", c.name, c.last())
	}
}

// parts of benches run in processes of their own, apart from what they measure, or what is measured beside them.
var parts = map[string]func(ctx context.Context, in io.Reader, out io.Writer) error{
	"load":     load,
	"ceilings": ceilings,
}

// Part is such a process: it reads its task as JSON and writes its result as a line of JSON.
func Part(ctx context.Context, name string, in io.Reader, out io.Writer) error {
	run, ok := parts[name]
	if !ok {
		return fmt.Errorf("no part of a bench: %q", name)
	}
	return run(ctx, in, out)
}

// load runs a plan.
func load(ctx context.Context, in io.Reader, out io.Writer) error {
	var plan loadPlan
	if err := json.NewDecoder(in).Decode(&plan); err != nil {
		return fmt.Errorf("read plan: %w", err)
	}
	result, err := plan.run(ctx)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(result)
}

// apart runs a plan in a process of its own.
func (p loadPlan) apart(ctx context.Context) (result loadResult, err error) {
	cmd, err := answerscope(ctx, nil, "bench", "--part", "load")
	if err != nil {
		return result, err
	}
	plan, err := json.Marshal(p)
	if err != nil {
		return result, fmt.Errorf("plan load: %w", err)
	}
	var log bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(plan), &log
	text, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(text, &result)
	}
	if err != nil {
		return result, errors.Join(fmt.Errorf("load %s: %w\n%s", p.Address, err, &log), context.Cause(ctx))
	}
	return result, nil
}
