package engine

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
)

// runWatchdog runs a command and ends it with the numbered signal when stdin ends,
// which it does when the process at the pipe's other end dies. Signals sent to the
// watchdog go on to the command.
func runWatchdog(number string, command []string) error {
	n, err := strconv.Atoi(number)
	if err != nil || len(command) == 0 {
		return fmt.Errorf("usage: %s SIGNAL COMMAND ARG…", watchdogChild)
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	forward := make(chan os.Signal, 8)
	signal.Notify(forward, syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("run %s under the watchdog: %w", command[0], err)
	}
	go func() {
		for sig := range forward {
			_ = cmd.Process.Signal(sig)
		}
	}()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = cmd.Process.Signal(syscall.Signal(n))
	}()
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("run %s under the watchdog: %w", command[0], err)
	}
	return nil
}
