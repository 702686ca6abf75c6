package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const root = "../../.."

// A defect whose text a change has moved would be planted nowhere, or somewhere else.
func TestEveryDefectCanBePlanted(t *testing.T) {
	t.Parallel()
	defects, err := parse(table)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range defects {
		text, err := os.ReadFile(filepath.Join(root, d.file))
		if err == nil {
			_, err = d.plant(text)
		}
		if err != nil {
			t.Errorf("defect %s: %v", d.name, err)
		}
		var packages []string
		for i, arg := range d.tests {
			if strings.HasPrefix(arg, "./") && (i == 0 || !strings.HasPrefix(d.tests[i-1], "-")) {
				packages = append(packages, arg)
			}
		}
		for _, pkg := range packages {
			if tests, err := filepath.Glob(filepath.Join(root, pkg, "*_test.go")); err != nil || len(tests) == 0 {
				t.Errorf("defect %s: %s has no tests", d.name, pkg)
			}
		}
		if len(packages) == 0 || slices.Contains(d.tests, "./...") {
			t.Errorf("defect %s: want the packages whose tests see it, not %q", d.name, d.tests)
		}
	}
}

func TestATableIsRefused(t *testing.T) {
	t.Parallel()
	const whole = "-- a --\npromise: P\nfile: f\nsuite: quick\ntests: ./p\n\nx\n=>\ny\n"
	if _, err := parse([]byte(whole)); err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{
		"a name twice":      whole + whole,
		"no promise":        strings.Replace(whole, "promise: P\n", "", 1),
		"an unknown field":  strings.Replace(whole, "promise", "promises", 1),
		"a field twice":     strings.Replace(whole, "file: f\n", "file: f\nfile: f\n", 1),
		"an unknown suite":  strings.Replace(whole, "quick", "quickly", 1),
		"no text after":     strings.Replace(whole, "=>\ny\n", "", 1),
		"nothing is edited": strings.Replace(whole, "=>\ny", "=>\nx", 1),
	} {
		if _, err := parse([]byte(text)); err == nil {
			t.Errorf("%s is not refused", what)
		}
	}
	for _, text := range []string{"", "x x"} {
		if _, err := (defect{before: "x", after: "y"}).plant([]byte(text)); err == nil {
			t.Errorf("planted into %q, want an error", text)
		}
	}
}

func TestOutcome(t *testing.T) {
	t.Parallel()
	hung := outcome{by: "TestA", hung: true}
	for events, want := range map[string]outcome{
		`{"Action":"pass","Package":"p","Test":"TestA"}{"Action":"pass","Package":"p"}`: {passed: 1},
		`{"Action":"fail","Package":"p","Test":"TestA/b"}{"Action":"fail","Package":"p",` +
			`"Test":"TestA"}`: {by: "TestA/b"},
		`{"Action":"fail","Package":"p"}`: {by: "the program of p"},
		`{"Action":"output","Test":"TestA","Output":"panic: test timed out after 1s\n"}{"Action":"fail",` +
			`"Test":"TestA"}`: hung,
		`{"Action":"build-output","Output":"# p\n"}{"Action":"build-output",` +
			`"Output":"p.go:1: no\n"}`: {broken: "p.go:1: no"},
		`{"Action":"output","Test":"TestA","Output":"error (SQLSTATE 42601)\n"}{"Action":"fail",` +
			`"Test":"TestA"}`: {by: "TestA", broken: "error (SQLSTATE 42601)"},
		`{"Action":"output","Test":"TestA","Output":"error (SQLSTATE 42601)\n"}{"Action":"pass",` +
			`"Test":"TestA"}`: {passed: 1},
		`{"Action":"output","Test":"TestA","Output":"code: 62, message: Syntax error\n"}{"Action":"fail",` +
			`"Test":"TestA"}`: {by: "TestA", broken: "code: 62, message: Syntax error"},
	} {
		if got, err := read(strings.NewReader(events)); err != nil || got != want {
			t.Errorf("%s: got %+v, %v, want %+v", events, got, err, want)
		}
	}
	if hung.caught(defect{}) || !hung.caught(defect{hangs: "a wait never ends"}) || (outcome{}).caught(defect{}) {
		t.Error("a hang is a catch only where the table says so, and a pass never")
	}
}
