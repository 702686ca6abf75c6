package reconcile_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/reconcile"
	"github.com/answerscope/answerscope/pipeline/sink"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

const march = clickhouse.Month(202603)

// tables are the landing tables and their rollups.
var tables = slices.Concat(event.TopicNames(), monthly, []string{"crawl_daily"})

// A pipeline is a log with the sinks of all topics, which run as long as the test.
type pipeline struct {
	*fixture
	brand postgres.Brand
	cfg   reconcile.Config
}

func newPipeline(t *testing.T) *pipeline {
	t.Helper()
	p := &pipeline{fixture: newFixture(t)}
	organization, err := p.db.AddOrganization(t.Context(), "acme", "acme")
	if err != nil {
		t.Fatal(err)
	}
	if p.brand, _, err = p.db.AddBrand(t.Context(), organization.ID,
		postgres.NewBrand{Name: "Lumen", Slug: "lumen"}); err != nil {
		t.Fatal(err)
	}
	p.cfg = p.config()
	p.cfg.Sinks = nil
	for _, topic := range event.TopicNames() {
		testkit.CreateTopic(t, p.brokers, p.prefix+topic)
		p.cfg.Sinks = append(p.cfg.Sinks, consume.SinkGroup{Group: p.prefix + "sink-" + topic, Topic: p.prefix + topic,
			Landing: topic})
	}
	for _, table := range tables {
		// a part that is broken has no sources then, and contents change by inserts alone
		p.exec(t, "SYSTEM STOP MERGES "+table)
	}
	unused := prometheus.NewRegistry
	landing(t, p, event.TopicAnswers, sink.NewAnswers(p.conn, unused(), testkit.Log(t)))
	landing(t, p, event.TopicVisits, sink.NewVisits(p.conn, 1000, unused(), testkit.Log(t)))
	landing(t, p, event.TopicCrawls, sink.NewCrawls(p.conn, unused(), testkit.Log(t)))
	return p
}

