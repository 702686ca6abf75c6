package consume_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/testkit/wait"
)

// A batch may be full before its demand comes, or take the demand as it lingers and be full at the same moment. The
// demand must not be lost between the two: nothing would be landed any more.
func TestNoDemandIsLostToAFullBatch(t *testing.T) {
	t.Parallel()
	var values []string
	for n := range 300 {
		values = append(values, strconv.Itoa(n))
	}
	cfg := newConfig(t, values...)
	cfg.Limits.Records, cfg.Limits.Linger = 1, time.Nanosecond
	target := &counter{}
	_, stop := start(t, cfg, target)
	defer stop()
	wait.For(t, "300 batches to land", func() bool { return target.landed.Load() == 300 })
}
