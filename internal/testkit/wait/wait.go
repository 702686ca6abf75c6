// Package wait is how tests wait: on a condition, never by the clock. It imports no package of this module, so that tests inside
// any package can use it.
package wait

import (
	"testing"
	"time"
)

const (
	limit = time.Minute // for a condition on a machine that is busy with other tests

	// A condition often asks a database, whose time other tests need: it is asked seldomer the longer it takes.
	minPause, maxPause = 2 * time.Millisecond, 50 * time.Millisecond
)

// For returns once the condition is true, and fails the test after a minute. what completes the sentence
// "waited a minute for …".
func For(t testing.TB, what string, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for pause := minPause; !condition(); pause = min(2*pause, maxPause) {
		if time.Now().After(deadline) {
			t.Fatalf("waited a minute for %s", what)
		}
		<-time.After(pause)
	}
}
