// Package bench measures this machine: what each part does a second, beside the
// ceiling that it is held against in the same run.
package bench

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Options are what benches are asked with.
type Options struct {
	Broker string                           // "embedded" or "apache", for those that need one; "" is embedded
	Tell   func(format string, args ...any) // how a long one goes on; nil tells nobody
}

func (o Options) tell(format string, args ...any) {
	if o.Tell != nil {
		o.Tell(format, args...)
	}
}

// Result is what one bench measured. Rates are per second, times in
// milliseconds, memory in bytes. A ratio is a figure over its ceiling, so that
// machines can be compared.
type Result struct {
	Bench    string             `json:"bench"`
	Figures  map[string]float64 `json:"figures"`
	Ceilings map[string]float64 `json:"ceilings"`
	Ratios   map[string]float64 `json:"ratios"`
	Machine  Machine            `json:"machine"`
	Lines    []string           `json:"-"` // for people, instead of the values that bear the first word of one
}

// benches are the benchmarks by name.
var benches = map[string]func(context.Context, Options) (Result, error){
	"answers":   answers,
	"codec":     codec,
	"collector": collectors,
	"extract":   extraction,
	"freshness": freshness,
	"pipeline":  pipeline,
	"query":     query,
}

// Names lists the benches.
func Names() []string { return slices.Sorted(maps.Keys(benches)) }

// Run measures one bench.
func Run(ctx context.Context, name string, o Options) (Result, error) {
	run, ok := benches[name]
	if !ok {
		return Result{}, fmt.Errorf("bench %q: want one of %s", name, strings.Join(Names(), ", "))
	}
	r, err := run(ctx, o)
	if err != nil {
		return Result{}, fmt.Errorf("bench %s: %w", name, err)
	}
	r.Bench, r.Machine = name, thisMachine()
	return r, nil
}

// Print writes r for people.
func (r Result) Print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s\n", r.Bench, r.Machine)
	for _, line := range r.Lines {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	for _, part := range []struct {
		name   string
		values map[string]float64
		digits int
	}{{"figures", r.Figures, 0}, {"ceilings", r.Ceilings, 0}, {"ratios", r.Ratios, 2}} {
		keys := slices.DeleteFunc(slices.Sorted(maps.Keys(part.values)), r.inLines)
		if len(keys) == 0 {
			continue
		}
		fmt.Fprintf(&b, "  %s\n", part.name)
		for _, key := range keys {
			digits := part.digits
			if strings.Contains(key, "_ms") {
				digits = 1
			}
			fmt.Fprintf(&b, "    %-32s%14.*f\n", key, digits, part.values[key])
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// inLines tells whether a line says a value already: a-name_p50_ms is said by
// the line that begins with a-name.
func (r Result) inLines(key string) bool {
	subject, _, _ := strings.Cut(key, "_")
	return slices.ContainsFunc(r.Lines, func(line string) bool { return strings.HasPrefix(line, subject+" ") })
}
