// Command bench measures this machine: what each part of answerscope does a second, beside the ceiling that it is held
// against in the same run.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
)

// flags are the arguments of the program.
type flags struct {
	Name    string `arg:"" optional:"" help:"One of ${benches}; all but cluster, which needs root, when absent."`
	Broker  string `default:"embedded" enum:"embedded,apache" placeholder:"BROKER" help:"embedded or apache, which is the Apache Kafka of the tests (default embedded)."`
	JSON    bool   `name:"json" help:"One JSON document a line for each bench."`
	Answers string `default:"../shared/data/real-answers" type:"path" placeholder:"DIR" help:"Folder of brands.json and *.ndjson in the import format, in which advice hides competitors (default beside the checkout)."`
	Part    string `hidden:"" help:"Run a part of a bench, which starts it."`
}

func main() {
	runChild()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var f flags
	kong.Parse(&f, kong.Name("answerscope-bench"), kong.Description("Measure this machine."),
		kong.DefaultEnvars("ANSWERSCOPE"), kong.Vars{"benches": strings.Join(Names(), ", ")})
	if err := f.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "answerscope bench:", err)
		if errors.Is(err, errUsage) {
			os.Exit(2)
		}
		os.Exit(1)
	}
}

// errUsage is a name that no bench has.
var errUsage = errors.New("run with --help for its flags")

func (f *flags) run(ctx context.Context) error {
	if f.Part != "" {
		return Part(ctx, f.Part, os.Stdin, os.Stdout)
	}
	names := unprivileged()
	if f.Name != "" {
		if !slices.Contains(Names(), f.Name) {
			return fmt.Errorf("bench %q: want one of %s: %w", f.Name, strings.Join(Names(), ", "), errUsage)
		}
		names = []string{f.Name}
	}
	say := func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
	for _, name := range names {
		say("bench %s …", name)
		result, err := Run(ctx, name, Options{Broker: f.Broker, Answers: f.Answers, Progress: say})
		if err != nil {
			return err
		}
		if f.JSON {
			err = json.NewEncoder(os.Stdout).Encode(result)
		} else {
			err = result.Print(os.Stdout)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
