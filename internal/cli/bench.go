package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	benches "github.com/answerscope/answerscope/internal/bench"
)

// bench measures this machine.
type bench struct {
	Name   string `arg:"" optional:"" help:"One of ${benches}; all of them when absent."`
	Broker string `default:"embedded" enum:"embedded,apache" placeholder:"BROKER" help:"embedded or apache, which is the Apache Kafka of the tests (default embedded)."`
	JSON   bool   `name:"json" help:"One JSON document a line for each bench."`
	Part   string `hidden:"" help:"Be a part of a bench, which starts it."`
}

func (c *bench) Run(ctx context.Context, p *process) error {
	if c.Part != "" {
		return benches.Part(ctx, c.Part, p.stdin, p.stdout)
	}
	names := benches.Names()
	if c.Name != "" {
		if !slices.Contains(names, c.Name) {
			return usageError{fmt.Errorf("bench %q: want one of %s", c.Name, strings.Join(names, ", "))}
		}
		names = []string{c.Name}
	}
	for _, name := range names {
		p.say("bench %s …", name)
		measured, err := benches.Run(ctx, name, benches.Options{Broker: c.Broker, Progress: p.say})
		if err != nil {
			return err
		}
		if c.JSON {
			err = p.printJSON(measured)
		} else {
			err = measured.Print(p.stdout)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
