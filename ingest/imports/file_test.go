package imports_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/ingest/answer"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/imports"
	"github.com/answerscope/answerscope/ingest/platform/simulator"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/demo"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/sql/postgres"
)

func TestMain(m *testing.M) { testkit.Main(m) }

var now = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// warehouse has the ids of landed facts.
type warehouse struct{ ids map[uuid.UUID]bool }

func (w warehouse) lookup(_ context.Context, _, _ uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]bool, error) {
	found := map[uuid.UUID]bool{}
	for _, id := range ids {
		if w.ids[id] {
			found[id] = true
		}
	}
	return found, nil
}

// environment is a log, a store and two brands.
type environment struct {
	t        *testing.T
	brokers  []string
	prefix   string
	db       *postgres.DB
	producer *producer.Producer
	landed   warehouse
	brands   []uuid.UUID
	logged   *bytes.Buffer // log lines of the producer
}

func newEnvironment(t *testing.T) *environment {
	t.Helper()
	e := &environment{
		t: t, brokers: testkit.Kafka(t), prefix: testkit.Prefix(t), landed: warehouse{map[uuid.UUID]bool{}},
		logged: &bytes.Buffer{},
	}

	db := store.OpenControlPlane(t, store.ControlPlane(t))
	e.db = db
	organization, err := db.AddOrganization(t.Context(), "Acme", "acme")
	e.must(err)
	for _, spec := range []postgres.NewBrand{
		{Name: "Fernwood", Slug: "fernwood", Domains: []string{"fernwood.example"},
			Competitors: []postgres.NewCompetitor{{Name: "Altrek", Domains: []string{"altrek.example"}}}},
		{Name: "Altrek", Slug: "altrek"},
	} {
		brand, added, err := db.AddBrand(t.Context(), organization.ID, spec)
		e.must(err)
		again, twice, err := db.AddBrand(t.Context(), organization.ID, spec)
		e.must(err)
		if !added || twice || again.ID != brand.ID {
			t.Fatalf("brand %s added %v, again %v", brand.Slug, added, twice)
		}
		e.brands = append(e.brands, brand.ID)
	}

	topics := producer.DefaultTopicsConfig()
	topics.Brokers, topics.Prefix, topics.Partitions = e.brokers, e.prefix, 2
	_, err = producer.CreateTopics(t.Context(), topics)
	e.must(err)
	p := producer.DefaultConfig()
	p.Brokers, p.Prefix = e.brokers, e.prefix
	e.producer, err = producer.New(p, slog.New(slog.NewTextHandler(io.MultiWriter(t.Output(), e.logged), nil)),
		prometheus.NewRegistry())
	e.must(err)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	stopped := make(chan error, 1)
	go func() { stopped <- e.producer.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	})
	return e
}

func (e *environment) must(err error) {
	e.t.Helper()
	must(e.t, err)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (e *environment) importer() *imports.Importer {
	return imports.New(e.producer, e.db,
		imports.Lookups{Answers: e.landed.lookup, Visits: e.landed.lookup, Crawls: e.landed.lookup}, func() time.Time {
			return now
		})
}

// onLog reads every answer of the log, in the order of each partition.
func (e *environment) onLog() []event.Answer {
	e.t.Helper()
	var answers []event.Answer
	for _, m := range slices.Concat(e.records(event.TopicAnswers)...) {
		var a event.Answer
		e.must(event.DecodeAnswer(m.Value, &a))
		if string(m.Key) != string(event.BrandKey(a.Brand.ID)) {
			e.t.Errorf("key %s of an answer for %s", m.Key, a.Brand.ID)
		}
		answers = append(answers, a)
	}
	return answers
}

// records reads a topic, by partition.
func (e *environment) records(topic string) [][]kafka.Message {
	e.t.Helper()
	client := &kafka.Client{Addr: kafka.TCP(e.brokers...)}
	topic = e.prefix + topic
	records := make([][]kafka.Message, 2)
	for partition := range records {
		ends, err := client.ListOffsets(e.t.Context(),
			&kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{topic: {kafka.LastOffsetOf(partition)}}})
		e.must(err)
		r := kafka.NewReader(kafka.ReaderConfig{
			Brokers: e.brokers, Topic: topic, Partition: partition, MaxWait: 100 * time.Millisecond,
		})
		for range ends.Topics[topic][0].LastOffset {
			m, err := r.ReadMessage(e.t.Context())
			e.must(err)
			records[partition] = append(records[partition], m)
		}
		e.must(r.Close())
	}
	return records
}

