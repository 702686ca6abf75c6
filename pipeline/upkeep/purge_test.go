package upkeep_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/sink"
	"github.com/answerscope/answerscope/pipeline/upkeep"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// purgingEnvironment is a log of answers of three brands, of which two belong to one organization.
type purgingEnvironment struct {
	brokers      []string
	topic, group string
	db           *postgres.DB
	warehouse    *clickhouse.Conn
	brands       []postgres.Brand
	appended     int // answers of each brand
	metrics      *prometheus.Registry
}

func newPurging(t *testing.T) *purgingEnvironment {
	t.Helper()
	t.Parallel()
	prefix := testkit.Prefix(t)
	e := &purgingEnvironment{
		brokers: testkit.Kafka(t), topic: prefix + "answers", group: prefix + "sink",
		db:        store.OpenControlPlane(t, store.ControlPlane(t)),
		warehouse: store.OpenWarehouse(t, store.Warehouse(t)),
	}
	for i, slug := range []string{"gone", "sister", "other"} {
		if i != 1 {
			_, err := e.db.AddOrganization(t.Context(), slug, slug)
			must(t, err)
		}
		organization, err := e.db.OrganizationBySlug(t.Context(), []string{"gone", "gone", "other"}[i])
		must(t, err)
		brand, _, err := e.db.AddBrand(t.Context(), organization.ID, postgres.NewBrand{
			Name: "Lumen", Slug: slug, Domains: []string{"lumen.example"},
		})
		must(t, err)
		e.brands = append(e.brands, brand)
	}
	testkit.CreateTopic(t, e.brokers, e.topic)
	return e
}

// append appends so many answers of each brand, in turn.
func (e *purgingEnvironment) append(t *testing.T, many int) {
	t.Helper()
	var values [][]byte
	for range many {
		e.appended++
		n := int64(e.appended)
		for _, brand := range e.brands {
			at := day.AddDate(0, e.appended%3, e.appended%20)
			value, err := event.EncodeAnswer(nil, &event.Answer{
				ID: event.RunID(event.Identity{BrandID: brand.ID, PromptText: "best lamp?",
					Platform: "openai", Sample: n, Due: at}),
				OrganizationID: brand.OrganizationID,
				Brand: event.Brand{
					Entity: event.Entity{ID: brand.ID, Name: "Lumen", Domains: []string{"lumen.example"}}, Revision: 1,
				},
				Competitors: []event.Entity{{ID: uuid.UUID{9}, Name: "Glow"}},
				Prompt:      event.Prompt{ID: uuid.UUID{1}, Text: "best lamp?", SetID: uuid.UUID{2}},
				Platform:    "openai", Sample: n, AnsweredAt: event.At(at),
				Text:      "Lumen is good. Glow is brighter.",
				Citations: []event.Citation{{URL: "https://lumen.example/a", Cited: true}},
				Products:  []event.Product{{Title: "Lumen One"}},
			})
			must(t, err)
			values = append(values, value)
		}
	}
	testkit.Append(t, e.brokers, e.topic, values...)
}

// consume inserts the log into the warehouse, in small batches, until stop is called.
func (e *purgingEnvironment) consume(t *testing.T, target consume.Target[sink.Answer]) (stop func()) {
	t.Helper()
	cfg := consume.DefaultConfig()
	cfg.Brokers, cfg.Group, cfg.Topic = e.brokers, e.group, e.topic
	cfg.Limits = consume.Limits{Records: 30, Bytes: 1 << 20, Linger: 10 * time.Millisecond}
	cfg.Lock = consume.LockWith(e.db.LockSinksShared)
	c, err := consume.New(cfg, target, prometheus.NewRegistry(), testkit.Log(t))
	must(t, err)
	return testkit.Start(t, c.Run)
}

func (e *purgingEnvironment) sink(t *testing.T) *sink.Answers {
	return sink.NewAnswers(e.warehouse, prometheus.NewRegistry(), testkit.Log(t))
}

// purging purges, and purges again a second after a deletion.
func (e *purgingEnvironment) purging(t *testing.T) (stop func()) {
	t.Helper()
	lead := e.db.NewLeader("purge")
	e.metrics = prometheus.NewRegistry()
	p := upkeep.NewPurger(e.db, e.warehouse, lead, e.metrics, testkit.Log(t))
	p.SetTimes(50*time.Millisecond, time.Second)
	stopRun := testkit.Start(t, p.Run)
	return func() { stopRun(); must(t, lead.Close()) }
}

func (e *purgingEnvironment) number(t *testing.T, question string) (n uint64) {
	t.Helper()
	if err := e.warehouse.QueryRow(t.Context(), question).Scan(&n); err != nil {
		t.Fatal(question, err)
	}
	return n
}

