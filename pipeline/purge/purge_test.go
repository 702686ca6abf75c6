package purge_test

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
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/purge"
	"github.com/answerscope/answerscope/pipeline/sink"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// world is a log of answers of three brands, of which two belong to one organization.
type world struct {
	brokers      []string
	topic, group string
	db           *postgres.DB
	warehouse    *clickhouse.Conn
	brands       []postgres.Brand
	told         int // answers of each brand
	metrics      *prometheus.Registry
}

func newWorld(t *testing.T) *world {
	t.Helper()
	prefix := testkit.Prefix(t)
	w := &world{brokers: testkit.Kafka(t), topic: prefix + "answers", group: prefix + "sink"}
	w.db = store.OpenControlPlane(t, store.ControlPlane(t))
	w.warehouse = store.OpenWarehouse(t, store.Warehouse(t))
	for i, slug := range []string{"gone", "sister", "other"} {
		if i != 1 {
			_, err := w.db.AddOrganization(t.Context(), slug, slug)
			must(t, err)
		}
		organization, err := w.db.OrganizationBySlug(t.Context(), []string{"gone", "gone", "other"}[i])
		must(t, err)
		brand, _, err := w.db.AddBrand(t.Context(), organization.ID, postgres.NewBrand{Name: "Lumen", Slug: slug, Domains: []string{"lumen.example"}})
		must(t, err)
		w.brands = append(w.brands, brand)
	}
	client := &kafka.Client{Addr: kafka.TCP(w.brokers...)}
	made, err := client.CreateTopics(t.Context(), &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{{Topic: w.topic, NumPartitions: 1, ReplicationFactor: 1}}})
	must(t, errors.Join(err, made.Errors[w.topic]))
	return w
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var day = time.Date(2026, 3, 2, 9, 5, 0, 0, time.UTC)

// tell appends so many answers of each brand, in turn.
func (w *world) tell(t *testing.T, many int) {
	t.Helper()
	var records []kafka.Record
	for range many {
		w.told++
		for _, brand := range w.brands {
			at := day.AddDate(0, w.told%3, w.told%20)
			value, err := event.EncodeAnswer(nil, &event.Answer{
				ID:             event.RunID(event.Identity{BrandID: brand.ID, PromptText: "best lamp?", Platform: "openai", Sample: int64(w.told), Due: at}),
				OrganizationID: brand.OrganizationID, Brand: event.Brand{Entity: event.Entity{ID: brand.ID, Name: "Lumen", Domains: []string{"lumen.example"}}, Revision: 1},
				Competitors: []event.Entity{{ID: uuid.UUID{9}, Name: "Glow"}},
				Prompt:      event.Prompt{ID: uuid.UUID{1}, Text: "best lamp?", SetID: uuid.UUID{2}}, Platform: "openai", Sample: int64(w.told), AnsweredAt: event.At(at),
				Text: "Lumen is good. Glow is brighter.", Citations: []event.Citation{{URL: "https://lumen.example/a", Cited: true}}, Products: []event.Product{{Title: "Lumen One"}},
			})
			must(t, err)
			records = append(records, kafka.Record{Value: kafka.NewBytes(value)})
		}
	}
	client := &kafka.Client{Addr: kafka.TCP(w.brokers...)}
	answer, err := client.Produce(t.Context(), &kafka.ProduceRequest{Topic: w.topic, RequiredAcks: kafka.RequireAll, Records: kafka.NewRecordReader(records...)})
	must(t, err)
	must(t, answer.Error)
}

// consume takes the log to the warehouse, in small batches, until end is called.
func (w *world) consume(t *testing.T, target consume.Target[sink.Item]) (end func()) {
	t.Helper()
	cfg := consume.DefaultConfig()
	cfg.Brokers, cfg.Group, cfg.Topic = w.brokers, w.group, w.topic
	cfg.Limits = consume.Limits{Records: 30, Bytes: 1 << 20, Linger: 10 * time.Millisecond}
	cfg.SessionTimeout, cfg.Finish, cfg.Gate = 6*time.Second, 3*time.Second, w.db.LockSinksShared
	c, err := consume.New(cfg, target, prometheus.NewRegistry(), slog.New(slog.NewTextHandler(t.Output(), nil)))
	must(t, err)
	return running(t, c.Run)
}