func line(n int) string {
	return fmt.Sprintf(`{"platform":"chatgpt-web","model":"gpt","region":"us","prompt":"prompt %d","topic":"topic `+
		`%d","answered_at":"2026-02-%02dT08:00:%02dZ","text":"Fernwood `+
		`%d","citations":[{"url":"https://fernwood.example/"}]}`, n%7, n%3, 1+n%28, n%60, n)
}

func file(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(line(i) + "\n")
	}
	return b.String()
}

func TestEachLineIsAppendedOnceForEachBrand(t *testing.T) {
	e := newEnvironment(t)
	text := line(1) + "\n" + line(2) + "\n\nno answer\n" + line(1) + "\n" + `{"platform":"x"}` + "\n" +
		strings.Repeat("x", 5000) + "\n" + strings.Replace(line(2), `"region"`, `"sample":2,"region"`, 1)
	in := e.importer().Limit(4096, 2)
	var at []int64
	summary, err := in.Import(t.Context(), strings.NewReader(text), e.brands, func(p imports.Progress) {
		at = append(at, p.Bytes)
	})
	e.must(err)

	var reasons []string
	for _, r := range summary.Refusals {
		reason, _, _ := strings.Cut(r.Reason, ": want")
		reason, _, _ = strings.Cut(reason, " (")
		reasons = append(reasons, fmt.Sprintf("%d %s", r.Line, reason))
	}
	if want := []string{"4 not JSON at byte 2", "6 prompt", "7 line of 5000 bytes"}; !reflect.DeepEqual(reasons, want) {
		t.Errorf("refused %q, want %q", reasons, want)
	}
	if summary.Imported != 6 || summary.Skipped != 2 || summary.Refused != 3 {
		t.Errorf("%+v", summary)
	}
	if at[len(at)-1] != int64(len(text)) {
		t.Errorf("read %d of %d bytes", at, len(text))
	}

	appended := map[uuid.UUID]event.Answer{}
	for _, a := range e.onLog() {
		appended[a.ID] = a
	}
	if len(appended) != 6 {
		t.Fatalf("%d answers on the log, want 6", len(appended))
	}
	for _, a := range appended {
		e.must(a.Check(now))
		if a.Brand.ID == e.brands[0] && (a.Brand.Name != "Fernwood" || a.Brand.Domains[0] != "fernwood.example" ||
			len(a.Competitors) != 1 ||
			a.Prompt.TopicID == nil || a.Prompt.ID.IsNil() || a.Simulated || !a.AnsweredAt.Equal(event.IDTime(a.ID))) {
			t.Errorf("record %+v", a)
		}
		e.landed.ids[a.ID] = true
	}

	// The file again, next month: all has landed, and nothing is appended or created.
	summary, err = in.Import(t.Context(), strings.NewReader(text), e.brands, nil)
	e.must(err)
	if summary.Imported != 0 || summary.Skipped != 8 || summary.Refused != 3 || len(e.onLog()) != 6 {
		t.Errorf("again: %+v", summary)
	}
}

// An import that is stopped anywhere and run again leaves every answer on the log; one that was appended twice has the
// same id and the same fields.
func TestInterruptedImportIsContinued(t *testing.T) {
	e := newEnvironment(t)
	text := file(100)
	in := e.importer().Limit(0, 8)
	ctx, stop := context.WithCancelCause(t.Context())
	_, err := in.Import(ctx, strings.NewReader(text), e.brands, func(p imports.Progress) {
		if p.Summary.Imported >= 48 {
			stop(errors.New("stopped by the test"))
		}
	})
	interrupted, ok := errors.AsType[*imports.Interrupted](err)
	if !ok || interrupted.Imported != 48 || interrupted.Line != 24 || !errors.Is(err, context.Canceled) {
		t.Fatalf("%v", err)
	}
	if !strings.Contains(err.Error(), "Kafka has acknowledged 48 answers") {
		t.Errorf("%v", err)
	}
	for _, a := range e.onLog()[:30] {
		e.landed.ids[a.ID] = true
	}
	summary, err := in.Import(t.Context(), strings.NewReader(text), e.brands, nil)
	e.must(err)
	if summary.Imported != 170 || summary.Skipped != 30 {
		t.Errorf("%+v", summary)
	}
	appended := map[uuid.UUID]event.Answer{}
	for _, a := range e.onLog() {
		if before, twice := appended[a.ID]; twice && !reflect.DeepEqual(a, before) {
			t.Errorf("appended twice, as\n%+v\n%+v", before, a)
		}
		appended[a.ID] = a
	}
	if len(appended) != 200 {
		t.Errorf("%d answers, want 200", len(appended))
	}
}

