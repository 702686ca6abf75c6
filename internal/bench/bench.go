package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Options are settings of a run.
type Options struct {
	Broker   string                           // embedded or apache, for benches that need one; "" is embedded
	Answers  string                           // a folder with real answers, for bench advice
	Progress func(format string, args ...any) // reports the steps of a long bench
}

// Result is what one bench measured. Rates are per second, times in milliseconds, memory in bytes. A ratio is a figure
// over its ceiling, so that machines can be compared.
type Result struct {
	Bench    string             `json:"bench"`
	Figures  map[string]float64 `json:"figures"`
	Ceilings map[string]float64 `json:"ceilings"`
	Ratios   map[string]float64 `json:"ratios"`
	Machine  Machine            `json:"machine"`
	Lines    []string           `json:"-"` // for people; they replace the values whose key begins with a line's first word
}

// A bench measures into r, on a stack of the engines that it needs.
type bench struct {
	need engines
	run  func(ctx context.Context, o Options, s *stack, r *Result) error
}

var benches = map[string]bench{
	"advice":     {engines{}, measureAdvice},
	"answers":    {engines{clickhouse: true, broker: true}, answers},
	"cluster":    {engines{}, measureCluster},
	"collector":  {engines{postgres: true, broker: true}, collectors},
	"deliveries": {engines{postgres: true}, measureDeliveries},
	"freshness":  {engines{clickhouse: true, postgres: true, broker: true}, freshness},
	"page":       {engines{clickhouse: true, postgres: true}, page},
	"pipeline":   {engines{clickhouse: true, postgres: true, broker: true}, pipeline},
	"query":      {engines{clickhouse: true, postgres: true}, query},
	"rest":       {engines{postgres: true}, restTables},
	"tracking":   {engines{postgres: true, broker: true}, measureTracking},
}

// Names lists the benches.
func Names() []string { return slices.Sorted(maps.Keys(benches)) }

// unprivileged lists the benches that do not need root.
func unprivileged() []string {
	return slices.DeleteFunc(Names(), func(name string) bool { return name == "cluster" })
}

// Run measures one bench.
func Run(ctx context.Context, name string, o Options) (r Result, err error) {
	r = Result{Bench: name, Figures: map[string]float64{}, Ceilings: map[string]float64{}, Ratios: map[string]float64{}}
	b, ok := benches[name]
	if !ok {
		return r, fmt.Errorf("bench %q: want one of %s", name, strings.Join(Names(), ", "))
	}
	s, err := startStack(ctx, b.need, o.Broker)
	if err == nil {
		err = errors.Join(b.run(ctx, o, s, &r), s.close())
	}
	if err != nil {
		return r, fmt.Errorf("bench %s: %w", name, err)
	}
	r.Machine = thisMachine()
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
		keys := slices.DeleteFunc(slices.Sorted(maps.Keys(part.values)), r.hasLine)
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

// hasLine reports whether a line shows a value already: that of a-name_p50_ms begins with a-name.
func (r Result) hasLine(key string) bool {
	subject, _, _ := strings.Cut(key, "_")
	return slices.ContainsFunc(r.Lines, func(line string) bool { return strings.HasPrefix(line, subject+" ") })
}

// Machine is what a figure was measured on.
type Machine struct {
	CPU    string `json:"cpu,omitempty"`
	Cores  int    `json:"cores"`
	Memory int64  `json:"memory_bytes,omitempty"`
	System string `json:"system"` // linux/amd64
	Go     string `json:"go"`
	Load   string `json:"load,omitempty"` // runnable processes of the last minute, when the bench ended
}

func (m Machine) String() string {
	s := fmt.Sprintf("%d cores of %s, %s, %s", m.Cores, m.CPU, m.System, m.Go)
	if m.Memory > 0 {
		s += fmt.Sprintf(", %.1f GiB", float64(m.Memory)/(1<<30))
	}
	if m.Load != "" {
		s += ", load " + m.Load
	}
	return s
}

// thisMachine is as Linux describes it; elsewhere less is known.
func thisMachine() Machine {
	m := Machine{CPU: "unnamed CPU", Cores: runtime.GOMAXPROCS(0), System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version()}
	if name := field("/proc/cpuinfo", "model name"); name != "" {
		m.CPU = name
	}
	if kB, err := strconv.ParseInt(strings.TrimSuffix(field("/proc/meminfo", "MemTotal"), " kB"), 10, 64); err == nil {
		m.Memory = kB << 10
	}
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		m.Load, _, _ = strings.Cut(string(text), " ")
	}
	return m
}

// field is the first value of a key in a file of lines "key : value".
func field(file, key string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
