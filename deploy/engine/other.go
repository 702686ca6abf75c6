//go:build !linux

package engine

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// spawn starts cmd so that it gets sig when this process dies, even by SIGKILL. Without a parent-death signal of the
// kernel, a copy of this binary runs cmd and watches a pipe to this process: see runWatchdog. The ClickHouse child is a
// copy of this binary and watches itself.
func spawn(cmd *exec.Cmd, sig syscall.Signal, ownGroup bool) error {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = ownGroup
	if len(cmd.Args) > 1 && cmd.Args[1] == clickHouseChild {
		return cmd.Start()
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd.Args = append([]string{self, watchdogChild, strconv.Itoa(int(sig)), cmd.Path}, cmd.Args[1:]...)
	cmd.Path = self
	return cmd.Start()
}

// Only on Linux can an account work in a directory that it could not enter itself.
const (
	canEnterClosed = false
	workingDir     = ""
)

func runExec(execAs, []string) error { return errors.New("only for Linux") }

func inherited(file *os.File) string { return file.Name() }

// boundMemory does nothing: other kernels do not count private mappings.
func boundMemory() error { return nil }

// restrict does nothing: only the packages for Linux are known.
func restrict(string) error { return nil }
