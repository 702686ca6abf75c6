package engine

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
)

// The hidden subcommands by which this package runs parts of itself in a child
// process. The binary may be answerscope or any test binary whose TestMain calls
// Main.
const (
	clickHouseChild = "engine-clickhouse" // LIBRARY ARG…: the engine itself
	execChild       = "engine-exec"       // HOW COMMAND ARG…: becomes COMMAND of another user
	watchdogChild   = "engine-watchdog"   // SIGNAL COMMAND ARG…: ends COMMAND when stdin ends
)

// Main runs the hidden subcommand that the process was started with, if there is
// one, and then never returns. Call it first in main and in TestMain.
func Main() {
	if len(os.Args) < 4 {
		return
	}
	var err error
	switch os.Args[1] {
	case clickHouseChild:
		err = runClickHouse(os.Args[2], os.Args[3:])
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

// selfCommand runs one of our subcommands in a child.
func selfCommand(args ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if runtime.GOOS == "linux" {
		self = "/proc/self/exe" // ours, also when the file was replaced by a newer build
	}
	cmd := exec.Command(self, args...)
	cmd.Args[0] = "answerscope"
	return cmd, nil
}