func (w *world) sink(t *testing.T) *sink.Answers {
	return sink.New(w.warehouse, prometheus.NewRegistry(), slog.New(slog.NewTextHandler(t.Output(), nil)))
}

func running(t *testing.T, run func(context.Context) error) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// purging purges, and purges again a second after a deletion.
func (w *world) purging(t *testing.T) (end func()) {
	t.Helper()
	cfg := purge.DefaultConfig()
	cfg.Look, cfg.Again = 50*time.Millisecond, time.Second
	lead := w.db.NewLeader("purge")
	w.metrics = prometheus.NewRegistry()
	p, err := purge.New(cfg, w.db, w.warehouse, lead, w.metrics, slog.New(slog.NewTextHandler(t.Output(), nil)))
	must(t, err)
	stop := running(t, p.Run)
	return func() { stop(); must(t, lead.Close()) }
}

func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	bound, tick := time.NewTimer(120*time.Second), time.NewTicker(20*time.Millisecond)
	defer bound.Stop()
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-bound.C:
			t.Fatal("never: " + what)
		}
	}
}

func (w *world) number(t *testing.T, question string) (n uint64) {
	t.Helper()
	if err := w.warehouse.QueryRow(t.Context(), question).Scan(&n); err != nil {
		t.Fatal(question, err)
	}
	return n
}

// whole says that the whole log has landed, and is committed: log_progress is ahead of other views while a batch lands.
// Its last record is of a brand that lives.
func (w *world) whole(t *testing.T) bool {
	if w.number(t, "SELECT toUInt64(max(last_offset) + 1) FROM log_progress") < uint64(3*w.told) {
		return false
	}
	open, err := consume.Planned(t.Context(), producer.Connection{Brokers: w.brokers}, w.group, w.topic)
	must(t, err)
	return len(open) == 0
}

// purgedSince says that nothing is due: everything was purged after the second from its deletion.
func (w *world) purgedSince(t *testing.T) bool {
	due, err := w.db.DueTombstones(t.Context(), time.Second, time.Hour)
	must(t, err)
	var young int
	must(t, w.db.QueryRow(t.Context(), "SELECT count(*)::int FROM private.tombstones WHERE at + interval '1 second' > now()").Scan(&young))
	return len(due) == 0 && young == 0
}

// left checks that of every table each of the living brands has what it should, and that nobody else has a row.
func (w *world) left(t *testing.T, living ...postgres.Brand) {
	t.Helper()
	var ids string
	for _, brand := range living {
		of := fmt.Sprintf(" WHERE brand_id = '%s'", brand.ID)
		for table, sum := range map[string]string{
			"answers": "count()", "answer_daily": "sum(answers)", "entity_prompt_daily": "sum(answers)", "citations": "count()",
			"citation_daily": "sum(citations)", "shopping_cards": "count()",
		} {
			if n := w.number(t, "SELECT toUInt64("+sum+") FROM "+table+of); n != uint64(w.told) {
				t.Errorf("%s has %d of brand %s, want %d", table, n, brand.Slug, w.told)
			}
		}
		ids += fmt.Sprintf(", '%s'", brand.ID)
	}
	var tables []string
	must(t, w.warehouse.QueryRow(t.Context(), `
		SELECT groupUniqArray(table)
		FROM system.columns
		WHERE database = currentDatabase() AND columns.name = 'brand_id'
		  AND table IN (SELECT name FROM system.tables WHERE database = currentDatabase() AND endsWith(engine, 'MergeTree'))`).Scan(&tables))
	for _, table := range tables {
		if n := w.number(t, "SELECT count() FROM "+table+" WHERE brand_id NOT IN ("+ids[2:]+")"); n != 0 {
			t.Errorf("%s has %d rows of the deleted", table, n)
		}
	}
}

