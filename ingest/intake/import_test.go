package intake_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
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
	"github.com/answerscope/answerscope/ingest/intake"
	"github.com/answerscope/answerscope/ingest/platform/simulator"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/sql/postgres"
)

func TestMain(m *testing.M) { testkit.Main(m) }

var now = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// shelf is what has landed, as the test says.
type shelf struct{ ids map[uuid.UUID]bool }

func (s shelf) Landed(_ context.Context, _, _ uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]bool, error) {
	found := map[uuid.UUID]bool{}
	for _, id := range ids {
		if s.ids[id] {
			found[id] = true
		}
	}
	return found, nil
}

// world is a log, a store and two brands.
type world struct {
	t       *testing.T
	brokers []string
	prefix  string
	db      *postgres.DB
	log     *producer.Producer
	landed  shelf
	brands  []uuid.UUID
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, brokers: testkit.Kafka(t), prefix: testkit.Prefix(t), landed: shelf{map[uuid.UUID]bool{}}}

	db := store.OpenControlPlane(t, store.ControlPlane(t))
	w.db = db
	organization, err := db.AddOrganization(t.Context(), "Acme", "acme")
	w.must(err)
	for _, spec := range []intake.BrandSpec{
		{Name: "Fernwood", Slug: "fernwood", Domains: []string{"fernwood.example"}, Competitors: []intake.CompetitorSpec{{Name: "Altrek", Domains: []string{"altrek.example"}}}},
		{Name: "Altrek", Slug: "altrek"},
	} {
		brand, added, err := intake.EnsureBrand(t.Context(), db, organization.ID, spec)
		w.must(err)
		again, twice, err := intake.EnsureBrand(t.Context(), db, organization.ID, spec)
		w.must(err)
		if !added || twice || again.ID != brand.ID {
			t.Fatalf("brand %s added %v, again %v", brand.Slug, added, twice)
		}
		w.brands = append(w.brands, brand.ID)
	}

	topics := producer.DefaultTopicsConfig()
	topics.Brokers, topics.Prefix, topics.Partitions = w.brokers, w.prefix, 2
	_, err = producer.CreateTopics(t.Context(), topics)
	w.must(err)
	p := producer.DefaultConfig()
	p.Brokers, p.Prefix = w.brokers, w.prefix
	w.log, err = producer.New(p, slog.New(slog.NewTextHandler(t.Output(), nil)), prometheus.NewRegistry())
	w.must(err)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	stopped := make(chan error, 1)
	go func() { stopped <- w.log.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	})
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) intake(change func(*intake.Config)) *intake.Intake {
	w.t.Helper()
	cfg := intake.DefaultConfig()
	change(&cfg)
	in, err := intake.New(cfg, w.log, w.db, w.landed, func() time.Time { return now })
	w.must(err)
	return in
}

// onLog reads every answer of the log, in the order of each partition.
func (w *world) onLog() []event.Answer {
	w.t.Helper()
	var answers []event.Answer
	for _, m := range slices.Concat(w.records(event.TopicAnswers)...) {
		var a event.Answer
		w.must(event.DecodeAnswer(m.Value, &a))
		if string(m.Key) != string(event.AnswerKey(a.Brand.ID)) {
			w.t.Errorf("key %s of an answer for %s", m.Key, a.Brand.ID)
		}
		answers = append(answers, a)
	}
	return answers
}

// records reads a topic, by partition.
func (w *world) records(topic string) [][]kafka.Message {
	w.t.Helper()
	client := &kafka.Client{Addr: kafka.TCP(w.brokers...)}
	topic = w.prefix + topic
	records := make([][]kafka.Message, 2)
	for partition := range records {
		ends, err := client.ListOffsets(w.t.Context(), &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{topic: {kafka.LastOffsetOf(partition)}}})
		w.must(err)
		r := kafka.NewReader(kafka.ReaderConfig{Brokers: w.brokers, Topic: topic, Partition: partition, MaxWait: 100 * time.Millisecond})
		for range ends.Topics[topic][0].LastOffset {
			m, err := r.ReadMessage(w.t.Context())
			w.must(err)
			records[partition] = append(records[partition], m)
		}
		w.must(r.Close())
	}
	return records
}

func line(n int) string {
	return fmt.Sprintf(`{"platform":"chatgpt-web","model":"gpt","region":"us","prompt":"prompt %d","topic":"topic %d","answered_at":"2026-02-%02dT08:00:%02dZ","text":"Fernwood %d","citations":[{"url":"https://fernwood.example/"}]}`, n%7, n%3, 1+n%28, n%60, n)
}

