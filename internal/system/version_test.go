package system

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"
)

func TestABuildSaysWhichItIs(t *testing.T) {
	t.Parallel()
	line := must(t, nil, "version")
	if !strings.HasPrefix(line, "answerscope ") || !strings.Contains(line, runtime.Version()) {
		t.Errorf("version printed %q", line)
	}
	if flag := must(t, nil, "--version"); flag != line {
		t.Errorf("--version printed %q, want %q", flag, line)
	}
	var b struct{ Version, Go, Platform string }
	if err := json.Unmarshal([]byte(must(t, nil, "version", "--json")), &b); err != nil || b.Version == "" || b.Go == "" || b.Platform == "" {
		t.Errorf("version --json printed %+v, %v", b, err)
	}
	for _, part := range []string{b.Version, b.Go, b.Platform} {
		if !strings.Contains(line, part) {
			t.Errorf("version printed %q, without %q of version --json", line, part)
		}
	}
}