func TestImportRefusesTooLargeRecords(t *testing.T) {
	e := newEnvironment(t)
	in := e.importer()
	large := fmt.Sprintf(
		`{"platform":"chatgpt-web","prompt":"p","answered_at":"2026-02-01T08:00:00Z","text":%q,"citations":[`,
		strings.Repeat("x", 4<<20))
	cited, err := json.Marshal(map[string]string{
		"url": "https://x.example/" + strings.Repeat("y", 30_000), "title": strings.Repeat("z", 1000),
	})
	e.must(err)
	large += strings.TrimSuffix(strings.Repeat(string(cited)+",", 135), ",") + "]}"
	summary, err := in.Import(t.Context(), strings.NewReader(large+"\n"+line(1)), e.brands[:1], nil)
	e.must(err)
	if summary.Imported != 1 || summary.Refused != 1 || !strings.Contains(summary.Refusals[0].Reason, "record of ") {
		t.Errorf("%d bytes: %+v", len(large), summary)
	}

	if _, err := in.Import(t.Context(), strings.NewReader(line(1)),
		[]uuid.UUID{uuid.Must(uuid.NewV4())}, nil); !errors.Is(err, postgres.ErrNotFound) {
		t.Errorf("a brand that is not there: %v", err)
	}
}

// With the broker away an import ends, and reports that Kafka has acknowledged nothing.
func TestImportReportsAcknowledgedRecords(t *testing.T) {
	e := newEnvironment(t)
	cfg := producer.DefaultConfig()
	cfg.Brokers, cfg.AckTimeout = []string{"127.0.0.1:1"}, 500*time.Millisecond
	away, err := producer.New(cfg, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	e.must(err)
	in := imports.New(away, e.db,
		imports.Lookups{Answers: e.landed.lookup, Visits: e.landed.lookup, Crawls: e.landed.lookup}, func() time.Time {
			return now
		})
	summary, err := in.Import(t.Context(), strings.NewReader(line(1)+"\nbad\n"), e.brands, nil)
	if !errors.Is(err, producer.ErrAway) || !strings.Contains(err.Error(), "Kafka has acknowledged 0 answers") ||
		summary.Refused != 1 {
		t.Errorf("%+v, %v", summary, err)
	}
}

func TestHistoryIsAppendedOnce(t *testing.T) {
	e := newEnvironment(t)
	in := e.importer().Limit(0, 10)
	snapshot, err := answer.ReadSnapshot(t.Context(), e.db, e.brands[0])
	e.must(err)
	s, err := simulator.New(simulator.Config{
		Seed: 1, Cast: simulator.Cast{Brand: snapshot.Brand.Entity, Competitors: snapshot.Competitors},
	})
	e.must(err)
	prompts, err := e.db.EnsurePrompts(t.Context(), e.brands[0], []postgres.NewPrompt{
		{Text: "a tent?", Topic: "tents"}, {Text: "a jacket?"},
	})
	e.must(err)
	history := demo.History{Snapshot: snapshot, Models: simulator.Models, From: now.AddDate(0, 0, -5), Until: now}
	for _, p := range prompts {
		history.Prompts = append(history.Prompts, demo.TrackedPrompt{Prompt: answer.Prompt(p), Samples: 1})
	}
	first, err := in.Append(t.Context(), history.Answers(s))
	e.must(err)
	on := e.onLog()
	if first.Imported != len(on) || first.Skipped+first.Refused > 0 || len(on) < 30 || len(on) > history.Runs() {
		t.Fatalf("%+v, %d on the log", first, len(on))
	}
	for _, a := range on {
		e.landed.ids[a.ID] = true
	}
	again, err := in.Append(t.Context(), history.Answers(s))
	e.must(err)
	if again.Imported != 0 || again.Skipped != len(on) {
		t.Errorf("again: %+v", again)
	}
}

func TestSummaryAsJSON(t *testing.T) {
	b, err := json.Marshal(imports.Summary{
		Counts:   imports.Counts{Imported: 1, Refused: 1},
		Refusals: []imports.Refusal{{Line: 3, Reason: "text is missing: want a string"}},
	})
	want := `{"imported":1,"skipped":0,"refused":1,"refusals":[{"line":3,"reason":"text is missing: want a string"}]}`
	if err != nil || !bytes.Equal(b, []byte(want)) {
		t.Errorf("%s, %v", b, err)
	}
}

// What an existing brand lacks of a file's is added to it, and what it has otherwise is listed.
func TestGapOfAnExistingBrand(t *testing.T) {
	t.Parallel()
	file := postgres.NewBrand{
		Name: "Acme Ltd", Industry: "tools", Region: "de", Language: "en", Aliases: []string{"ACME", "Acme Co"},
		Domains: []string{"acme.example", "acme.shop"},
		Competitors: []postgres.NewCompetitor{
			{Name: "Globex", Domains: []string{"globex.example"}}, {Name: "Initech", Aliases: []string{"IT"}},
		},
	}
	brand := postgres.Brand{Name: "Acme", Region: "us", Language: "en"}
	snapshot := postgres.Snapshot{
		Aliases: []string{"Acme Co"}, Domains: []string{"acme.shop", "old.example"},
		Competitors: []postgres.Competitor{{Name: "Initech", Aliases: []string{"I"}}},
	}
	got := imports.GapOf(file, brand, snapshot)
	added := []string{`industry "tools"`, "aliases ACME", "domains acme.example", `competitor "Globex"`,
		`competitor "Initech" aliases IT`}
	different := []string{`name "Acme Ltd" (is "Acme")`, `region "de" (is "us")`}
	if !slices.Equal(got.Added, added) || !slices.Equal(got.Different, different) {
		t.Errorf("added %q, want %q; different %q, want %q", got.Added, added, got.Different, different)
	}
	same := postgres.NewBrand{Name: "Acme", Domains: []string{"old.example"}}
	if got := imports.GapOf(same, brand, snapshot); got.Added != nil || got.Different != nil {
		t.Errorf("the gap of the same is %+v", got)
	}
}

func TestFillAddsWhatABrandLacks(t *testing.T) {
	t.Parallel()
	db := store.OpenControlPlane(t, store.ControlPlane(t))
	organization, err := db.AddOrganization(t.Context(), "House", "house")
	if err != nil {
		t.Fatal(err)
	}
	file := postgres.NewBrand{Name: "Acme", Slug: "acme", Region: "us", Aliases: []string{"Acme Corp"},
		Domains: []string{"acme.example"}, Competitors: []postgres.NewCompetitor{
			{Name: "Globex", Aliases: []string{"Globex Tools"}, Domains: []string{"globex.example"}}, {Name: "Initech"},
		}}
	for i, spec := range []postgres.NewBrand{
		{Name: "Acme", Slug: "acme", Region: "de", Competitors: []postgres.NewCompetitor{{Name: "Globex"}}}, file, file,
	} {
		brand, _, err := db.AddBrand(t.Context(), organization.ID, spec)
		if err != nil {
			t.Fatal(err)
		}
		snapshot, err := db.Snapshot(t.Context(), brand.ID)
		if err != nil {
			t.Fatal(err)
		}
		gap := imports.GapOf(spec, brand, snapshot)
		if (len(gap.Added) > 0) != (i == 1) {
			t.Errorf("import %d adds %q", i, gap.Added)
		}
		if err := gap.Fill(t.Context(), db, brand.ID); err != nil {
			t.Fatal(err)
		}
		if i < 1 {
			continue
		}
		if after, err := db.Snapshot(t.Context(), brand.ID); err != nil || brand.Region != "de" ||
			!slices.Equal(after.Aliases, file.Aliases) || !slices.Equal(after.Domains, file.Domains) ||
			len(after.Competitors) != 2 || !slices.Equal(after.Competitors[0].Domains, []string{"globex.example"}) ||
			!slices.Equal(after.Competitors[0].Aliases, []string{"Globex Tools"}) {
			t.Errorf("after import %d it is %+v, %v", i, after, err)
		}
	}
}

// Domains by SQL or /rest/v1 have the same form as in a file.
func TestHostIsTheDatabasesDomain(t *testing.T) {
	t.Parallel()
	db := store.OpenControlPlane(t, store.ControlPlane(t))
	random := rand.New(rand.NewPCG(1, 1))
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	for range 500 {
		text := pick("", "", "https://", "HTTP://", "//", "ftp://u:p@") + pick("", "www.", "WWW.", "www.www.")
		for range 1 + random.IntN(3) {
			text += pick("example", "Lamp-Shop", "xn--mnchen-3ya", "münchen", "MÜNCHEN", "fußball", "пример",
				"ПРИМЕР", "例え", "café", "cafe\u0301", "ｆｕｌｌ", "a1", "1", "-a", "a_b", "a b", "ελληνικά", "бг-2") +
				pick(".", ".", ".", "。", "..")
		}
		text += pick("com", "de", "example", "テスト", "рф", "") + pick("", "", ".", ":8080", "/path?q#f", " ")
		got, err := imports.Host(text)
		var want string
		stored := db.QueryRow(t.Context(), "SELECT private.domain_of($1)", text).Scan(&want)
		if (err == nil) != (stored == nil) || got != want {
			t.Errorf("%q: a file's is %q, %v; the database's %q, %v", text, got, err, want, stored)
		}
	}
}