func file(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(line(i) + "\n")
	}
	return b.String()
}

func TestImportTellsEachLineOnceToEachBrand(t *testing.T) {
	w := newWorld(t)
	text := line(1) + "\n" + line(2) + "\n\nno answer\n" + line(1) + "\n" + `{"platform":"x"}` + "\n" +
		strings.Repeat("x", 5000) + "\n" + strings.Replace(line(2), `"region"`, `"sample":2,"region"`, 1)
	in := w.intake(func(c *intake.Config) { c.LineBytes, c.BatchLines = 4096, 2 })
	var at []int64
	summary, err := in.Import(t.Context(), strings.NewReader(text), w.brands, func(p intake.Progress) { at = append(at, p.Bytes) })
	w.must(err)

	var reasons []string
	for _, r := range summary.Refusals {
		reason, _, _ := strings.Cut(r.Reason, ": want")
		reason, _, _ = strings.Cut(reason, " (")
		reasons = append(reasons, fmt.Sprintf("%d %s", r.Line, reason))
	}
	if want := []string{"4 not JSON at byte 2", "6 prompt is missing", "7 line of 5000 bytes"}; !reflect.DeepEqual(reasons, want) {
		t.Errorf("refused %q, want %q", reasons, want)
	}
	if summary.Imported != 6 || summary.Skipped != 2 || summary.Refused != 3 {
		t.Errorf("%+v", summary)
	}
	if at[len(at)-1] != int64(len(text)) {
		t.Errorf("read %d of %d bytes", at, len(text))
	}

	told := map[uuid.UUID]event.Answer{}
	for _, a := range w.onLog() {
		told[a.ID] = a
	}
	if len(told) != 6 {
		t.Fatalf("%d answers on the log, want 6", len(told))
	}
	for _, a := range told {
		w.must(a.Check(now))
		if a.Brand.ID == w.brands[0] && (a.Brand.Name != "Fernwood" || a.Brand.Domains[0] != "fernwood.example" || len(a.Competitors) != 1 ||
			a.Prompt.TopicID == nil || a.Prompt.ID.IsNil() || a.Simulated || !a.AnsweredAt.Equal(event.IDTime(a.ID))) {
			t.Errorf("record %+v", a)
		}
		w.landed.ids[a.ID] = true
	}

	// The file again, next month: all has landed, and nothing is told or made.
	summary, err = in.Import(t.Context(), strings.NewReader(text), w.brands, nil)
	w.must(err)
	if summary.Imported != 0 || summary.Skipped != 8 || summary.Refused != 3 || len(w.onLog()) != 6 {
		t.Errorf("again: %+v", summary)
	}
}

// An import that is stopped anywhere and run again leaves every answer on the log; what was told twice has the same id
// and the same words.
func TestImportGoesOnAfterAStop(t *testing.T) {
	w := newWorld(t)
	text := file(100)
	in := w.intake(func(c *intake.Config) { c.BatchLines = 8 })
	ctx, stop := context.WithCancelCause(t.Context())
	_, err := in.Import(ctx, strings.NewReader(text), w.brands, func(p intake.Progress) {
		if p.Summary.Imported >= 48 {
			stop(errors.New("stopped by the test"))
		}
	})
	interrupted, ok := errors.AsType[*intake.Interrupted](err)
	if !ok || interrupted.Summary.Imported != 48 || interrupted.Line != 24 || !errors.Is(err, context.Canceled) {
		t.Fatalf("%v", err)
	}
	if !strings.Contains(err.Error(), "Kafka has acknowledged 48 answers") {
		t.Errorf("%v", err)
	}
	for _, a := range w.onLog()[:30] {
		w.landed.ids[a.ID] = true
	}
	summary, err := in.Import(t.Context(), strings.NewReader(text), w.brands, nil)
	w.must(err)
	if summary.Imported != 170 || summary.Skipped != 30 {
		t.Errorf("%+v", summary)
	}
	told := map[uuid.UUID]event.Answer{}
	for _, a := range w.onLog() {
		if before, twice := told[a.ID]; twice && !reflect.DeepEqual(a, before) {
			t.Errorf("told twice, as\n%+v\n%+v", before, a)
		}
		told[a.ID] = a
	}
	if len(told) != 200 {
		t.Errorf("%d answers, want 200", len(told))
	}
}

