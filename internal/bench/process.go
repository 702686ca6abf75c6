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

// answerscope is a command of this binary that is to run as a person would start it: without our settings, but those
// of env.
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
	ended chan struct{}

	mu  sync.Mutex
	log []string // its last lines
}

// startChild starts a command. Each line of its log goes to hear, if there is one.
func startChild(cmd *exec.Cmd, hear func(line string)) (*child, error) {
	c := &child{name: strings.Join(cmd.Args[1:2], " "), cmd: cmd, ended: make(chan struct{})}
	lines, err := cmd.StderrPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	go c.follow(lines, hear)
	return c, nil
}

// follow reads what it logs until it ends.
func (c *child) follow(log io.Reader, hear func(line string)) {
	defer close(c.ended)
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		line := lines.Text()
		if hear != nil {
			hear(line)
		}
		c.mu.Lock()
		c.log = append(c.log[max(0, len(c.log)-50):], line)
		c.mu.Unlock()
	}
	_ = c.cmd.Wait() // what it said tells more
}

func (c *child) last() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.log, "\n")
}

// memory is the most that was resident of it, in bytes; 0 where the system does not
// tell.
func (c *child) memory() int64 {
	text := field(fmt.Sprintf("/proc/%d/status", c.cmd.Process.Pid), "VmHWM")
	kB, err := strconv.ParseInt(strings.TrimSuffix(text, " kB"), 10, 64)
	if err != nil {
		return 0
	}
	return kB << 10
}

// stop ends it in order.
func (c *child) stop() error {
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("stop %s: %w", c.name, err)
	}
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
var parts = map[string]func(ctx context.Context, asked io.Reader, told io.Writer) error{
	"load":     loading,
	"ceilings": ceilings,
}

// Part is such a process: it reads what it is asked as JSON, and tells its result as a line of JSON.
func Part(ctx context.Context, name string, asked io.Reader, told io.Writer) error {
	run, ok := parts[name]
	if !ok {
		return fmt.Errorf("no part of a bench: %q", name)
	}
	return run(ctx, asked, told)
}

func loading(ctx context.Context, asked io.Reader, told io.Writer) error {
	var plan loadPlan
	if err := json.NewDecoder(asked).Decode(&plan); err != nil {
		return fmt.Errorf("read plan: %w", err)
	}
	result, err := plan.run(ctx)
	if err != nil {
		return err
	}
	return json.NewEncoder(told).Encode(result)
}

// apart runs a plan in a process of its own.
func (p loadPlan) apart(ctx context.Context) (result loadResult, err error) {
	cmd, err := answerscope(ctx, nil, "bench", "--part", "load")
	if err != nil {
		return result, err
	}
	asked, err := json.Marshal(p)
	if err != nil {
		return result, fmt.Errorf("plan load: %w", err)
	}
	var said bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(asked), &said
	told, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(told, &result)
	}
	if err != nil {
		return result, errors.Join(fmt.Errorf("load %s: %w\n%s", p.Address, err, &said), context.Cause(ctx))
	}
	return result, nil
}
