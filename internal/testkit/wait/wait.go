// Package wait is how tests wait: on a condition, never by the clock. It imports no package of this module, so that
// tests inside any package can use it.
package wait

import (
	"testing"
	"time"
)

// Hang is how long an operation with a deadline of seconds may take, on a machine however busy, before a test takes it
// for one without a deadline. How soon it ends is a question for benches.
const Hang = time.Minute

const (
	// limit is for a condition on a machine that is busy with other tests. A defect that leaves a condition unmet is
	// reported after it.
	limit = 2 * time.Minute

	// A condition often asks a database, whose time other tests need: it is asked seldomer the longer it takes to come
	// true, and the pause is at least four times what asking took.
	minPause, maxPause, askingShare, longestPause = 2 * time.Millisecond, 100 * time.Millisecond, 4, time.Second
)

// For returns once the condition is true, and fails the test after two minutes. what completes the sentence
// "waited for …".
func For(t testing.TB, what string, condition func() bool) {
	t.Helper()
	Until(t, func() string {
		if condition() {
			return ""
		}
		return "waited for " + what
	})
}

// Until returns once lacking returns "", and fails the test with what is still lacking after two minutes.
func Until(t testing.TB, lacking func() string) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		asked := time.Now()
		what := lacking()
		if what == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %s: %s", limit, what)
		}
		<-time.After(max(pause, min(askingShare*time.Since(asked), longestPause)))
	}
}
