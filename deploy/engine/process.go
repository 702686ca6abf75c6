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
	stopTimeout = 20 * time.Second // from SIGTERM to SIGKILL
	maxLogSize  = 8 << 20          // a larger log becomes NAME.log.1
	logInterval = time.Minute      // between two looks at its size
)

// process is a child process. It does not outlive this process: see spawn.
type process struct {
	name  string
	cmd   *exec.Cmd
	log   string        // path of its stderr
	stdin io.Closer     // our end of its stdin; the kernel closes it when this process dies
	done  chan struct{} // closed when the child has ended
	err   error         // the cause, valid after done
}

// startProcess starts cmd with its output appended to logs/<name>.log. The child gets the signal onDeath when this
// process dies. It inherits the lock of its directory.
func startProcess(name, logs string, lock *lock, onDeath syscall.Signal, cmd *exec.Cmd) (*process, error) {
	defer lock.Close()
	p := &process{name: name, cmd: cmd, log: filepath.Join(logs, name+".log"), done: make(chan struct{})}
	out, err := openLog(p.log)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = out, out, append([]*os.File{lock.file}, cmd.ExtraFiles...)
	if p.stdin, err = cmd.StdinPipe(); err == nil {
		// A group of its own, since Ctrl-C on the terminal is for this process, which stops its children after the
		// parts that write to them.
		err = spawn(cmd, onDeath, true)
	}
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go p.boundLog(logInterval)
	go func() {
		err := cmd.Wait()
		if err == nil {
			err = errors.New("exit status 0")
		}
		p.err = fmt.Errorf("%s ended: %w (its log: %s)", name, err, p.log)
		close(p.done)
	}()
	return p, nil
}

// Process is a child process that does not outlive this process.
type Process = process

// StartProcess starts a program of tests in a directory of its own, and waits until it is ready.
func StartProcess(
	ctx context.Context, name, dir string, cmd *exec.Cmd, ready func(context.Context) error,
) (*Process, error) {
	logs := ""
	lock, err := lockDirs(ctx, &dir, &logs)
	if err != nil {
		return nil, err
	}
	cmd.Dir = dir
	p, err := startProcess(name, logs, lock, syscall.SIGKILL, cmd)
	if err != nil {
		return nil, err
	}
	if err := p.awaitReady(ctx, ready); err != nil {
		return nil, fmt.Errorf("%w: %s", err, p.lastLines())
	}
	return p, nil
}

// openLog opens a log for appending. It renames a large one first, so that both stay bounded over many starts.
func openLog(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && info.Size() > maxLogSize {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o640)
}

// boundLog copies a large log and empties it, since the child, which appends, keeps it open. Lines that are written
// meanwhile are lost.
func (p *process) boundLog(interval time.Duration) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-p.done:
			return
		case <-tick.C:
		}
		if info, err := os.Stat(p.log); err != nil || info.Size() <= maxLogSize {
			continue
		}
		if copyLog(p.log) == nil {
			_ = os.Truncate(p.log, 0) // the next look tries again
		}
	}
}

func copyLog(path string) error {
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(path+".1", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o640)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, io.LimitReader(from, 2*maxLogSize))
	return errors.Join(err, to.Close())
}

// runTool runs a program of an engine to its end; the error has its output. It does not outlive this process either.
func runTool(name string, cmd *exec.Cmd) error {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := spawn(cmd, syscall.SIGKILL, false)
	if err == nil {
		err = cmd.Wait()
	}
	if err != nil {
		return fmt.Errorf("run %s: %w: %s", name, err, bytes.TrimSpace(out.Bytes()))
	}
	return nil
}

// lastLines returns the last lines of its log, which may be large.
func (p *process) lastLines() string {
	file, err := os.Open(p.log)
	if err != nil {
		return err.Error()
	}
	defer file.Close()
	_, _ = file.Seek(-4<<10, io.SeekEnd) // refused if the log is shorter; then all of it is read
	text, err := io.ReadAll(file)
	if err != nil {
		return err.Error()
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return string(bytes.Join(lines[max(0, len(lines)-10):], []byte("\n")))
}

// awaitReady polls probe until it returns nil. It is an error if the child ends, or if ctx is done, which kills the
// child.
func (p *process) awaitReady(ctx context.Context, probe func(context.Context) error) error {
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
			p.Kill()
			return fmt.Errorf("wait for %s: %w: %w (its log: %s)", p.name, context.Cause(ctx), err, p.log)
		case <-tick.C:
		}
	}
}

// PID is the child's process id.
func (p *process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the child has ended.
func (p *process) Done() <-chan struct{} { return p.done }

// Err returns how the child ended; nil while it runs.
func (p *process) Err() error {
	select {
	case <-p.done:
		return p.err
	default:
		return nil
	}
}

// Kill ends the child at once, like a crash.
func (p *process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// stop requests the child to end, and kills it after stopTimeout or when ctx is done. It is no error if it has ended.
func (p *process) stop(ctx context.Context, request func() error) error {
	defer p.stdin.Close()
	if p.Err() != nil {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, stopTimeout, fmt.Errorf("no end within %s", stopTimeout))
	defer cancel()
	err := request()
	if err == nil {
		select {
		case <-p.done:
			return nil
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	p.Kill()
	return fmt.Errorf("stop %s: %w: killed", p.name, err)
}

// signal sends a signal to the child, unless it has ended.
func (p *process) signal(sig syscall.Signal) error {
	if err := p.cmd.Process.Signal(sig); !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}
