// Answerscope tells a brand how AI answer engines speak of it: one binary, a subcommand per process and per task.
package main

import (
	"os"

	"github.com/answerscope/answerscope/internal/cli"
)

func main() {
	os.Exit(cli.Main())
}
