package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/reconcile"
	"github.com/answerscope/answerscope/pipeline/sink"
)

const (
	partitions = 3
	portion    = 250 // visits of one append
	pace       = 500 // visits a second that are appended, at most
)

// visits are a portion of encoded visits of one brand, numbered from a number on, so that no two are alike.
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
			Platform: "chatgpt", PlatformBy: "referrer", Host: "lumen.example", Path: fmt.Sprint("/", n%50),
			NewSession: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, kafka.Record{Value: kafka.NewBytes(value)})
	}
	return all
}

// sinking appends visits and runs their sink until stop, which waits until all have landed.
func (f *fixture) sinking(t *testing.T) (stop func()) {
	t.Helper()
	topic := f.prefix + "visits"
	client := &kafka.Client{Addr: kafka.TCP(f.brokers...)}
	created, err := client.CreateTopics(t.Context(),
		&kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{{Topic: topic, NumPartitions: partitions,
			ReplicationFactor: 1}}})
	if err = errors.Join(err, created.Errors[topic]); err != nil {
		t.Fatal(err)
	}
	cfg := consume.DefaultConfig()
	cfg.Brokers, cfg.Group, cfg.Topic = f.brokers, f.prefix+"sink", topic
	cfg.Lock = consume.LockWith(f.db.LockSinksShared)
	cfg.Limits = sink.VisitLimits(cfg.Limits)
	log := slog.New(slog.DiscardHandler)
	c, err := consume.New(cfg, sink.NewVisits(f.conn, sink.CachedVisitIDs, prometheus.NewRegistry(), log),
		prometheus.NewRegistry(), log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(testkit.Start(t, c.Run))

	writing, stopWriting := context.WithCancel(t.Context())
	var written atomic.Int64
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(portion * time.Second / pace)
		defer tick.Stop()
		for n := 0; writing.Err() == nil; <-tick.C {
			answer, err := client.Produce(t.Context(), &kafka.ProduceRequest{
				Topic: topic, Partition: n / portion % partitions, RequiredAcks: kafka.RequireAll,
				Records: kafka.NewRecordReader(visits(t, n)...),
			})
			if err == nil && answer.Error == nil {
				n += portion
				written.Store(int64(n))
			}
		}
	}()
	return func() {
		stopWriting()
		<-done
		wait.For(t, "all visits to land", func() bool {
			return f.number(t,
				"(SELECT count() FROM visits)") >= written.Load()
		})
		if n := f.number(t, "(SELECT uniqExact(id) FROM visits)"); n != written.Load() {
			t.Errorf("%d visits landed, %d were appended", n, written.Load())
		}
	}
}

// While sinks land visits, each planted difference is found and repaired, nothing else is found, and no row is lost or
// doubled by it.
func TestReconcileBesideInserts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	stop := f.sinking(t)
	wait.For(t, "visits to land", func() bool { return f.number(t, "(SELECT count() FROM visits)") > 10*portion })
	plants := []string{
		"INSERT INTO visit_daily SELECT * FROM visit_daily WHERE toYYYYMM(day) = 202603 LIMIT 3 SETTINGS " +
			"insert_deduplicate = 0",
		"ALTER TABLE visit_daily DELETE WHERE path = '/7' AND toYYYYMM(day) = 202603 SETTINGS mutations_sync = 1",
		"ALTER TABLE visit_daily UPDATE sessions = sessions - 1 WHERE path = '/9' AND toYYYYMM(day) = 202603 " +
			"SETTINGS mutations_sync = 1",
	}
	if r := f.reconcile(t, reconcile.Scope{Repair: reconcile.RepairAll}); len(r.Findings) != 0 {
		t.Errorf("before anything was planted: %s", findings(r))
	}
	for _, plant := range plants {
		f.exec(t, plant)
		if r := f.reconcile(t, reconcile.Scope{From: 202603, To: 202603,
			Repair: reconcile.RepairAll}); findings(r) != "visit_daily 2026-03 repaired" {
			t.Errorf("after %s: %s", plant, findings(r))
		}
	}
	stop()
	if r := f.reconcile(t, reconcile.Scope{}); len(r.Findings) != 0 {
		t.Errorf("in the end: %s", findings(r))
	}
	landed := f.number(t, "(SELECT count() FROM visits)")
	for _, sum := range []string{"visits", "sessions"} {
		if n := f.number(t, "(SELECT sum("+sum+") FROM visit_daily)"); n != landed {
			t.Errorf("%s: %d, and %d visits landed", sum, n, landed)
		}
	}
}
