package bench

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
)

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

// thisMachine says what Linux tells; elsewhere less is known.
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