func TestImportSaysWhatCannotBeTold(t *testing.T) {
	w := newWorld(t)
	in := w.intake(func(*intake.Config) {})
	large := fmt.Sprintf(`{"platform":"chatgpt-web","prompt":"p","answered_at":"2026-02-01T08:00:00Z","text":%q,"citations":[`, strings.Repeat("x", 4<<20))
	cited, err := json.Marshal(map[string]string{"url": "https://x.example/" + strings.Repeat("y", 30_000), "title": strings.Repeat("z", 1000)})
	w.must(err)
	large += strings.TrimSuffix(strings.Repeat(string(cited)+",", 135), ",") + "]}"
	summary, err := in.Import(t.Context(), strings.NewReader(large+"\n"+line(1)), w.brands[:1], nil)
	w.must(err)
	if summary.Imported != 1 || summary.Refused != 1 || !strings.Contains(summary.Refusals[0].Reason, "record of ") {
		t.Errorf("%d bytes: %+v", len(large), summary)
	}

	if _, err := in.Import(t.Context(), strings.NewReader(line(1)), []uuid.UUID{uuid.Must(uuid.NewV4())}, nil); !errors.Is(err, postgres.ErrNotFound) {
		t.Errorf("a brand that is not there: %v", err)
	}
	if _, err := intake.New(intake.Config{}, w.log, w.db, w.landed, time.Now); err == nil || !strings.Contains(err.Error(), "batch lines is 0") {
		t.Errorf("%v", err)
	}
}

// With the broker away an import ends, and says that Kafka has nothing of it.
func TestImportSaysWhatKafkaHas(t *testing.T) {
	w := newWorld(t)
	cfg := producer.DefaultConfig()
	cfg.Brokers, cfg.AttemptTimeout, cfg.AckTimeout = []string{"127.0.0.1:1"}, 200*time.Millisecond, 500*time.Millisecond
	away, err := producer.New(cfg, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	w.must(err)
	in, err := intake.New(intake.DefaultConfig(), away, w.db, w.landed, func() time.Time { return now })
	w.must(err)
	summary, err := in.Import(t.Context(), strings.NewReader(line(1)+"\nbad\n"), w.brands, nil)
	if !errors.Is(err, producer.ErrAway) || !strings.Contains(err.Error(), "Kafka has acknowledged 0 answers") || summary.Refused != 1 {
		t.Errorf("%+v, %v", summary, err)
	}
}

func TestAppendTellsAHistoryOnce(t *testing.T) {
	w := newWorld(t)
	in := w.intake(func(c *intake.Config) { c.BatchLines = 10 })
	snapshot, err := answer.ReadSnapshot(t.Context(), w.db, w.brands[0])
	w.must(err)
	s, err := simulator.New(simulator.Config{Seed: 1, Cast: simulator.Cast{Brand: snapshot.Brand.Entity, Competitors: snapshot.Competitors}})
	w.must(err)
	prompts, err := w.db.EnsurePrompts(t.Context(), w.brands[0], []postgres.NewPrompt{{Text: "a tent?", Topic: "tents"}, {Text: "a jacket?"}})
	w.must(err)
	plan := simulator.Plan{Snapshot: snapshot, Models: simulator.Models, From: now.AddDate(0, 0, -5), Until: now}
	for _, p := range prompts {
		plan.Prompts = append(plan.Prompts, simulator.Asked{Prompt: answer.Prompt(p), Samples: 1})
	}
	first, err := in.Append(t.Context(), s.History(plan))
	w.must(err)
	on := w.onLog()
	if first.Imported != len(on) || first.Skipped+first.Refused > 0 || len(on) < 30 || len(on) > plan.Runs() {
		t.Fatalf("%+v, %d on the log", first, len(on))
	}
	for _, a := range on {
		w.landed.ids[a.ID] = true
	}
	again, err := in.Append(t.Context(), s.History(plan))
	w.must(err)
	if again.Imported != 0 || again.Skipped != len(on) {
		t.Errorf("again: %+v", again)
	}
}

func TestSummaryIsWrittenWhole(t *testing.T) {
	b, err := json.Marshal(intake.Summary{Imported: 1, Refused: 1, Refusals: []intake.Refusal{{Line: 3, Reason: "text is missing: want a string"}}})
	want := `{"imported":1,"skipped":0,"refused":1,"refusals":[{"line":3,"reason":"text is missing: want a string"}]}`
	if err != nil || !bytes.Equal(b, []byte(want)) {
		t.Errorf("%s, %v", b, err)
	}
}
