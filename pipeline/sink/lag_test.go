package sink_test

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/internal/testkit"
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

// What has not landed is seen, and for how long it has been there, though the target
// stands still, or nothing could be fetched yet; and that all has landed.
func TestWhatHasNotLandedIsSeen(t *testing.T) {
	t.Parallel()
	testkit.Brokers(t, func(t *testing.T, brokers []string, _ string) {
		w := newWorld(t, brokers, 1)
		w.tellAt(t, time.Now().Add(-time.Hour), answers(t, 0, 10)...)
		w.tellAt(t, time.Now().Add(-time.Minute), answers(t, 10, 30)...)
		w.registry = prometheus.NewRegistry()
		lag := func() float64 { return gauge(t, w.registry, "answerscope_consume_lag_records") }
		age := func() float64 { return gauge(t, w.registry, "answerscope_consume_lag_seconds") }
		target := &halting[sink.Answer]{Target: w.sink(t), entered: make(chan struct{}), leave: make(chan struct{})}
		w.consume(t, target, small, func(c *consume.Consumer[sink.Answer]) bool {
			<-target.entered
			until(t, func() bool { return lag() == 30 && age() > 3599 && age() < 3700 })
			w.tell(t, answers(t, 30, 40)...)
			until(t, func() bool { return lag() == 40 })
			close(target.leave)
			until(t, func() bool { return lag() == 0 && age() == 0 })
			return true
		})

		w.tellAt(t, time.Now().Add(-2*time.Minute), []byte(`{"v":99}`))
		w.registry = prometheus.NewRegistry()
		w.consume(t, w.sink(t), small, func(c *consume.Consumer[sink.Answer]) bool {
			return lag() == 1 && age() > 119 && age() < 200 // the partition has stopped before it
		})
	})
}

// tellAt appends values to partition 0 as of a time.
func (w *world) tellAt(t *testing.T, at time.Time, values ...[]byte) {
	t.Helper()
	client := &kafka.Client{Addr: kafka.TCP(w.brokers...)}
	until(t, func() bool {
		var records []kafka.Record
		for _, v := range values {
			records = append(records, kafka.Record{Value: kafka.NewBytes(v), Time: at})
		}
		answer, err := client.Produce(t.Context(), &kafka.ProduceRequest{Topic: w.topic, RequiredAcks: kafka.RequireAll, Records: kafka.NewRecordReader(records...)})
		return err == nil && answer.Error == nil
	})
}
