package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// benchCmd runs the program of benches, which stands beside this one, in its place.
type benchCmd struct {
	Name   string `arg:"" optional:"" help:"{bench_name}"`
	Broker string `default:"embedded" enum:"embedded,apache" placeholder:"BROKER" help:"{bench_broker}"`
	JSON   bool   `name:"json" help:"One JSON document a line for each bench."`
}

func (c *benchCmd) Run() error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find answerscope-bench: %w", err)
	}
	program := filepath.Join(filepath.Dir(self), "answerscope-bench")
	args := []string{program, "--broker=" + c.Broker}
	if c.JSON {
		args = append(args, "--json")
	}
	if c.Name != "" {
		args = append(args, "--", c.Name)
	}
	err = syscall.Exec(program, args, os.Environ())
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is missing: make build builds it", program)
	}
	return fmt.Errorf("run %s: %w", program, err)
}