func landing[T any](t *testing.T, p *pipeline, topic string, target consume.Target[T]) {
	t.Helper()
	cfg := consume.DefaultConfig()
	cfg.Brokers, cfg.Group, cfg.Topic = p.brokers, p.prefix+"sink-"+topic, p.prefix+topic
	cfg.Lock = consume.LockWith(p.db.LockSinksShared)
	consumer, err := consume.New(cfg, target, prometheus.NewRegistry(), testkit.Log(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(testkit.Start(t, consumer.Run))
}

// append appends records, and waits until a landing table has so many rows.
func (p *pipeline) append(t *testing.T, topic string, rows int64, values ...[]byte) {
	t.Helper()
	testkit.Append(t, p.brokers, p.prefix+topic, values...)
	wait.Until(t, func() string {
		if n := p.number(t, "(SELECT count() FROM "+topic+")"); n != rows {
			return fmt.Sprintf("%d rows in %s, want %d", n, topic, rows)
		}
		return ""
	})
	wait.For(t, "the commit", func() bool {
		at := slices.IndexFunc(p.cfg.Sinks, func(s consume.SinkGroup) bool { return s.Landing == topic })
		all, err := consume.Positions(t.Context(), p.cfg.Connection, p.cfg.Sinks[at].Group, p.cfg.Sinks[at].Topic)
		return err == nil && all[0].Committed == all[0].End && all[0].Plan == nil
	})
}

// at is the time of the n-th record: half of forty are in March, the others in April.
func at(n int) time.Time {
	return time.Date(2026, 3, 12, 10, 0, n, 0, time.UTC).AddDate(0, 0, n)
}

func encoded[T any](t *testing.T, encode func([]byte, *T) ([]byte, error), record *T) []byte {
	t.Helper()
	value, err := encode(nil, record)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// answer is the n-th answer with the names of a revision; of the second one it is a reread.
func (p *pipeline) answer(t *testing.T, n int, revision int64) []byte {
	t.Helper()
	a := event.Answer{
		V: event.Version, ID: event.RunID(event.Identity{BrandID: p.brand.ID, Platform: "openai", Sample: int64(n + 1),
			Due: at(n)}),
		OrganizationID: p.brand.OrganizationID,
		Brand: event.Brand{Entity: event.Entity{ID: p.brand.ID, Name: "Lumen",
			Domains: []string{"lumen.example"}}, Revision: revision},
		Competitors: []event.Entity{{ID: uuid.UUID{9}, Name: "Sol"}},
		Prompt:      event.Prompt{ID: uuid.UUID{1}, Text: "best lamp?", SetID: uuid.UUID{2}},
		Platform:    "openai", Model: "m", Sample: int64(n + 1), AnsweredAt: event.At(at(n)),
		Text:      "Lumen is good. Glow, too. Sol is not.",
		Usage:     &event.Usage{InputTokens: 7, CostUSD: "0.5"},
		Citations: []event.Citation{{URL: "https://lumen.example/a", Cited: true}},
		Products:  []event.Product{{Title: "Lumen One"}},
	}
	if revision > 1 {
		a.Brand.Aliases, a.Reread = []string{"Glow"}, &event.Reread{MinExtractVersion: 1}
	}
	return encoded(t, event.EncodeAnswer, &a)
}

func (p *pipeline) visit(t *testing.T, n int) []byte {
	t.Helper()
	return encoded(t, event.EncodeVisit, &event.Visit{
		V: event.Version, ID: event.RunID(event.Identity{BrandID: p.brand.ID, Sample: int64(n), Due: at(n)}),
		OrganizationID: p.brand.OrganizationID, BrandID: p.brand.ID,
		At: event.At(at(n)), Event: event.VisitView, Platform: "chatgpt", PlatformBy: "referrer",
		Host: "lumen.example", Path: "/a", NewSession: true,
	})
}

func (p *pipeline) crawl(t *testing.T, n int) []byte {
	t.Helper()
	return encoded(t, event.EncodeCrawl, &event.Crawl{
		V: event.Version, ID: event.CrawlID("lumen.example", []byte("GET /a"), n, at(n)),
		OrganizationID: p.brand.OrganizationID, BrandID: p.brand.ID,
		At: event.At(at(n)), Crawler: "GPTBot", Operator: "OpenAI", Platform: "chatgpt",
		Purpose: event.PurposeTraining, Host: "lumen.example", Path: "/a",
		Status: 200, Bytes: 100,
	})
}

// upTo are the records from one number to the one before another.
func upTo(t *testing.T, from, to int, record func(*testing.T, int) []byte) (all [][]byte) {
	t.Helper()
	for n := from; n < to; n++ {
		all = append(all, record(t, n))
	}
	return all
}

// contents is a checksum of every column of every row of each landing table and rollup.
func (p *pipeline) contents(t *testing.T) map[string]int64 {
	t.Helper()
	var sums []string
	for _, table := range tables {
		sums = append(sums, fmt.Sprintf("SELECT '%s' AS table, toInt64(sum(sipHash64(toString(tuple(*))))) AS sum "+
			"FROM %[1]s", table))
	}
	var all map[string]int64
	question := "SELECT mapFromArrays(groupArray(table), groupArray(sum)) FROM (" + strings.Join(sums, " UNION ALL ") +
		")"
	if err := p.conn.QueryRow(t.Context(), question).Scan(&all); err != nil {
		t.Fatal(err)
	}
	return all
}

type part struct {
	Table string `ch:"table"`
	Name  string `ch:"name"`
	Path  string `ch:"path"`
}

// parts lists the parts of March of the landing tables.
func (f *fixture) parts(t *testing.T) (all []part) {
	t.Helper()
	err := f.conn.Select(t.Context(), &all, `SELECT table, name, path FROM system.parts
		WHERE database = currentDatabase() AND table IN ('answers', 'visits', 'crawls') AND partition_id = '202603'
			AND active ORDER BY table, name`)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// breakPart damages a part on disk, and has the server read the table from there, as at a start.
func (f *fixture) breakPart(t *testing.T, broken part) {
	t.Helper()
	marks, err := filepath.Glob(filepath.Join(broken.Path, "*mrk*"))
	if err != nil || len(marks) == 0 {
		t.Fatalf("marks of %s: %v, %v", broken.Path, marks, err)
	}
	for _, file := range marks {
		if err := os.Truncate(file, 0); err != nil {
			t.Fatal(err)
		}
	}
	// a query or a merge that still uses the table would make ATTACH fail
	f.exec(t, "DETACH TABLE "+broken.Table+" SYNC")
	f.exec(t, "ATTACH TABLE "+broken.Table)
	f.exec(t, "SYSTEM STOP MERGES "+broken.Table)
}

// recover recovers March of a table.
func (p *pipeline) recover(t *testing.T, table string) (reconcile.Recovered, error) {
	t.Helper()
	return p.recoverAt(t.Context(), t, p.conn, p.db, table)
}

func (p *pipeline) recoverAt(ctx context.Context, t *testing.T, conn *clickhouse.Conn, db *postgres.DB,
	table string) (reconcile.Recovered, error) {
	t.Helper()
	r, unused, step := newReconciler(t, p.cfg, conn, db), prometheus.NewRegistry(), func(int64, int64) {}
	switch table {
	case "answers":
		return reconcile.Recover(ctx, r, sink.NewAnswers(conn, unused, testkit.Log(t)), march, step)
	case "visits":
		return reconcile.Recover(ctx, r, sink.NewVisits(conn, 1000, unused, testkit.Log(t)), march, step)
	default:
		return reconcile.Recover(ctx, r, sink.NewCrawls(conn, unused, testkit.Log(t)), march, step)
	}
}

func (p *pipeline) mustRecover(t *testing.T, table string, want reconcile.Recovered) {
	t.Helper()
	if got, err := p.recover(t, table); err != nil || got != want {
		t.Errorf("recover %s: %+v, %v; want %+v", table, got, err, want)
	}
}

// fill lands forty records of each topic in two batches, and rereads of half of the answers.
func (p *pipeline) fill(t *testing.T) {
	t.Helper()
	first := func(t *testing.T, n int) []byte { return p.answer(t, n, 1) }
	rereadAnswer := func(t *testing.T, n int) []byte { return p.answer(t, n, 2) }
	p.append(t, "answers", 40, upTo(t, 0, 40, first)...)
	p.append(t, "answers", 80, append(upTo(t, 10, 30, rereadAnswer), first(t, 3), []byte("garbage"))...)
	p.append(t, "visits", 10, upTo(t, 0, 10, p.visit)...)
	p.append(t, "visits", 40, upTo(t, 5, 40, p.visit)...)
	p.append(t, "crawls", 40, upTo(t, 0, 40, p.crawl)...)
}
