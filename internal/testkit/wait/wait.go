// Package wait is how tests wait: on a condition, never by the clock. It imports nothing of ours, so that tests inside
// any package can use it.
package wait

import (
	"testing"
	"time"
)

// limit is how long a condition may take on a machine that is busy with other tests.
const limit = time.Minute

// For returns once the condition is true, and fails the test after a minute. what completes the sentence
// "waited a minute for …".
func For(t testing.TB, what string, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(limit)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		if time.Now().After(deadline) {
			t.Fatalf("waited a minute for %s", what)
		}
		<-tick.C
	}
}
