//go:build all && linux

package main

import (
	"testing"
	"time"

	"github.com/answerscope/answerscope/ingest/event"
)

// The bench of a cluster needs root and half a minute of two cores for each set-up: make test-crash runs it.
func TestClusterIsMeasured(t *testing.T) {
	whole := clustering
	defer func() { clustering = whole }()
	clustering.records = map[string]int{event.TopicVisits: 20_000, event.TopicAnswers: 400}
	clustering.beacons = time.Second
	runBench(t, "cluster")
}
