// Command mutate plants defects in a copy of the checkout, one at a time, and reports those that no test sees:
//
//	go run ./internal/testkit/mutate -suite quick
//	go run ./internal/testkit/serve go run ./internal/testkit/mutate sink/ notify
//
// The defects are in defects.txtar, which explains its form.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

const usage = `usage: mutate [-suite quick|test|all] [-list] [PATTERN…]

It copies the tracked files to a temporary directory, plants one defect after the
other there, and runs the tests that must fail. Defects of the suites test and all
need engines: run it under internal/testkit/serve, as make mutate does.

  mutate -suite quick         what needs no engine, in minutes
  mutate                      everything
  mutate sink/ 'ask.*limit'   what matches a pattern by its name or file
  mutate -list notify         the names of those, and what each breaks

It exits with 1 if a defect survives that the table does not expect to, if the table
is wrong, or if tests see fewer than 90 % (suite test) or 95 % (all) of the defects.

`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	defects, err := parse(table)
	if err != nil {
		return err
	}
	flags := flag.NewFlagSet("mutate", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), usage)
		flags.PrintDefaults()
	}
	suite := flags.String("suite", "all", "only defects that this suite must catch: quick, test or all")
	list := flags.Bool("list", false, "print the defects instead of planting them")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if !slices.Contains(suites, *suite) {
		return fmt.Errorf("suite %q: want one of %q", *suite, suites)
	}
	defects, err = choose(defects, *suite, flags.Args())
	if err != nil {
		return err
	}
	if *list {
		for _, d := range defects {
			fmt.Fprintf(out, "%-6s %s: %s\n", d.suite, d.name, d.promise)
		}
		return nil
	}
	r, err := newRunner(ctx, ".", out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.tree.remove()) }()
	return report{defects: defects, partial: flags.NArg() > 0, suite: *suite, out: out}.plant(ctx, r)
}

// choose returns the defects that a suite must catch and that match any of the patterns by name or file.
func choose(defects []defect, suite string, patterns []string) ([]defect, error) {
	var matches []*regexp.Regexp
	for _, pattern := range patterns {
		match, err := regexp.Compile(pattern)
		if err != nil {
			return nil, err
		}
		matches = append(matches, match)
	}
	var chosen []defect
	for _, d := range defects {
		matched := slices.ContainsFunc(matches, func(m *regexp.Regexp) bool {
			return m.MatchString(d.name) || m.MatchString(d.file)
		})
		if within(d.suite, suite) && (matched || len(matches) == 0) {
			chosen = append(chosen, d)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("no defect of suite %s matches %q", suite, patterns)
	}
	return chosen, nil
}

// minimal is the least share of defects, in percent, that a suite must catch.
var minimal = map[string]int{"test": 90, "all": 95}

// A report plants defects and counts what became of them.
type report struct {
	defects []defect
	partial bool // some defects of the suite were not chosen
	suite   string
	out     io.Writer
}

func (p report) plant(ctx context.Context, r *runner) error {
	var (
		caught   []defect
		survived int // against the table
		errs     []error
	)
	for i, d := range p.defects {
		fmt.Fprintf(p.out, "%3d/%d %s: ", i+1, len(p.defects), d.name)
		o, err := r.try(ctx, d)
		if ctx.Err() != nil {
			fmt.Fprintln(p.out, "interrupted")
			p.defects, p.partial = p.defects[:i], true
			errs = append(errs, context.Cause(ctx))
			break
		}
		if err != nil {
			fmt.Fprintln(p.out, "ERROR:", err)
			errs = append(errs, fmt.Errorf("%s: %w", d.name, err))
			continue
		}
		fmt.Fprintln(p.out, o.sentence(d))
		switch {
		case o.caught(d):
			caught = append(caught, d)
		case d.survives == "":
			survived++
		}
	}
	if survived > 0 {
		errs = append(errs, fmt.Errorf("%d defects survived that the table does not expect to", survived))
	}
	return errors.Join(append(errs, p.count(caught)...)...)
}

// count prints what each suite caught, and returns an error for each that caught too little.
func (p report) count(caught []defect) (errs []error) {
	for _, suite := range suites[:slices.Index(suites, p.suite)+1] {
		all, seen := amount(p.defects, suite), amount(caught, suite)
		if all == 0 {
			continue
		}
		fmt.Fprintf(p.out, "%-5s caught %d of %d: %.1f %%\n", suite, seen, all, 100*float64(seen)/float64(all))
		if !p.partial && 100*seen < minimal[suite]*all {
			errs = append(errs, fmt.Errorf("suite %s catches less than %d %%", suite, minimal[suite]))
		}
	}
	return errs
}

func amount(defects []defect, suite string) (n int) {
	for _, d := range defects {
		if within(d.suite, suite) {
			n++
		}
	}
	return n
}

// sentence returns what became of a planted defect.
func (o outcome) sentence(d defect) string {
	took := o.took.Round(time.Second / 10)
	switch {
	case o.hung && d.hangs != "":
		return fmt.Sprintf("caught: hung for %s, as expected: %s", took, d.hangs)
	case o.hung:
		return fmt.Sprintf("HUNG for %s, which is no failure: %s", took, d.promise)
	case o.by != "" && d.survives != "":
		return fmt.Sprintf("caught by %s in %s: take `survives` out of the table", o.by, took)
	case o.by != "":
		return fmt.Sprintf("caught by %s in %s", o.by, took)
	case d.survives != "":
		return fmt.Sprintf("survived in %s, as expected: %s", took, d.survives)
	}
	return fmt.Sprintf("SURVIVED %s in %s: %s", strings.Join(d.tests, " "), took, d.promise)
}