// A brand is deleted, and then an organization, while answers of it come and land. Its rows go, also those of batches
// that were under way, late ones do not come, and nobody else misses a row.
func TestWhatIsDeletedGoesWhileEverythingGoesOn(t *testing.T) {
	w := newWorld(t)
	defer w.consume(t, w.sink(t))()
	defer w.purging(t)()
	for n, deletion := range []string{"DELETE FROM public.brands WHERE slug = 'gone'", "DELETE FROM public.organizations WHERE slug = 'gone'"} {
		w.tell(t, 50)
		until(t, "some land", func() bool { return w.number(t, "SELECT count() FROM answers") > uint64(20*(n+1)) })
		w.tell(t, 50)
		_, err := w.db.Exec(t.Context(), deletion)
		must(t, err)
		for range 5 {
			w.tell(t, 20) // late, and beside the purge
		}
		until(t, "the log is read", func() bool { return w.whole(t) })
		until(t, "all is purged again", func() bool { return w.purgedSince(t) })
		w.left(t, w.brands[n+1:]...)
	}
}

// crashing lands its batches and is killed before they are committed.
type crashing struct {
	consume.Target[sink.Item]
	landed atomic.Int32
}

func (c *crashing) Land(ctx context.Context, b *consume.Batch[sink.Item], ours func() error) error {
	if err := c.Target.Land(ctx, b, ours); err != nil {
		return err
	}
	c.landed.Add(1)
	return errors.New("crash")
}

// A batch that landed before a purge and is repeated after it brings nothing back.
func TestAReplayAfterAPurgeBringsNothingBack(t *testing.T) {
	w := newWorld(t)
	w.tell(t, 40)
	crash := &crashing{Target: w.sink(t)}
	end := w.consume(t, crash)
	until(t, "a batch lands", func() bool { return crash.landed.Load() > 0 })
	end()
	_, err := w.db.Exec(t.Context(), "DELETE FROM public.brands WHERE slug = 'gone'")
	must(t, err)
	end = w.purging(t)
	until(t, "it is purged", func() bool { return w.purgedSince(t) })
	end()
	if n := w.number(t, fmt.Sprintf("SELECT count() FROM answers WHERE brand_id = '%s'", w.brands[0].ID)); n != 0 {
		t.Fatalf("%d rows are left", n)
	}
	defer w.consume(t, w.sink(t))()
	until(t, "the log is read", func() bool { return w.whole(t) })
	w.left(t, w.brands[1:]...)
}

func (w *world) gauge(t *testing.T, name string) float64 {
	t.Helper()
	families, err := w.metrics.Gather()
	must(t, err)
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatal("no metric ", name)
	return 0
}

// A server that rewrites nothing gives no reason either: how long the deletion has waited shows while the purge hangs.
func TestADeletionThatHangsIsSeenToWait(t *testing.T) {
	w := newWorld(t)
	w.tell(t, 1)
	end := w.consume(t, w.sink(t))
	until(t, "the log is read", func() bool { return w.whole(t) })
	end()
	must(t, w.warehouse.Exec(t.Context(), "SYSTEM STOP MERGES answers"))
	_, err := w.db.Exec(t.Context(), "DELETE FROM public.brands WHERE slug = 'gone'")
	must(t, err)
	defer w.purging(t)()
	var began float64
	until(t, "it waits", func() bool {
		began = w.gauge(t, "answerscope_purge_oldest_seconds")
		return began > 0 && w.gauge(t, "answerscope_purge_waiting") == 1 && w.number(t, "SELECT count() FROM system.mutations WHERE database = currentDatabase() AND NOT is_done") > 0
	})
	until(t, "it waits longer", func() bool { return w.gauge(t, "answerscope_purge_oldest_seconds") > began+0.5 })
	must(t, w.warehouse.Exec(t.Context(), "SYSTEM START MERGES answers"))
	until(t, "it is purged", func() bool {
		return w.purgedSince(t) && w.gauge(t, "answerscope_purge_oldest_seconds") == 0 && w.gauge(t, "answerscope_purge_waiting") == 0
	})
	w.left(t, w.brands[1:]...)
}
