package canary_test

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/answer"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/simulator"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/pipeline/canary"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/extract"
	"github.com/answerscope/answerscope/pipeline/sink"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

func TestMain(m *testing.M) { testkit.Main(m) }

var today = time.Date(2026, time.March, 30, 8, 0, 0, 0, time.UTC)

func daysAgo(n int) time.Time { return today.Truncate(24*time.Hour).AddDate(0, 0, -n) }

// An environment has the panel, and the platforms that it asks.
type environment struct {
	db        *postgres.DB
	warehouse *clickhouse.Conn
	snapshot  answer.Snapshot
	prompts   []event.Prompt
	rows      []clickhouse.AnswerRow
}

func newEnvironment(t *testing.T) *environment {
	t.Helper()
	e := &environment{
		db: store.OpenControlPlane(t, store.ControlPlane(t)), warehouse: store.OpenWarehouse(t, store.Warehouse(t)),
	}
	err := e.db.AskPanel(t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if e.snapshot, err = answer.ReadSnapshot(t.Context(), e.db, postgres.Panel); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(e.snapshot.Competitors, func(a, b event.Entity) int { return strings.Compare(a.Name, b.Name) })
	stored, err := e.db.PromptsToAsk(t.Context(), postgres.Panel, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range stored {
		e.prompts = append(e.prompts, answer.Prompt(p.Prompt))
	}
	return e
}

// add adds the record of a run as the sink would insert it.
func (e *environment) add(t *testing.T, a event.Answer) {
	t.Helper()
	value, err := event.EncodeAnswer(nil, &a)
	if err != nil {
		t.Fatal(err)
	}
	row, _, err := sink.DecodeAnswer(extract.Version, consume.Record{
		Topic: "answers", Offset: int64(len(e.rows)), Value: value,
	})
	if err != nil {
		t.Fatal(err)
	}
	e.rows = append(e.rows, row)
}

// insert inserts what was added, by month.
func (e *environment) insert(t *testing.T) {
	t.Helper()
	byMonth := map[clickhouse.Month][]clickhouse.AnswerRow{}
	for _, row := range e.rows {
		byMonth[row.Month()] = append(byMonth[row.Month()], row)
	}
	for month, rows := range byMonth {
		if err := clickhouse.Answers.Insert(t.Context(), e.warehouse, month.String(), rows); err != nil {
			t.Fatal(err)
		}
	}
	e.rows = nil
}

// judge judges by the answers up to the day before, and returns the stored changes and the evidence of the night.
func (e *environment) judge(t *testing.T, now time.Time) (map[string][]time.Time, map[string]float64) {
	t.Helper()
	registry := prometheus.NewRegistry()
	judge := canary.New(e.db, e.warehouse, func() time.Time { return now }, registry, testkit.Log(t))
	if err := judge.Nightly(t.Context()); err != nil {
		t.Fatal(err)
	}
	stored, err := e.db.PlatformChanges(t.Context(), daysAgo(365), today)
	if err != nil {
		t.Fatal(err)
	}
	changes := map[string][]time.Time{}
	for _, c := range stored {
		changes[c.Platform] = append(changes[c.Platform], c.Day)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	evidence := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			evidence[m.GetLabel()[0].GetValue()] = m.GetGauge().GetValue()
		}
	}
	return changes, evidence
}

// The simulator stands in for four platforms over 84 days. "silent" leaves out one of the ten names, with its paragraph
// and sources, from 12 days before today on, though it serves the same model; "named" does the same, and serves another
// model; "down" gives up two days; "same" goes on. Only "silent" has changed, on that day or one beside it: a named
// change is the model's.
func TestASilentChangeIsFoundAtItsDay(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	if changes, evidence := e.judge(t, today); len(changes)+len(evidence) > 0 {
		t.Errorf("without answers: %v, %v", changes, evidence)
	}
	model := simulator.Models[0]
	cast := simulator.Cast{Brand: e.snapshot.Brand.Entity, Competitors: e.snapshot.Competitors}
	changed := simulator.Cast{Brand: cast.Brand, Competitors: cast.Competitors[:9]}
	for seed, slug := range []string{"same", "silent", "named", "down"} {
		before, err := simulator.New(simulator.Config{Seed: uint64(seed), Cast: cast})
		if err != nil {
			t.Fatal(err)
		}
		after, err := simulator.New(simulator.Config{Seed: uint64(seed), Cast: changed})
		if err != nil {
			t.Fatal(err)
		}
		for day := 84; day > 0; day-- {
			for _, prompt := range e.prompts {
				for sample := range int64(3) {
					run := answer.Run{
						Snapshot: e.snapshot, Prompt: prompt, Platform: slug, Model: model, Simulated: true,
						Language: "en",
						Sample:   sample + 1, Due: daysAgo(day), EndedAt: daysAgo(day).Add(time.Hour), Attempts: 1,
					}
					if slug == "down" && (day == 5 || day == 20) {
						e.add(t, run.GaveUp(&platform.Error{Class: platform.Unavailable}))
						continue
					}
					asked, changes := before, day <= 12 && (slug == "silent" || slug == "named")
					if changes {
						asked = after
					}
					// Samples are numbered over all days, so that each is another draw.
					reply, err := asked.Ask(context.Background(), platform.Question{
						Text: prompt.Text, Language: "en", Model: model, Attempt: 2, Due: daysAgo(84),
						Sample: int64(day)*10 + sample + 1,
					})
					if err != nil {
						t.Fatal(err)
					}
					if changes && slug == "named" {
						reply.ServedModel = "sim-next"
					}
					e.add(t, run.Answered(reply))
				}
			}
		}
	}
	e.insert(t)
	var changes map[string][]time.Time
	var evidence map[string]float64
	for _, night := range []int{3, 0} { // the second one has three days more
		changes, evidence = e.judge(t, today.AddDate(0, 0, -night))
		for _, day := range changes["silent"] {
			if distance := day.Sub(daysAgo(12)).Abs(); distance > 24*time.Hour {
				t.Errorf("silent changed on %s", day)
			}
		}
		if len(changes) != 1 || len(changes["silent"]) == 0 {
			t.Errorf("%d days ago: %v; %v", night, changes, evidence)
		}
	}
	if !slices.Contains(changes["silent"], daysAgo(12)) {
		t.Errorf("got %v, want %s", changes, daysAgo(12))
	}
	for _, slug := range []string{"same", "down"} {
		if e := evidence[slug]; e <= 0 || e > 5 {
			t.Errorf("%s: e-value %v, want evidence of nothing", slug, e)
		}
	}
	if evidence["named"] != 0 {
		t.Errorf("named: e-value %v, want none: the model is another one", evidence["named"])
	}
	// The panel is off for weeks: nothing recent is compared, and nothing more is stored.
	if later, evidence := e.judge(t, today.AddDate(0, 0, 40)); !reflect.DeepEqual(later, changes) ||
		evidence["silent"] > 0 {
		t.Errorf("weeks later: %v, %v", later, evidence)
	}
}

// The features of an answer, by hand: Apple and two others of ten are named in an answer of 60 characters that cites
// two pages (30, 10 and 1 points, and 100 for citing any); an answer of 7,000 characters with 25 pages has 0, 100 (20
// pages count), 100 (6,000 characters count) and 100; a third one has no page and no name: 30 characters, half a point.
// A run that was given up counts for nothing. A reread of the first one by another reading takes a name back: 20.
func TestTheFeaturesOfAnswers(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	cite := func(n int) (citations []platform.Citation) {
		for i := range n {
			citations = append(citations,
				platform.Citation{Citation: event.Citation{URL: "https://a.example/" + strings.Repeat("x", i),
					Cited: true}})
		}
		return append(citations, platform.Citation{Citation: event.Citation{URL: "https://a.example/consulted"}})
	}
	text := func(words string, length int) string { return words + strings.Repeat("·", length-len(words)) }
	run := answer.Run{Snapshot: e.snapshot, Prompt: e.prompts[0], Platform: "openai", Model: "m", Attempts: 1}
	for i, reply := range []platform.Reply{
		{Text: text("Apple, Sony and LG. Apple again. ", 60), Citations: cite(2), ServedModel: "m-1"},
		{Text: text("Nothing. ", 7000), Citations: cite(25), ServedModel: "m-1"},
		{Text: text("Nobody. ", 30), ServedModel: "m-2"},
	} {
		run.Sample, run.Due, run.EndedAt = int64(i+1), daysAgo(1), daysAgo(1)
		e.add(t, run.Answered(reply))
	}
	run.Sample = 4
	e.add(t, run.GaveUp(&platform.Error{Class: platform.Timeout}))
	first := e.rows[0]
	back, again := first, first
	for _, row := range []*clickhouse.AnswerRow{&back, &again} {
		row.LogOffset, row.Text = 9, ""
	}
	back.Sign = -1
	again.CompetitorMentionCounts = slices.Clone(first.CompetitorMentionCounts)
	again.CompetitorMentionCounts[slices.Index(first.CompetitorNames, "Sony")] = 0
	e.rows = append(e.rows, back, again)
	// Another brand's answers, and days outside, are no answers of the panel.
	foreign, old := first, first
	foreign.OrganizationID, old.Day = clickhouse.UUID{7}, daysAgo(2)
	e.rows = append(e.rows, foreign, old)
	e.insert(t)

	rows, err := clickhouse.PanelDays.All(t.Context(), e.warehouse, clickhouse.PanelFilter{
		OrganizationID: clickhouse.UUID(postgres.PanelOrganization), BrandID: clickhouse.UUID(postgres.Panel),
		DateFrom: clickhouse.DayOf(daysAgo(1)), DateTo: clickhouse.DayOf(daysAgo(1)),
	})
	day := clickhouse.PanelDay{
		Platform: "openai", Model: "m", PromptID: clickhouse.UUID(e.prompts[0].ID), Day: daysAgo(1),
	}
	failed, answered, other := day, day, day
	failed.Runs, failed.GivenUp = 1, 1
	answered.ServedModel, answered.Runs, answered.Answers, answered.Names = "m-1", 2, 2, 20+0
	answered.Citations, answered.Length, answered.Cites = 10+100, 1+100, 100+100
	other.ServedModel, other.Runs, other.Answers, other.Length = "m-2", 1, 1, 0.5
	if want := []clickhouse.PanelDay{failed, answered, other}; err != nil || !reflect.DeepEqual(rows, want) {
		t.Errorf("got  %+v, %v\nwant %+v", rows, err, want)
	}
}
