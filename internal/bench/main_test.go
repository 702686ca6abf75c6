package bench_test

import (
	"os"
	"slices"
	"testing"

	"github.com/answerscope/answerscope/internal/cli"
	"github.com/answerscope/answerscope/internal/testkit"
)

// Benches start a pipeline, a collector, a demo, a queryapi, and parts of their own: this binary is answerscope too.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && slices.Contains([]string{"pipeline", "collector", "bench", "demo", "queryapi"}, os.Args[1]) {
		os.Exit(cli.Main())
	}
	testkit.Main(m)
}
