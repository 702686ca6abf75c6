// Command faulty is answerscope with a fault point that a test may arm.
package main

import (
	"fmt"
	"os"

	"github.com/answerscope/answerscope/internal/cli"
	"github.com/answerscope/answerscope/internal/fault"
)

func main() {
	if at := os.Getenv(fault.Variable); at != "" {
		if err := fault.Arm(at); err != nil {
			fmt.Fprintln(os.Stderr, "faulty:", err)
			os.Exit(2)
		}
		_ = os.Unsetenv(fault.Variable) // it is no setting of answerscope, nor of its child processes
	}
	os.Exit(cli.Main())
}
