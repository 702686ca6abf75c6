package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

const (
	stopBound   = 20 * time.Second // from SIGTERM to SIGKILL
	logKeepSize = 8 << 20          // a log beyond this is put aside at the next start
)

// process is one child. It does not outlive us, whatever ends us: see spawn.
type process struct {
	name string
	cmd  *exec.Cmd
	log  string        // path of its stderr
	line io.Closer     // our end of its stdin; the kernel closes it when we die
	done chan struct{} // closed when the child has ended
	err  error         // why, valid after done
}

// startProcess starts cmd with its output appended to logs/<name>.log. When we die,
// however, it gets the signal onOurDeath. The claim on its directory becomes the
// child's.
func startProcess(name, logs string, place *lock, onOurDeath syscall.Signal, cmd *exec.Cmd) (*process, error) {
	defer place.Close()
	cmd.ExtraFiles = []*os.File{place.file}
	if err := os.MkdirAll(logs, 0o750); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	path := filepath.Join(logs, name+".log")
	out, err := openLog(path)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	line, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	// A group of its own: Ctrl-C on the terminal is for us, and we stop our
	// children after the parts that still write to them.
	cmd.SysProcAttr.Setpgid = true
	if err := spawn(cmd, onOurDeath); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p := &process{name: name, cmd: cmd, log: path, line: line, done: make(chan struct{})}
	go func() {
		p.err = fmt.Errorf("%s ended: %w (its log: %s)", name, orExit0(cmd.Wait()), path)
		close(p.done)
	}()
	return p, nil
}

// runTool runs a program of an engine to its end and returns what it said when it
// fails. Like an engine, it does not outlive us.
func runTool(name string, cmd *exec.Cmd) error {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	err := spawn(cmd, syscall.SIGKILL)
	if err == nil {
		err = cmd.Wait()
	}
	if err != nil {
		return fmt.Errorf("run %s: %w: %s", name, err, bytes.TrimSpace(out.Bytes()))
	}
	return nil
}

// absoluteDirs returns an engine's directory and that of its logs, which is
// below the first unless it is given.
func absoluteDirs(dir, logs string) (string, string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil || logs == "" {
		return dir, filepath.Join(dir, "log"), err
	}
	logs, err = filepath.Abs(logs)
	return dir, logs, err
}

func orExit0(err error) error {
	if err == nil {
		return errors.New("exit status 0")
	}
	return err
}

// openLog opens a log for appending, after putting an overgrown one aside, so
// that the two together stay bounded however often the engine starts.
func openLog(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > logKeepSize {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o640)
}

// ready polls probe until it returns nil, the child ends, or ctx is done.
func (p *process) ready(ctx context.Context, probe func(context.Context) error) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		err := probe(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.done:
			return p.err
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w: %w (its log: %s)", p.name, context.Cause(ctx), err, p.log)
		case <-tick.C:
		}
	}
}

// PID is the child's process id.
func (p *process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the child has ended, asked or not.
func (p *process) Done() <-chan struct{} { return p.done }

// Err says how the child ended; nil while it runs.
func (p *process) Err() error {
	select {
	case <-p.done:
		return p.err
	default:
		return nil
	}
}

// Kill ends the child at once, as a crash would.
func (p *process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// stop has the child asked to end, and kills it when it has not within stopBound
// or until ctx is done. Stopping an ended child is not an error.
func (p *process) stop(ctx context.Context, ask func() error) error {
	defer p.line.Close()
	select {
	case <-p.done:
		return nil
	default:
	}
	asked := ask()
	bound := time.NewTimer(stopBound)
	defer bound.Stop()
	if asked == nil {
		select {
		case <-p.done:
			return nil
		case <-ctx.Done():
			asked = context.Cause(ctx)
		case <-bound.C:
			asked = fmt.Errorf("no end within %s", stopBound)
		}
	}
	p.Kill()
	return fmt.Errorf("stop %s: %w: killed", p.name, asked)
}

// signal asks the child to end by a signal; one that has ended needs none.
func (p *process) signal(sig syscall.Signal) error {
	if err := p.cmd.Process.Signal(sig); !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}
