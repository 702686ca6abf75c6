package imports

import (
	"cmp"
	"maps"
	"slices"
)

// Passed counts lines that were passed over for one reason.
type Passed struct {
	Name  string `json:"name"`
	Lines int    `json:"lines"`
}

const (
	mostNames = 1000 // that are counted at a time
	topNames  = 3
)

// frequent counts the most frequent names in bounded memory (Misra and Gries, 1982): a count is low by at most a
// thousandth of all lines, and exact while there are no more than a thousand names.
type frequent struct{ lines map[string]int }

func (f *frequent) add(name string) { f.addLines(Passed{name, 1}) }

func (f *frequent) addLines(passed Passed) {
	if f.lines == nil {
		f.lines = map[string]int{}
	}
	if _, ok := f.lines[passed.Name]; ok || len(f.lines) < mostNames {
		f.lines[passed.Name] += passed.Lines
		return
	}
	for name := range f.lines {
		if f.lines[name]--; f.lines[name] == 0 {
			delete(f.lines, name)
		}
	}
}

// top returns the most frequent names, then by name.
func (f *frequent) top() []Passed {
	all := []Passed{}
	for _, name := range slices.Sorted(maps.Keys(f.lines)) {
		all = append(all, Passed{name, f.lines[name]})
	}
	slices.SortStableFunc(all, func(a, b Passed) int { return cmp.Compare(b.Lines, a.Lines) })
	return all[:min(len(all), topNames)]
}

// addPassed adds the most frequent names of another file.
func addPassed(all, others []Passed) []Passed {
	var sum frequent
	for _, passed := range slices.Concat(all, others) {
		sum.addLines(passed)
	}
	return sum.top()
}
