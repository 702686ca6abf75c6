package cli

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
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
	var b build
	if err := json.Unmarshal([]byte(must(t, nil, "version", "--json")), &b); err != nil || b.String() != line {
		t.Errorf("version --json printed %+v, %v; want what makes %q", b, err, line)
	}
	if n := testutil.ToFloat64(b.metric()); n != 1 {
		t.Errorf("answerscope_build_info is %v, want 1", n)
	}
}
