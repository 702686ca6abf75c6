package sink_test

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/sink"
)

// gauge is the value of a metric of partition 0, -1 when it has none.
func gauge(t *testing.T, registry *prometheus.Registry, name string) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, m := range family.GetMetric() {
			for _, label := range m.GetLabel() {
				if label.GetName() == "partition" && label.GetValue() == "0" {
					return m.GetGauge().GetValue()
				}
			}
		}
	}
	return -1
}

// The metrics show how many records have not landed, and for how long they have been on the log, though the target
// hangs, or nothing could be fetched yet; and that all has landed.
func TestLagIsMeasured(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t, testkit.Kafka(t), 1)
	w.appendAt(t, 0, time.Now().Add(-time.Hour), answers(t, 0, 5)...)
	w.appendAt(t, 0, time.Now().Add(-time.Minute), answers(t, 5, 10)...)
	w.registry = prometheus.NewRegistry()
	lag := func() float64 { return gauge(t, w.registry, "answerscope_consume_lag_records") }
	age := func() float64 { return gauge(t, w.registry, "answerscope_consume_lag_seconds") }
	target := &halting[sink.Answer]{Target: w.sink(t), entered: make(chan struct{}), leave: make(chan struct{})}
	w.consume(t, target, small, func(*consume.Consumer[sink.Answer]) bool {
		<-target.entered
		wait.For(t, "the metrics", func() bool { return lag() == 10 && age() > 3599 && age() < 3700 })
		w.append(t, answers(t, 10, 15)...)
		wait.For(t, "the metrics", func() bool { return lag() == 15 })
		close(target.leave)
		wait.For(t, "the metrics", func() bool { return lag() == 0 && age() == 0 })
		return true
	})

	w.appendAt(t, 0, time.Now().Add(-2*time.Minute), []byte(`{"v":99}`))
	w.registry = prometheus.NewRegistry()
	w.consume(t, w.sink(t), small, func(*consume.Consumer[sink.Answer]) bool {
		return lag() == 1 && age() > 119 && age() < 200 // the partition has stopped before it
	})
}
