package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/cli"
	"github.com/answerscope/answerscope/internal/testkit"
)

// Benches start a pipeline, a collector, a demo, a queryapi, and parts of their own: this test binary is answerscope
// and its bench too.
func TestMain(m *testing.M) {
	runChild()
	if len(os.Args) > 1 &&
		slices.Contains([]string{"pipeline", "collector", "demo", "queryapi", "migrate"}, os.Args[1]) {
		os.Exit(cli.Main())
	}
	findProduct = os.Executable
	if slices.ContainsFunc(os.Args[1:], func(arg string) bool { return strings.HasPrefix(arg, "--part") }) {
		main()
		return
	}
	testkit.Main(m)
}
