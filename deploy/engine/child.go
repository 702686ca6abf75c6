package engine

import (
	"fmt"
	"os"
)

// The hidden subcommands by which this package runs parts of itself in a child
// process. The binary may be answerscope or any test binary whose TestMain calls
// Main.
const (
	clickHouseChild = "engine-clickhouse" // LIBRARY ARG…: the engine itself
	guardChild      = "engine-guard"      // SIGNAL COMMAND ARG…: ends COMMAND when stdin ends
)

// Main runs the hidden subcommand that the process was started with, if there is
// one, and then never returns. Call it first in main and in TestMain.
func Main() {
	if len(os.Args) < 3 {
		return
	}
	var err error
	switch os.Args[1] {
	case clickHouseChild:
		err = runClickHouse(os.Args[2], os.Args[3:])
	case guardChild:
		err = runGuard(os.Args[2], os.Args[3:])
	default:
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}
