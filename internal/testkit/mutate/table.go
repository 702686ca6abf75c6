package main

import (
	_ "embed" // the table
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"
)

//go:embed defects.txtar
var table []byte

// suites are the suites of tests; each contains the one before it.
var suites = []string{"quick", "test", "all"}

// within reports whether a suite is, or is part of, another.
func within(suite, other string) bool {
	return slices.Index(suites, suite) <= slices.Index(suites, other)
}

// A defect is an edit that breaks a promise, and the tests that must fail with it.
type defect struct {
	name          string
	promise       string // what it breaks
	file          string // below the root
	suite         string
	tests         []string // arguments of go test: packages and flags
	generate      string   // a package whose generated files the edit changes; "" is none
	hangs         string   // why its tests end by their timeout and not by a failure
	survives      string   // why no test is to see it
	before, after string   // texts
}

// parse reads a table and names everything that is wrong with its form.
func parse(text []byte) (defects []defect, err error) {
	var errs []error
	names := map[string]bool{}
	for _, section := range txtar.Parse(text).Files {
		d, err := parseDefect(section)
		if err == nil && names[d.name] {
			err = errors.New("the name is taken")
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("defect %s: %w", section.Name, err))
		}
		names[d.name] = true
		defects = append(defects, d)
	}
	return defects, errors.Join(errs...)
}

func parseDefect(section txtar.File) (defect, error) {
	d := defect{name: section.Name}
	head, texts, ok := strings.Cut(string(section.Data), "\n\n")
	before, after, separated := strings.Cut(texts, "\n=>\n")
	if !ok || !separated {
		return d, errors.New("want fields, an empty line, the text before, => on a line, the text after")
	}
	d.before, d.after = before, strings.TrimRight(after, "\n")
	var tests string
	fields := map[string]*string{
		"promise": &d.promise, "file": &d.file, "suite": &d.suite, "tests": &tests,
		"generate": &d.generate, "hangs": &d.hangs, "survives": &d.survives,
	}
	for line := range strings.Lines(head) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		field := fields[name]
		if field == nil || *field != "" || value == "" {
			return d, fmt.Errorf("line %q: unknown, empty or repeated", line)
		}
		*field = value
	}
	d.tests = strings.Fields(tests)
	switch {
	case d.promise == "" || d.file == "" || len(d.tests) == 0:
		return d, errors.New("want promise, file, suite and tests")
	case !slices.Contains(suites, d.suite):
		return d, fmt.Errorf("suite %q: want one of %q", d.suite, suites)
	case d.before == d.after:
		return d, errors.New("the texts before and after are equal")
	}
	return d, nil
}

// plant returns the text of a file with the defect.
func (d defect) plant(text []byte) ([]byte, error) {
	if n := strings.Count(string(text), d.before); n != 1 {
		return nil, fmt.Errorf("%s has the text before %d times, want once", d.file, n)
	}
	return []byte(strings.Replace(string(text), d.before, d.after, 1)), nil
}
