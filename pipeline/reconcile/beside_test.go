package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/reconcile"
	"github.com/answerscope/answerscope/pipeline/sink"
)

const (
	partitions = 6
	portion    = 2000   // visits of one append
	pace       = 22_000 // visits a second that are appended, at most
)

// visits are encoded visits of one brand, all different, told apart by from.
func visits(t *testing.T, from int) []kafka.Record {
	t.Helper()
	begin := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	organization, brand := uuid.UUID{15: 1}, uuid.UUID{15: 2}
	var all []kafka.Record
	for n := from; n < from+portion; n++ {
		at := begin.Add(time.Duration(n%60) * 24 * time.Hour).Add(time.Duration(n) * time.Millisecond)
		value, err := event.EncodeVisit(nil, &event.Visit{
			V: event.Version, ID: event.RunID(event.Identity{BrandID: brand, Sample: int64(n), Due: at}),
			OrganizationID: organization, BrandID: brand, At: event.At(at), Event: event.VisitView,
			Platform: "chatgpt", PlatformBy: "referrer", Host: "lumen.example", Path: fmt.Sprint("/", n%50), NewSession: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, kafka.Record{Value: kafka.NewBytes(value)})
	}
	return all
}

// sinking runs the sink of visits until stop, which returns how many were appended.
func (w *world) sinking(t *testing.T) (appended func() int, stop func()) {
	t.Helper()
	topic := w.prefix + "visits"
	client := &kafka.Client{Addr: kafka.TCP(w.brokers...)}
	made, err := client.CreateTopics(t.Context(), &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{{Topic: topic, NumPartitions: partitions, ReplicationFactor: 1}}})
	if err = errors.Join(err, made.Errors[topic]); err != nil {
		t.Fatal(err)
	}
	cfg := consume.DefaultConfig()
	cfg.Brokers, cfg.Group, cfg.Topic = w.brokers, w.prefix+"sink", topic
	cfg.Lock = consume.LockWith(w.db.LockSinksShared)
	cfg.Limits = sink.VisitLimits(cfg.Limits)
	log := slog.New(slog.DiscardHandler)
	c, err := consume.New(cfg, sink.NewVisits(w.conn, sink.CachedVisitIDs, prometheus.NewRegistry(), log), prometheus.NewRegistry(), log)
	if err != nil {
		t.Fatal(err)
	}
	reading, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(reading) }()
	t.Cleanup(func() {
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})

	writing, stopWriting := context.WithCancel(t.Context())
	counts := make(chan int)
	written := 0
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(portion * time.Second / pace)
		defer tick.Stop()
		for n := 0; writing.Err() == nil; <-tick.C {
			answer, err := client.Produce(t.Context(), &kafka.ProduceRequest{
				Topic: topic, Partition: n / portion % partitions, RequiredAcks: kafka.RequireAll, Records: kafka.NewRecordReader(visits(t, n)...),
			})
			if err == nil {
				err = answer.Error
			}
			if err == nil {
				n += portion
				written = n
			}
			select {
			case counts <- written:
			default:
			}
		}
	}()
	return func() int { return <-counts }, func() {
		stopWriting()
		<-done
		close(counts)
		until(t, func() bool { return w.number(t, "(SELECT count() FROM visits)") >= int64(written) })
		if n := w.number(t, "(SELECT uniqExact(id) FROM visits)"); n != int64(written) {
			t.Errorf("%d visits landed, %d were appended", n, written)
		}
	}
}

func until(t *testing.T, done func() bool) {
	t.Helper()
	bound := time.NewTimer(90 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer bound.Stop()
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-bound.C:
			t.Fatal("waited 90 s in vain")
		}
	}
}

// Beside sinks that land 20,000 visits a second, whatever is planted is found and
// mended, nothing else is found, and no row is lost or doubled by it.
func TestReconcileBesideInserts(t *testing.T) {
	w := newWorld(t)
	appended, stop := w.sinking(t)
	until(t, func() bool { return w.number(t, "(SELECT count() FROM visits)") > 20*portion })
	began, before := time.Now(), appended()
	plants := []string{
		"INSERT INTO visit_daily SELECT * FROM visit_daily WHERE toYYYYMM(day) = 202603 LIMIT 3 SETTINGS insert_deduplicate = 0",
		"ALTER TABLE visit_daily DELETE WHERE path = '/7' AND toYYYYMM(day) = 202603 SETTINGS mutations_sync = 1",
		"ALTER TABLE visit_daily UPDATE sessions = sessions - 1 WHERE path = '/9' AND toYYYYMM(day) = 202603 SETTINGS mutations_sync = 1",
	}
	if r := w.reconcile(t, reconcile.Scope{Repair: reconcile.RepairAll}); len(r.Findings) != 0 {
		t.Errorf("before anything was planted: %s", places(r))
	}
	for _, plant := range plants {
		w.exec(t, plant)
		if r := w.reconcile(t, reconcile.Scope{From: 202603, To: 202603, Repair: reconcile.RepairAll}); places(r) != "visit_daily 2026-03 mended" {
			t.Errorf("after %s: %s", plant, places(r))
		}
	}
	rate := float64(appended()-before) / time.Since(began).Seconds()
	stop()
	t.Logf("%.0f visits a second were appended meanwhile", rate)
	if r := w.reconcile(t, reconcile.Scope{}); len(r.Findings) != 0 {
		t.Errorf("in the end: %s", places(r))
	}
	landed := w.number(t, "(SELECT count() FROM visits)")
	for _, sum := range []string{"visits", "sessions"} {
		if n := w.number(t, "(SELECT sum("+sum+") FROM visit_daily)"); n != landed {
			t.Errorf("%s: %d, and %d visits landed", sum, n, landed)
		}
	}
}
