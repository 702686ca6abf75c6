package engine

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"

	"github.com/ebitengine/purego"
)

// The hidden subcommands run parts of this package in a child process. The binary is answerscope or a test binary whose
// TestMain calls Main.
const (
	clickHouseChild = "engine-clickhouse" // LIBRARY ARG…: the engine itself
	execChild       = "engine-exec"       // HOW PATH ARG…: becomes the program PATH as another user
	watchdogChild   = "engine-watchdog"   // SIGNAL COMMAND ARG…: ends COMMAND when stdin ends
)

// Main runs the hidden subcommand of the process, if it has one, and then does not return. Call it first in main and in
// TestMain.
func Main() {
	if len(os.Args) < 4 {
		return
	}
	var err error
	switch os.Args[1] {
	case clickHouseChild:
		err = RunClickHouse(os.Args[2], os.Args[3:], nil)
	case execChild:
		var as execAs
		if err = json.Unmarshal([]byte(os.Args[2]), &as); err == nil {
			err = runExec(as, os.Args[3:])
		}
	case watchdogChild:
		err = runWatchdog(os.Args[2], os.Args[3:])
	default:
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// selfCommand returns the command of a hidden subcommand.
func selfCommand(args ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if runtime.GOOS == "linux" {
		self = "/proc/self/exe" // also if the file was replaced by a newer build
	}
	cmd := exec.Command(self, args...)
	cmd.Args[0] = "answerscope"
	return cmd, nil
}

// RunClickHouse loads the engine's library and runs its command line, which returns when its query is killed (see
// ClickHouse.Stop). The engine also ends when stdin does, since then the parent has died. It ignores the signals that a
// supervisor sends to every process, since the parent still has rows to insert, and SIGPIPE, which a write to a peer
// that has gone raises. Tests may change the loaded library first.
func RunClickHouse(library string, args []string, change func() error) error {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGPIPE)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
	if err := boundMemory(); err != nil {
		return err
	}
	lib, err := purego.Dlopen(library, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return fmt.Errorf("load %s: %w", library, err)
	}
	if err := restrict(library); err != nil {
		return err
	}
	if change != nil {
		if err := change(); err != nil {
			return err
		}
	}
	var queryCmdline func(argc int32, argv unsafe.Pointer) uintptr
	purego.RegisterLibFunc(&queryCmdline, lib, "chdb_query_cmdline")

	argv := make([]*byte, 0, len(args)+2)
	for _, arg := range append([]string{"clickhouse"}, args...) {
		argv = append(argv, &append([]byte(arg), 0)[0])
	}
	argv = append(argv, nil) // C's argv ends with a null pointer
	queryCmdline(int32(len(argv)-1), unsafe.Pointer(&argv[0]))
	runtime.KeepAlive(argv)
	return nil
}

// runWatchdog runs a command and ends it with the numbered signal when stdin ends, because the process at the pipe's
// other end has died. It forwards signals to the command.
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
