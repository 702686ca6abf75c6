package run

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/testkit/logbuffer"
)

// A Server is a command that serves, in a process of its own.
type Server struct {
	Cmd    *exec.Cmd
	URL    string // from its ready line
	Stdout string // everything before the ready line, and after it once it has ended
	Log    *logbuffer.Buffer
	ready  chan string // its URL, once
	Ended  chan struct{}
}

// Serve starts a command on free ports and returns once it has said that it is ready.
func Serve(t *testing.T, env []string, args ...string) *Server {
	t.Helper()
	s := Launch(t, env, args...)
	if !s.Await(t) {
		t.Fatalf("answerscope %s ended before it was ready:\n%s", strings.Join(args, " "), s.Log)
	}
	return s
}

// Launch starts a command on free ports.
func Launch(t *testing.T, env []string, args ...string) *Server {
	t.Helper()
	args = append(args, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	s := &Server{
		Cmd: Command(context.WithoutCancel(t.Context()), t, env, args...), Log: &logbuffer.Buffer{},
		ready: make(chan string, 1), Ended: make(chan struct{}),
	}
	s.Cmd.Stderr = s.Log
	out, err := s.Cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(s.Ended)
		lines := bufio.NewReader(out)
		for {
			line, err := lines.ReadString('\n')
			if url, ok := strings.CutPrefix(line, "ready "); ok {
				s.ready <- strings.TrimSpace(url)
			} else {
				s.Stdout += line
			}
			if err != nil {
				_ = s.Cmd.Wait() // its status is looked at where it matters
				return
			}
		}
	}()
	t.Cleanup(func() {
		s.Stop(t, syscall.SIGTERM)
		if t.Failed() {
			t.Logf("answerscope %s said:\n%s", strings.Join(args, " "), s.Log)
		}
	})
	return s
}

// Await waits until it has said that it is ready; false when it has ended before.
func (s *Server) Await(t *testing.T) bool {
	t.Helper()
	select {
	case s.URL = <-s.ready:
		return true
	case <-s.Ended:
		return false
	case <-time.After(Timeout):
		t.Fatalf("not ready after %s:\n%s", Timeout, s.Log)
		return false
	}
}

// Stop sends a signal, waits for the end and returns the exit status.
func (s *Server) Stop(t *testing.T, sig syscall.Signal) int {
	t.Helper()
	_ = s.Cmd.Process.Signal(sig) // it may have ended
	select {
	case <-s.Ended:
	case <-time.After(Timeout):
		_ = s.Cmd.Process.Kill()
		t.Errorf("still there %s after %s", Timeout, sig)
		<-s.Ended
	}
	return s.Cmd.ProcessState.ExitCode()
}

// Admin is the address of the admin listener, from the log.
func (s *Server) Admin(t *testing.T) string {
	t.Helper()
	_, rest, ok := strings.Cut(s.Log.String(), `msg="admin listener" address=`)
	address, _, _ := strings.Cut(rest, "\n")
	if !ok {
		t.Fatalf("no admin listener in the log:\n%s", s.Log)
	}
	return address
}

// Shot reports whether it has ended by SIGKILL.
func (s *Server) Shot() bool {
	select {
	case <-s.Ended:
		return BySIGKILL(s.Cmd.ProcessState)
	default:
		return false
	}
}

// BySIGKILL reports whether a process has ended so.
func BySIGKILL(ended *os.ProcessState) bool {
	status, ok := ended.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}
