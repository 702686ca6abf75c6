package consume

import (
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// decoding is a Target that only decodes.
type decoding struct {
	Target[int]
	decode func()
}

func (decoding) Version() int                           { return 1 }
func (d decoding) Decode(int, Record) (int, int, error) { d.decode(); return 1, 202603, nil }

// A batch that is full takes at most the one demand that came for it, and does not lose it.
func TestAFullBatchTakesItsDemandOrLeavesIt(t *testing.T) {
	demand := make(chan struct{}, 1)
	taken := func() {
		for end := time.Now().Add(10 * time.Second); len(demand) > 0 && time.Now().Before(end); {
			<-time.After(time.Millisecond)
		}
	}
	for name, c := range map[string]struct {
		linger      time.Duration
		decode      func()
		times       int
		takes, both bool // both: it may take the demand or leave it
	}{
		"full before it has lingered":      {linger: time.Hour, decode: func() {}, times: 1},
		"full after its demand was taken":  {linger: 1, decode: taken, times: 1, takes: true},
		"full at the moment of its demand": {linger: 1, decode: func() {}, times: 1000, both: true},
	} {
		cfg := DefaultConfig()
		cfg.Brokers, cfg.Group, cfg.Topic = []string{"127.0.0.1:1"}, "group", "things"
		cfg.Limits.Records, cfg.Limits.Linger = 1, c.linger
		consumer, err := New[int](cfg, decoding{decode: c.decode}, prometheus.NewRegistry(),
			slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		p := &partition[int]{consumer: consumer, log: consumer.log}
		for range c.times {
			select {
			case demand <- struct{}{}:
			default:
			}
			full, demanded := p.collectBatch(t.Context(), &fetcher{held: &Record{}}, p.newBuilder(1), demand)
			if full.batch == nil || len(full.batch.Items) != 1 || full.stop != nil {
				t.Fatalf("%s: collected %+v", name, full)
			}
			if left := len(demand) == 1; demanded == left || !c.both && demanded != c.takes {
				t.Fatalf("%s: demanded %v, and the demand is left: %v", name, demanded, left)
			}
		}
	}
}
