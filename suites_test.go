package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

var (
	testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	testName     = regexp.MustCompile(`Test\w+`)
)

// No promise leaves make test: a test that only make test-all runs stands in the table of CONTRIBUTING.md, in the row
// of a test of make test that proves the same promise in its smallest form.
func TestEveryPromiseIsInMakeTest(t *testing.T) {
	broken, err := unproven(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	report(t, broken)
}

func TestTheLawOfPromisesCanFail(t *testing.T) {
	broken, err := unproven(fstest.MapFS{
		"CONTRIBUTING.md": {Data: []byte("| promise | `make test` | `make test-all` |\n|---|---|---|\n" +
			"| no loss | TestOne | TestMany |\n| no wait | TestMany | |\n| no test | TestNone | TestGone |\n")},
		"one_test.go":     {Data: []byte("package p\nfunc TestOne(")},
		"all_all_test.go": {Data: []byte("//go:build all\n\npackage p\nfunc TestMany(\nfunc TestOther(")},
	})
	want := []string{
		"CONTRIBUTING.md: no test: no test TestGone",
		"CONTRIBUTING.md: no test: no test of make test is called TestNone",
		"CONTRIBUTING.md: no wait: no test of make test is called TestMany",
		"TestOther is only in make test-all: CONTRIBUTING.md names no smaller test of its promise",
	}
	if slices.Sort(broken); err != nil || !slices.Equal(broken, want) {
		t.Errorf("%v, reported %q, want %q", err, broken, want)
	}
}

// unproven compares the table of promises with the tests that there are.
func unproven(root fs.FS) (broken []string, err error) {
	files, err := filesBelow(root, ".go")
	if err != nil {
		return nil, err
	}
	always, tagged := map[string]bool{}, map[string]bool{}
	for name, text := range files {
		if !strings.HasSuffix(name, "_test.go") {
			continue
		}
		tests := always
		if bytes.HasPrefix(text, []byte("//go:build all\n")) {
			tests = tagged
		}
		for _, m := range testFunction.FindAllSubmatch(text, -1) {
			tests[string(m[1])] = true
		}
	}
	delete(tagged, "TestMain")
	page, err := fs.ReadFile(root, "CONTRIBUTING.md")
	if err != nil {
		return nil, err
	}
	_, table, found := strings.Cut(string(page), "| promise | `make test` | `make test-all` |\n|---|---|---|\n")
	if !found {
		return []string{"CONTRIBUTING.md has no table of promises"}, nil
	}
	named := map[string]bool{}
	for row := range strings.SplitSeq(table, "\n") {
		cells := strings.Split(row, "|")
		if len(cells) != 5 {
			break // the table has ended
		}
		promise := "CONTRIBUTING.md: " + strings.TrimSpace(cells[1])
		for _, test := range testName.FindAllString(cells[2], -1) {
			if !always[test] {
				broken = append(broken, fmt.Sprintf("%s: no test of make test is called %s", promise, test))
			}
		}
		if !testName.MatchString(cells[2]) {
			broken = append(broken, promise+": make test has no test of it")
		}
		for _, test := range testName.FindAllString(cells[3], -1) {
			if named[test] = true; !tagged[test] && !always[test] {
				broken = append(broken, fmt.Sprintf("%s: no test %s", promise, test))
			}
		}
	}
	for test := range tagged {
		if !named[test] {
			broken = append(broken,
				test+" is only in make test-all: CONTRIBUTING.md names no smaller test of its promise")
		}
	}
	return broken, nil
}
