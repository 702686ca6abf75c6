package cli

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestABuildIsAMetric(t *testing.T) {
	if n := testutil.ToFloat64(thisBuild().metric()); n != 1 {
		t.Errorf("answerscope_build_info is %v, want 1", n)
	}
}