// consumed reports that the whole log is inserted and committed: log_progress is ahead of other views while a batch is
// inserted. The last record is of a brand that was not deleted.
func (e *purgingEnvironment) consumed(t *testing.T) bool {
	if e.number(t, "SELECT toUInt64(max(last_offset) + 1) FROM log_progress") < uint64(3*e.appended) {
		return false
	}
	positions, err := consume.Positions(t.Context(), producer.Connection{Brokers: e.brokers}, e.group, e.topic)
	must(t, err)
	return !slices.ContainsFunc(positions, func(p consume.Position) bool { return p.Plan != nil })
}

// purgedSince reports that nothing is due: every deletion was purged again a second after it.
func (e *purgingEnvironment) purgedSince(t *testing.T) bool {
	due, err := e.db.DueTombstones(t.Context(), time.Second, time.Hour)
	must(t, err)
	var young int
	must(t, e.db.QueryRow(t.Context(),
		"SELECT count(*)::int FROM private.tombstones WHERE at + interval '1 second' > now()").Scan(&young))
	return len(due) == 0 && young == 0
}

// wantRowsOf checks that every table has the rows of the given brands, all of them, and no others.
func (e *purgingEnvironment) wantRowsOf(t *testing.T, living ...postgres.Brand) {
	t.Helper()
	var ids string
	for _, brand := range living {
		where := fmt.Sprintf(" WHERE brand_id = '%s'", brand.ID)
		for table, sum := range map[string]string{
			"answers": "count()", "answer_daily": "sum(answers)", "entity_prompt_daily": "sum(answers)",
			"brand_prompt_daily": "sum(answers)", "citations": "count()",
			"citation_daily": "sum(citations)", "shopping_cards": "count()",
		} {
			if n := e.number(t, "SELECT toUInt64("+sum+") FROM "+table+where); n != uint64(e.appended) {
				t.Errorf("%s has %d of brand %s, want %d", table, n, brand.Slug, e.appended)
			}
		}
		ids += fmt.Sprintf(", '%s'", brand.ID)
	}
	var tables []string
	must(t, e.warehouse.QueryRow(t.Context(), `
		SELECT groupUniqArray(table)
		FROM system.columns
		WHERE database = currentDatabase() AND columns.name = 'brand_id'
		  AND table IN (SELECT name FROM system.tables WHERE database = currentDatabase()
		    AND endsWith(engine, 'MergeTree'))`).Scan(&tables))
	for _, table := range tables {
		if n := e.number(t, "SELECT count() FROM "+table+" WHERE brand_id NOT IN ("+ids[2:]+")"); n != 0 {
			t.Errorf("%s has %d rows of deleted brands", table, n)
		}
	}
}

// A brand is deleted, and then an organization, while its answers are appended and inserted. Its rows are deleted, also
// those of batches that were under way; its late records are dropped; no other brand loses a row.
func TestDeletedBrandsArePurgedWhileAnswersArrive(t *testing.T) {
	e := newPurging(t)
	defer e.consume(t, e.sink(t))()
	defer e.purging(t)()
	for n, deletion := range []string{
		"DELETE FROM public.brands WHERE slug = 'gone'", "DELETE FROM public.organizations WHERE slug = 'gone'",
	} {
		e.append(t, 25)
		wait.For(t, "some answers to be inserted", func() bool {
			return e.number(t, "SELECT count() FROM answers") > uint64(20*(n+1))
		})
		e.append(t, 25)
		_, err := e.db.Exec(t.Context(), deletion)
		must(t, err)
		for range 3 {
			e.append(t, 10) // late ones, and beside the purge
		}
		wait.For(t, "the log to be read", func() bool { return e.consumed(t) })
		wait.For(t, "everything to be purged again", func() bool { return e.purgedSince(t) })
		e.wantRowsOf(t, e.brands[n+1:]...)
	}
}

// crashing inserts its batches and fails before they are committed, as a killed process would.
type crashing struct {
	consume.Target[sink.Answer]
	inserted atomic.Int32
}

func (c *crashing) Insert(ctx context.Context, b *consume.Batch[sink.Answer], checkOwnership func() error) error {
	if err := c.Target.Insert(ctx, b, checkOwnership); err != nil {
		return err
	}
	c.inserted.Add(1)
	return errors.New("crash")
}

