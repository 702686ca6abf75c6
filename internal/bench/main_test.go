package bench_test

import (
	"os"
	"testing"

	"github.com/answerscope/answerscope/internal/cli"
	"github.com/answerscope/answerscope/internal/testkit"
)

// The bench of the pipeline starts one: this binary is answerscope too.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "pipeline" {
		os.Exit(cli.Main())
	}
	testkit.Main(m)
}
