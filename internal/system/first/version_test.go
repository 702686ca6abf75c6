package first

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/system/run"
)

func TestABuildSaysWhichItIs(t *testing.T) {
	t.Parallel()
	line := run.Must(t, nil, "version")
	if !strings.HasPrefix(line, "answerscope ") || !strings.Contains(line, runtime.Version()) {
		t.Errorf("version printed %q", line)
	}
	if flag := run.Must(t, nil, "--version"); flag != line {
		t.Errorf("--version printed %q, want %q", flag, line)
	}
	var b struct{ Version, Go, Platform string }
	if err := json.Unmarshal([]byte(run.Must(t, nil, "version", "--json")), &b); err != nil || b.Version == "" ||
		b.Go == "" || b.Platform == "" {
		t.Errorf("version --json printed %+v, %v", b, err)
	}
	for _, part := range []string{b.Version, b.Go, b.Platform} {
		if !strings.Contains(line, part) {
			t.Errorf("version printed %q, without %q of version --json", line, part)
		}
	}
}