// The replay of a batch that was inserted before a purge brings no row back.
func TestAReplayAfterAPurgeBringsNoRowBack(t *testing.T) {
	e := newPurging(t)
	e.append(t, 40)
	crash := &crashing{Target: e.sink(t)}
	stop := e.consume(t, crash)
	wait.For(t, "a batch to be inserted", func() bool { return crash.inserted.Load() > 0 })
	stop()
	_, err := e.db.Exec(t.Context(), "DELETE FROM public.brands WHERE slug = 'gone'")
	must(t, err)
	stop = e.purging(t)
	wait.For(t, "the purge", func() bool { return e.purgedSince(t) })
	stop()
	if n := e.number(t, fmt.Sprintf("SELECT count() FROM answers WHERE brand_id = '%s'", e.brands[0].ID)); n != 0 {
		t.Fatalf("%d rows are left", n)
	}
	defer e.consume(t, e.sink(t))()
	wait.For(t, "the log to be read", func() bool { return e.consumed(t) })
	e.wantRowsOf(t, e.brands[1:]...)
}

func (e *purgingEnvironment) gauge(t *testing.T, name string) float64 {
	t.Helper()
	families, err := e.metrics.Gather()
	must(t, err)
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatal("no metric ", name)
	return 0
}

// A mutation that hangs gives no error. The metrics show meanwhile how long the deletion has waited.
func TestMetricsShowAPurgeThatHangs(t *testing.T) {
	e := newPurging(t)
	e.append(t, 1)
	stop := e.consume(t, e.sink(t))
	wait.For(t, "the log to be read", func() bool { return e.consumed(t) })
	stop()
	must(t, e.warehouse.Exec(t.Context(), "SYSTEM STOP MERGES answers"))
	_, err := e.db.Exec(t.Context(), "DELETE FROM public.brands WHERE slug = 'gone'")
	must(t, err)
	defer e.purging(t)()
	var began float64
	wait.For(t, "the deletion to wait", func() bool {
		began = e.gauge(t, "answerscope_purge_oldest_seconds")
		return began > 0 && e.gauge(t, "answerscope_purge_waiting") == 1 &&
			e.number(t, "SELECT count() FROM system.mutations WHERE database = currentDatabase() AND NOT is_done") > 0
	})
	wait.For(t, "the deletion to wait longer", func() bool {
		return e.gauge(t, "answerscope_purge_oldest_seconds") > began+0.5
	})
	must(t, e.warehouse.Exec(t.Context(), "SYSTEM START MERGES answers"))
	wait.For(t, "the purge", func() bool {
		return e.purgedSince(t) && e.gauge(t, "answerscope_purge_oldest_seconds") == 0 &&
			e.gauge(t, "answerscope_purge_waiting") == 0
	})
	e.wantRowsOf(t, e.brands[1:]...)
}

// A purge may take minutes. Meanwhile a rebuild asks for the exclusive sink lock and waits: answers of other brands are
// inserted, as before the request, and the rebuild has its turn after the purge.
func TestAPurgeAndARebuildThatWaitsForItLeaveTheSinksAlone(t *testing.T) {
	e := newPurging(t)
	e.append(t, 10)
	defer e.consume(t, e.sink(t))()
	wait.For(t, "the log to be read", func() bool { return e.consumed(t) })
	must(t, e.warehouse.Exec(t.Context(), "SYSTEM STOP MERGES answers"))
	_, err := e.db.Exec(t.Context(), "DELETE FROM public.brands WHERE slug = 'gone'")
	must(t, err)
	defer e.purging(t)()
	wait.For(t, "the purge to hang", func() bool {
		return e.number(t, "SELECT count() FROM system.mutations WHERE database = currentDatabase() AND NOT is_done") >
			0
	})
	rebuilt := make(chan error, 1)
	go func() {
		lock, err := e.db.LockSinksExclusive(t.Context(), 0, 10*time.Minute)
		if err == nil {
			err = lock.Release()
		}
		rebuilt <- err
	}()
	wait.For(t, "the rebuild to wait", func() bool {
		var waiting int
		must(t, e.db.QueryRow(t.Context(), "SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory' AND NOT "+
			"granted AND mode = 'ExclusiveLock' AND database = (SELECT oid FROM pg_database WHERE datname = "+
			"current_database())").Scan(&waiting))
		return waiting > 0
	})
	for range 3 {
		e.append(t, 10)
		wait.For(t, "answers to be inserted beside the purge", func() bool { return e.consumed(t) })
	}
	select {
	case err := <-rebuilt:
		t.Fatal("the rebuild had its turn beside the purge: ", err)
	default:
	}
	must(t, e.warehouse.Exec(t.Context(), "SYSTEM START MERGES answers"))
	must(t, <-rebuilt)
	wait.For(t, "the purge", func() bool { return e.purgedSince(t) })
	e.wantRowsOf(t, e.brands[1:]...)
}
