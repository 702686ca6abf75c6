package main

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
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// findProduct returns the path of the answerscope binary: beside this program, or where `make build` puts it. Tests
// replace it.
var findProduct = func() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find answerscope: %w", err)
	}
	for _, path := range []string{filepath.Join(filepath.Dir(self), "answerscope"), filepath.Join("bin", "answerscope")} {
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", errors.New("find answerscope: no such file beside this program or in ./bin: make build builds it")
}

// answerscope returns a command of the product as a person would start it: with no settings of the bench's, but env.
func answerscope(ctx context.Context, env []string, args ...string) (*exec.Cmd, error) {
	product, err := findProduct()
	if err != nil {
		return nil, err
	}
	return command(ctx, product, env, args...), nil
}

func command(ctx context.Context, program string, env []string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "ANSWERSCOPE_") {
			cmd.Env = append(cmd.Env, entry)
		}
	}
	cmd.Env = append(cmd.Env, env...)
	return cmd
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

// startChild starts a command, which is stopped when the bench is over. Each line of its log is given to onLog.
func (s *stack) startChild(cmd *exec.Cmd, onLog func(line string)) (*child, error) {
	c := &child{name: strings.Join(cmd.Args[1:2], " "), cmd: cmd, ready: make(chan string, 1), ended: make(chan struct{})}
	var log io.ReadCloser
	out, err := cmd.StdoutPipe()
	if err == nil {
		log, err = cmd.StderrPipe()
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	s.onClose(func(context.Context) error { return c.stop() })
	go func() {
		line, _ := bufio.NewReader(out).ReadString('\n') // "" where it ended before
		c.ready <- strings.TrimSpace(line)
	}()
	go c.follow(log, onLog)
	return c, nil
}

// startReady starts a command, and returns the first line of its stdout.
func (s *stack) startReady(ctx context.Context, cmd *exec.Cmd) (c *child, line string, err error) {
	if c, err = s.startChild(cmd, func(string) {}); err != nil {
		return nil, "", err
	}
	select {
	case line = <-c.ready:
	case <-time.After(time.Minute):
	case <-ctx.Done():
		return nil, "", context.Cause(ctx)
	}
	if line == "" {
		err = fmt.Errorf("%s is not ready:\n%s", c.name, c.last())
	}
	return c, line, err
}

// follow reads the log until the process ends.
func (c *child) follow(log io.Reader, onLog func(line string)) {
	defer close(c.ended)
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		line := lines.Text()
		onLog(line)
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

// whileRunning is ctx, but ended when the process ends.
func (c *child) whileRunning(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-c.ended:
			end(fmt.Errorf("%s ended:\n%s", c.name, c.last()))
		case <-ctx.Done():
		}
	}()
	return ctx, func() { end(nil) }
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

// Part is what of a bench runs in a process of its own, apart from what it measures or is measured beside. It reads its
// task as JSON and writes its result as a line of JSON.
func Part(ctx context.Context, name string, in io.Reader, out io.Writer) error {
	task, result := json.NewDecoder(in), json.NewEncoder(out)
	switch name {
	case "cluster":
		rates, err := runLeg(ctx, task)
		if err != nil {
			return err
		}
		return result.Encode(rates)
	case "load":
		var plan loadPlan
		if err := task.Decode(&plan); err != nil {
			return fmt.Errorf("read plan: %w", err)
		}
		r, err := plan.run(ctx)
		if err != nil {
			return err
		}
		return result.Encode(r)
	case "tracking":
		var a asker
		if err := task.Decode(&a); err != nil {
			return fmt.Errorf("read task: %w", err)
		}
		return a.run(ctx, result.Encode)
	case "deliveries":
		var n notifier
		if err := task.Decode(&n); err != nil {
			return fmt.Errorf("read task: %w", err)
		}
		return n.run(ctx, result.Encode)
	case "ceilings":
		var c ceilings
		if err := task.Decode(&c); err != nil {
			return fmt.Errorf("read task: %w", err)
		}
		return c.run(ctx, result.Encode)
	}
	return fmt.Errorf("no part of a bench: %q", name)
}

// partOf is the command that runs a part.
func partOf(ctx context.Context, name string, task any) (*exec.Cmd, error) {
	text, err := json.Marshal(task)
	if err != nil {
		return nil, fmt.Errorf("plan %s: %w", name, err)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	cmd := command(ctx, self, nil, "--part", name)
	cmd.Stdin = bytes.NewReader(text)
	return cmd, nil
}

// outputOf runs a part to its end and decodes its result.
func outputOf(ctx context.Context, part *exec.Cmd, result any) error {
	var log bytes.Buffer
	part.Stderr = &log
	text, err := part.Output()
	if err == nil {
		err = json.Unmarshal(text, result)
	}
	if err != nil {
		err = errors.Join(fmt.Errorf("%w\n%s", err, &log), context.Cause(ctx))
	}
	return err
}
