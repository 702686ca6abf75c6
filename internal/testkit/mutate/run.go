package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	cleanLimit = 40 * time.Minute // as in make test

	// Tests that hang wait for conditions that never come true. A run with a defect may take so much longer than the
	// one without it, on a machine that is busy with other work.
	addedTime, slowdown = 2 * time.Minute, 4
)

// An outcome is what a run of tests reported.
type outcome struct {
	by     string // the first test that failed; "" where all passed
	hung   bool   // tests did not end in time
	passed int    // tests
	broken string // the line that says that source or SQL is not understood
	took   time.Duration
}

// caught reports whether the tests saw a defect.
func (o outcome) caught(d defect) bool { return o.by != "" && !o.hung || o.hung && d.hangs != "" }

// A runner plants defects in its tree and runs tests there.
type runner struct {
	tree  *tree
	out   io.Writer
	clean map[string]cleanRun // by arguments of go test
}

type cleanRun struct {
	outcome
	err error
}

func newRunner(ctx context.Context, root string, out io.Writer) (*runner, error) {
	t, err := copyTree(ctx, root)
	return &runner{t, out, map[string]cleanRun{}}, err
}

// try runs the tests of a defect with it, once they have passed without it. An error is one of the table.
func (r *runner) try(ctx context.Context, d defect) (o outcome, err error) {
	args := testFlags(d)
	key := strings.Join(args, " ")
	if _, ok := r.clean[key]; !ok {
		r.clean[key] = r.runClean(ctx, args)
	}
	clean := r.clean[key]
	if clean.err != nil {
		return o, clean.err
	}
	defer func() { err = errors.Join(err, r.tree.restore()) }()
	if err := r.tree.plant(d); err != nil {
		return o, err
	}
	if d.generate != "" {
		if text, err := r.command(ctx, "generate", d.generate).CombinedOutput(); err != nil {
			return o, fmt.Errorf("go generate %s: %w\n%s", d.generate, err, text)
		}
	}
	o, err = r.testTwice(ctx, args, addedTime+slowdown*clean.took)
	if err == nil && o.broken != "" {
		err = fmt.Errorf("it does not compile: %s", o.broken)
	}
	return o, err
}

// testTwice runs tests until one fails, and that one again: a test that fails now and then sees no defect. If it passes,
// all is run once more.
func (r *runner) testTwice(ctx context.Context, args []string, limit time.Duration) (o outcome, err error) {
	for range 2 {
		o, err = r.test(ctx, args, limit)
		if err != nil || o.by == "" || o.hung || o.broken != "" {
			return o, err
		}
		same := slices.Clone(args)
		if name, _, _ := strings.Cut(o.by, "/"); !strings.HasPrefix(name, noTest) {
			same = append(same, "-run", "^"+name+"$")
		}
		again, err := r.test(ctx, same, limit)
		if err != nil || again.by != "" || again.hung {
			return o, err
		}
		fmt.Fprintf(r.out, "%s fails now and then; ", o.by)
	}
	o.by = ""
	return o, nil
}

// runClean runs tests without a defect, and once more if they fail.
func (r *runner) runClean(ctx context.Context, args []string) cleanRun {
	o, err := r.test(ctx, args, cleanLimit)
	if err == nil && o.by != "" {
		o, err = r.test(ctx, args, cleanLimit)
	}
	switch {
	case err != nil:
	case o.broken != "":
		err = fmt.Errorf("without the defect: %s", o.broken)
	case o.by != "" || o.hung:
		err = fmt.Errorf("%s fails without the defect", cmp.Or(o.by, "a test"))
	case o.passed == 0:
		err = fmt.Errorf("go test %s runs no test", strings.Join(args, " "))
	}
	return cleanRun{o, err}
}

func testFlags(d defect) []string {
	var args []string
	if d.suite == "all" {
		args = append(args, "-tags", "all")
	}
	return append(args, d.tests...)
}

// test runs go test until the first failure.
func (r *runner) test(ctx context.Context, args []string, limit time.Duration) (outcome, error) {
	begin := time.Now()
	cmd := r.command(ctx, "test", append([]string{
		"-json", "-count=1", "-vet=off", "-failfast", "-ldflags=-s -w", "-timeout", limit.String(),
	}, args...)...)
	var events, errText bytes.Buffer
	cmd.Stdout, cmd.Stderr = &events, &errText
	err := cmd.Run()
	o, parseErr := read(&events)
	o.took = time.Since(begin)
	if err != nil && o.by == "" && !o.hung && o.broken == "" {
		return o, errors.Join(fmt.Errorf("go test %s: %w: %s", strings.Join(args, " "), err, &errText), parseErr)
	}
	return o, parseErr
}

// command returns a command of go in the tree. When the context ends, its test binaries end with it.
func (r *runner) command(ctx context.Context, verb string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", append([]string{verb}, args...)...)
	cmd.Dir = r.tree.dir
	cmd.Env = append(os.Environ(), "TMPDIR="+r.tree.temp(), "GOTMPDIR="+cmp.Or(os.Getenv("GOTMPDIR"), os.TempDir()))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}

// notUnderstood are words of PostgreSQL and ClickHouse about SQL that is no SQL: what an edit that does not compile is
// for Go.
var notUnderstood = []string{
	"(SQLSTATE 42601)", "(SQLSTATE 42703)", "(SQLSTATE 42P01)", "(SQLSTATE 42883)", "code: 62,", "code: 47,", "code: 46,",
}

// noTest begins the name of a test binary that failed outside of its tests.
const noTest = "the program of "

// read reads the events of go test -json.
func read(events io.Reader) (o outcome, err error) {
	decoder, outputs := json.NewDecoder(events), map[string][]string{}
	for {
		var e struct{ Action, ImportPath, Package, Test, Output string }
		if err := decoder.Decode(&e); errors.Is(err, io.EOF) {
			return o, nil
		} else if err != nil {
			return o, fmt.Errorf("read events of go test: %w", err)
		}
		test := e.Package + " " + e.Test
		switch e.Action {
		case "pass":
			if e.Test != "" {
				o.passed++
			}
			delete(outputs, test)
		case "fail":
			o.by = cmp.Or(o.by, e.Test, noTest+e.Package)
			o.broken = cmp.Or(o.broken, misunderstanding(outputs[test]))
		case "build-fail":
			o.broken = cmp.Or(o.broken, e.ImportPath)
		case "build-output":
			if !strings.HasPrefix(e.Output, "#") {
				o.broken = cmp.Or(o.broken, strings.TrimSpace(e.Output))
			}
		case "output":
			o.hung = o.hung || strings.HasPrefix(e.Output, "panic: test timed out after")
			outputs[test] = append(outputs[test], e.Output)
		}
	}
}

// misunderstanding returns the first line about SQL that is not understood.
func misunderstanding(lines []string) string {
	for _, line := range lines {
		for _, words := range notUnderstood {
			if strings.Contains(line, words) {
				return strings.TrimSpace(line)
			}
		}
	}
	return ""
}
