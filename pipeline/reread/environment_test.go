package reread_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
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
	"github.com/answerscope/answerscope/pipeline/reread"
	"github.com/answerscope/answerscope/pipeline/sink"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// environment is a brand, Lumen, with a competitor, Glow, and a log and stores of a test's own.
type environment struct {
	brokers   []string
	prefix    string
	control   *postgres.DB
	warehouse *clickhouse.Conn
	log       *producer.Producer
	brand     postgres.Brand
}

func newEnvironment(t *testing.T, brokers []string) *environment {
	t.Helper()
	t.Parallel()
	e := &environment{
		brokers: brokers, prefix: testkit.Prefix(t),
		control:   store.OpenControlPlane(t, store.ControlPlane(t)),
		warehouse: store.OpenWarehouse(t, store.Warehouse(t)),
	}
	topics := producer.DefaultTopicsConfig()
	topics.Brokers, topics.Prefix, topics.Partitions = brokers, e.prefix, 2
	if _, err := producer.CreateTopics(t.Context(), topics); err != nil {
		t.Fatal(err)
	}
	cfg := producer.DefaultConfig()
	cfg.Brokers, cfg.Prefix = brokers, e.prefix
	var err error
	if e.log, err = producer.New(cfg, quiet, prometheus.NewRegistry()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(testkit.Start(t, e.log.Run))
	e.brand = e.add(t, "Lumen")
	return e
}

var quiet = slog.New(slog.DiscardHandler)

// add makes a brand with the competitor Glow, which nothing is queued for yet.
func (e *environment) add(t *testing.T, name string) postgres.Brand {
	t.Helper()
	o, err := e.control.AddOrganization(t.Context(), "House of "+name, "")
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := e.control.AddBrand(t.Context(), o.ID, postgres.NewBrand{
		Name: name, Domains: []string{"lumen.example"},
		Competitors: []postgres.NewCompetitor{{Name: "Glow", Domains: []string{"glow.example"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	e.edit(t, "DELETE FROM private.rereads WHERE brand_id = $1", b.ID)
	return b
}

func (e *environment) edit(t *testing.T, statement string, args ...any) {
	t.Helper()
	if _, err := e.control.Exec(t.Context(), statement, args...); err != nil {
		t.Fatal(statement, err)
	}
}

// addCompetitor adds a competitor, and makes the reread that this queues due at once.
func (e *environment) addCompetitor(t *testing.T, brand uuid.UUID, name string) {
	t.Helper()
	e.edit(t,
		"INSERT INTO public.competitors (brand_id, name, domains) VALUES ($1, $2, ARRAY[lower($2) || '.example'])",
		brand, name)
	e.makeDue(t)
}

// makeDue makes everything that is queued due.
func (e *environment) makeDue(t *testing.T) {
	t.Helper()
	e.edit(t, "UPDATE private.rereads SET due_at = clock_timestamp() WHERE due_at IS NOT NULL")
}

func (e *environment) snapshot(t *testing.T, brand uuid.UUID) postgres.Snapshot {
	t.Helper()
	s, err := e.control.Snapshot(t.Context(), brand)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var day = time.Date(2026, 3, 2, 9, 5, 0, 0, time.UTC)

// answer is the n-th one of a brand, with some names: of ten one was given up and one has shopping cards; all others
// name Lumen, then Glow, then Blaze.
func answer(s postgres.Snapshot, n int) *event.Answer {
	at := day.AddDate(0, n%3, n%20)
	topic, job := uuid.NewV5(s.BrandID, "topic"), uuid.NewV5(s.BrandID, "job")
	a := &event.Answer{
		V: event.Version,
		ID: event.RunID(event.Identity{BrandID: s.BrandID, PromptText: "best lamp?",
			Platform: "openai", Model: "m", Sample: int64(n + 1), Due: at}),
		OrganizationID: s.OrganizationID,
		Brand: event.Brand{
			Entity: event.Entity{
				ID: s.BrandID, Name: s.Name, Aliases: s.Aliases, Domains: s.Domains,
			}, Revision: s.Revision,
		},
		Prompt: event.Prompt{
			ID: uuid.NewV5(s.BrandID, fmt.Sprint("prompt", n%5)), Text: "best lamp?",
			SetID: uuid.NewV5(s.BrandID, "set"), TopicID: &topic,
		},
		Platform: "openai", Model: "m", ServedModel: "m-2026", Provider: "serpapi", Region: "de", Language: "en",
		Sample: int64(n + 1), Surface: event.SurfaceAPI, JobID: &job,
		AnsweredAt: event.At(at.Add(time.Minute)), Attempts: 2, LatencyMS: 1200, Finish: event.FinishComplete,
		Text: "Lumen is good. Glow is brighter. Blaze is the brightest.",
		Citations: []event.Citation{
			{URL: "https://lumen.example/a?utm_source=x", Title: "A", Cited: true},
			{URL: "https://blaze.example/b", Cited: true}, {URL: "https://x.example/", Cited: false},
		},
		SearchQueries: []string{"lamp", "best lamp"},
		Usage:         &event.Usage{InputTokens: 10, OutputTokens: 20, Searches: 1, CostUSD: "0.001"},
	}
	for _, c := range s.Competitors {
		a.Competitors = append(a.Competitors, event.Entity{
			ID: c.ID, Name: c.Name, Aliases: c.Aliases, Domains: c.Domains,
		})
	}
	switch n % 10 {
	case 3:
		a.Text, a.Citations, a.Finish, a.GivenUp = "", nil, "", &event.GivenUp{
			Class: "timeout", Error: "no answer in 60 s",
		}
	case 7:
		a.Platform = "google-shopping"
		a.Products = []event.Product{
			{Title: "Blaze One", Brand: "Blaze", PriceAmount: "12.50", PriceCurrency: "EUR", Rating: 4.5,
				ReviewCount: 7}, {Title: "Torch", Position: 9},
		}
	}
	return a
}

// append appends answers of a brand with the names of a snapshot.
func (e *environment) append(t *testing.T, s postgres.Snapshot, from, to int) {
	t.Helper()
	var records []producer.Record
	for n := from; n < to; n++ {
		a := answer(s, n)
		if err := a.Check(time.Now()); err != nil {
			t.Fatal(err)
		}
		value, err := event.EncodeAnswer(nil, a)
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, producer.Record{Key: event.BrandKey(a.Brand.ID), Value: value})
	}
	if n, err := e.log.AppendAll(t.Context(), event.TopicAnswers, records); err != nil || n != len(records) {
		t.Fatalf("appended %d of %d: %v", n, len(records), err)
	}
}

// refusing refuses the batches of some partitions.
type refusing struct {
	consume.Target[sink.Answer]
	partitions []int32
}

func (r refusing) Insert(ctx context.Context, b *consume.Batch[sink.Answer], checkOwnership func() error) error {
	if slices.Contains(r.partitions, b.Partition) {
		return errors.New("the disk is full")
	}
	return r.Target.Insert(ctx, b, checkOwnership)
}

// sink inserts appended answers until stop, except on refused partitions.
func (e *environment) sink(t *testing.T, refused ...int32) (stop func()) {
	t.Helper()
	cfg := consume.DefaultConfig()
	cfg.Brokers, cfg.Group, cfg.Topic = e.brokers, e.prefix+"sink", e.prefix+event.TopicAnswers
	cfg.Limits.Linger = 20 * time.Millisecond
	metrics := prometheus.NewRegistry()
	c, err := consume.New(cfg,
		consume.Target[sink.Answer](refusing{sink.NewAnswers(e.warehouse, metrics, quiet), refused}), metrics, quiet)
	if err != nil {
		t.Fatal(err)
	}
	return testkit.Start(t, c.Run)
}

func (e *environment) config() reread.Config {
	cfg := reread.DefaultConfig()
	cfg.Brokers, cfg.Group, cfg.Topic = e.brokers, e.prefix+"sink", e.prefix+event.TopicAnswers
	cfg.PageSize, cfg.PollInterval, cfg.ProgressInterval = 10, 100*time.Millisecond, 200*time.Millisecond
	cfg.RetryPause, cfg.FollowUp = 50*time.Millisecond, time.Hour
	return cfg
}

func (e *environment) rereader(t *testing.T, cfg reread.Config) *reread.Rereader {
	t.Helper()
	r, err := reread.New(cfg, e.control, e.warehouse, e.log, prometheus.NewRegistry(), testkit.Log(t))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// number is the answer to a question for one number.
func (e *environment) number(t *testing.T, question string, args ...any) int64 {
	t.Helper()
	var n int64
	if err := e.warehouse.QueryRow(context.WithoutCancel(t.Context()),
		"SELECT toInt64(("+question+"))", args...).Scan(&n); err != nil {
		t.Fatal(question, err)
	}
	return n
}

// inserted waits until so many answers are in the warehouse.
func (e *environment) inserted(t *testing.T, answers int64) {
	t.Helper()
	wait.For(t, fmt.Sprintf("%d answers to be inserted", answers), func() bool {
		return e.number(t, "SELECT uniqExact(id) FROM answers") == answers
	})
}

func (e *environment) state(t *testing.T, brand uuid.UUID) postgres.RereadState {
	t.Helper()
	all, err := e.control.Rereads(t.Context(), nil, &brand)
	if err != nil || len(all) != 1 {
		t.Fatalf("rereads of %s: %v, %v", brand, all, err)
	}
	return all[0]
}

// done waits until a brand has been reread.
func (e *environment) done(t *testing.T, brand uuid.UUID) postgres.RereadState {
	t.Helper()
	wait.For(t, "the brand to be reread", func() bool {
		s := e.state(t, brand)
		return s.State == "done" || s.State == "incomplete"
	})
	return e.state(t, brand)
}

// wantHistory checks that every table has n answers of a brand, as answer makes them, all read with its current names.
func (e *environment) wantHistory(t *testing.T, brand uuid.UUID, n int64, competitors ...string) {
	t.Helper()
	s := e.snapshot(t, brand)
	ofBrand := "brand_id = '" + brand.String() + "'"
	named := n * 8 / 10 // neither given up nor shopping
	wants := map[string]int64{
		"SELECT sum(sign) FROM answers WHERE " + ofBrand:     n,
		"SELECT uniqExact(id) FROM answers WHERE " + ofBrand: n,
		"SELECT sum(answers) FROM answer_daily WHERE " +
			ofBrand: named,
		"SELECT sum(given_up) FROM answer_daily WHERE " +
			ofBrand: n / 10,
		"SELECT sum(runs) FROM answer_daily WHERE " +
			ofBrand: n * 9 / 10,
		"SELECT sum(sign) FROM shopping_cards WHERE " +
			ofBrand: 2 * n / 10,
		"SELECT count() FROM answers WHERE sign = 1 AND NOT given_up AND text != '' AND " +
			ofBrand: n * 9 / 10,
		"SELECT sum(sign) FROM answers WHERE " + ofBrand + fmt.Sprintf(" AND revision = %d", s.Revision):          n,
		"SELECT toInt64(round(sum(cost_usd) * 1000)) FROM answers WHERE " + ofBrand:                               n,
		"SELECT uniqExact(prompt_id, topic_id, prompt_text, prompt_set_id, job_id) FROM answers WHERE " + ofBrand: 5,
		"SELECT sum(sign) FROM citations WHERE owned AND " +
			ofBrand: named,
		"SELECT countIf(s != 1) FROM (SELECT id, sum(sign) AS s FROM answers WHERE " + ofBrand + " GROUP BY id)": 0,
		"SELECT sum(mention_answers) FROM entity_prompt_daily WHERE entity_id = brand_id AND " + ofBrand:         named,
		"SELECT sum(sign) FROM shopping_cards WHERE role = 'competitor' AND " + ofBrand:                          0,
		"SELECT sum(mention_answers) FROM entity_prompt_daily WHERE entity_id != brand_id AND " + ofBrand:        0,
		"SELECT sum(sign) FROM citations WHERE competitor_id != toUUIDOrZero('') AND " + ofBrand:                 0,
	}
	for _, c := range s.Competitors {
		for _, name := range competitors {
			if c.Name != name {
				continue
			}
			wants["SELECT sum(mention_answers) FROM entity_prompt_daily WHERE entity_id != brand_id AND "+
				ofBrand] += named
			wants["SELECT sum(mention_answers) FROM entity_prompt_daily WHERE "+ofBrand+
				" AND entity_id = '"+c.ID.String()+"'"] = named
			if name == "Blaze" {
				wants["SELECT sum(sign) FROM shopping_cards WHERE role = 'competitor' AND "+ofBrand] = n / 10
				wants["SELECT sum(sign) FROM citations WHERE competitor_id != toUUIDOrZero('') AND "+ofBrand] = named
			}
		}
	}
	var columns []string
	for question := range wants {
		columns = append(columns,
			fmt.Sprintf("('%s', toInt64(assumeNotNull((%s))))", strings.ReplaceAll(question, "'", "\\'"), question))
	}
	query := "SELECT CAST([" + strings.Join(columns, ", ") + "], 'Map(String, Int64)')"
	got := map[string]int64{}
	wait.Until(t, func() string { // a view's rows come after the answer's
		if err := e.warehouse.QueryRow(t.Context(), query).Scan(&got); err != nil {
			t.Fatal(query, err)
		}
		if maps.Equal(got, wants) {
			return ""
		}
		var wrong []string
		for question, want := range wants {
			if got[question] != want {
				wrong = append(wrong, fmt.Sprintf("%d, want %d: %s", got[question], want, question))
			}
		}
		return strings.Join(wrong, "\n")
	})
}
