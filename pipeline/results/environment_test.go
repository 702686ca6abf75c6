package results_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/extract"
	"github.com/answerscope/answerscope/pipeline/results"
	"github.com/answerscope/answerscope/pipeline/sink"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// today is the clock of every writer of these tests.
var today = time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)

// environment is a topic, a group and stores of a test's own, with one brand.
type environment struct {
	brokers      []string
	topic, group string
	db           *postgres.DB
	root         *pgx.Conn        // is not bound by policies
	warehouse    *clickhouse.Conn // nil but for tests of Renew
	brand        postgres.Snapshot
	prompts      []postgres.Prompt
	metrics      *prometheus.Registry // of the last writer
}

func newEnvironment(t *testing.T, brokers []string) *environment {
	t.Helper()
	t.Parallel()
	prefix, pg := testkit.Prefix(t), store.ControlPlane(t)
	e := &environment{
		brokers: brokers, topic: prefix + "answers", group: prefix + "results", db: store.OpenControlPlane(t, pg),
	}
	var err error
	if e.root, err = pgx.Connect(t.Context(), pg.DSN); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.root.Close(context.WithoutCancel(t.Context())) })
	e.addBrand(t)
	if len(brokers) > 0 {
		testkit.CreateTopic(t, brokers, e.topic)
	}
	return e
}

func (e *environment) addBrand(t *testing.T) {
	t.Helper()
	o, err := e.db.AddOrganization(t.Context(), "House", "house")
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := e.db.AddBrand(t.Context(), o.ID, postgres.NewBrand{
		Name: "Lumen", Domains: []string{"lumen.example"},
		Competitors: []postgres.NewCompetitor{{Name: "Glow", Domains: []string{"glow.example"}}, {Name: "Beam"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if e.brand, err = e.db.Snapshot(t.Context(), b.ID); err != nil {
		t.Fatal(err)
	}
	if e.prompts, err = e.db.EnsurePrompts(t.Context(), b.ID,
		[]postgres.NewPrompt{{Text: "best lamp?"}, {Text: "worst lamp?"}}); err != nil {
		t.Fatal(err)
	}
}

// answer is the brand's n-th, to its first prompt, n hours before today.
func (e *environment) answer(n int) *event.Answer {
	at, p := today.Add(-time.Duration(n)*time.Hour), e.prompts[0]
	a := &event.Answer{
		V: event.Version,
		ID: event.RunID(event.Identity{BrandID: e.brand.BrandID, PromptText: p.Text,
			Platform: "openai", Model: "m", Sample: int64(n + 1), Due: at}),
		OrganizationID: e.brand.OrganizationID,
		Brand: event.Brand{
			Entity:   event.Entity{ID: e.brand.BrandID, Name: e.brand.Name, Domains: e.brand.Domains},
			Revision: e.brand.Revision,
		},
		Prompt:   event.Prompt{ID: p.ID, Text: p.Text, SetID: p.SetID},
		Platform: "openai", Model: "m", Sample: int64(n + 1), Surface: event.SurfaceAPI,
		AnsweredAt: event.At(at), Attempts: 1, Finish: event.FinishComplete,
		Text: fmt.Sprintf("Glow is bright. Lumen is answer %d.", n),
	}
	for _, c := range e.brand.Competitors {
		a.Competitors = append(a.Competitors, event.Entity(c))
	}
	return a
}

// renamed is a reread of the n-th answer, after the first competitor was renamed.
func (e *environment) renamed(n int) *event.Answer {
	a := e.answer(n)
	a.Reread = &event.Reread{MinExtractVersion: 1}
	a.Brand.Revision++
	a.Competitors[0].Name = "Gloom"
	return a
}

// answers makes the answers of a range.
func (e *environment) answers(from, to int) []*event.Answer {
	var all []*event.Answer
	for n := from; n < to; n++ {
		all = append(all, e.answer(n))
	}
	return all
}

func encoded(t *testing.T, answers ...*event.Answer) [][]byte {
	t.Helper()
	var all [][]byte
	for _, a := range answers {
		value, err := event.EncodeAnswer(nil, a)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, value)
	}
	return all
}

// append appends values in one request, in order.
func (e *environment) append(t *testing.T, values ...[]byte) {
	t.Helper()
	testkit.Append(t, e.brokers, e.topic, values...)
}

func (e *environment) writer(t *testing.T) *results.Results {
	t.Helper()
	e.metrics = prometheus.NewRegistry()
	return results.New(extract.Version, e.db, e.warehouse, func() time.Time { return today }, e.metrics, testkit.Log(t))
}

// run runs a consumer until done is true, then stops it as a signal would.
func (e *environment) run(t *testing.T, target consume.Target[results.Item], records int,
	done func(*consume.Consumer[results.Item]) bool) {
	t.Helper()
	cfg := consume.DefaultConfig()
	cfg.Brokers, cfg.Group, cfg.Topic = e.brokers, e.group, e.topic
	cfg.Limits = consume.Limits{Records: records, Bytes: 1 << 20, Linger: 20 * time.Millisecond}
	c, err := consume.New(cfg, target, prometheus.NewRegistry(), testkit.Log(t))
	if err != nil {
		t.Fatal(err)
	}
	defer testkit.Start(t, c.Run)()
	wait.For(t, "the consumer", func() bool { return done(c) })
}

// committed is true once the group has committed an offset, and no plan.
func (e *environment) committed(t *testing.T, below int64) func(*consume.Consumer[results.Item]) bool {
	client := &kafka.Client{Addr: kafka.TCP(e.brokers...)}
	return func(*consume.Consumer[results.Item]) bool {
		answer, err := client.OffsetFetch(t.Context(),
			&kafka.OffsetFetchRequest{GroupID: e.group, Topics: map[string][]int{e.topic: {0}}})
		if err != nil || len(answer.Topics[e.topic]) == 0 {
			return false
		}
		at := answer.Topics[e.topic][0]
		return at.CommittedOffset >= below && at.Metadata == ""
	}
}

// write writes answers as one batch, without a log.
func (e *environment) write(t *testing.T, target *results.Results, answers ...*event.Answer) {
	t.Helper()
	writeBatch(t, e.topic, target, answers...)
}

func writeBatch[T any](t *testing.T, topic string, target consume.Target[T], answers ...*event.Answer) {
	t.Helper()
	b := &consume.Batch[T]{Topic: topic, Last: int64(len(answers)) - 1}
	for i, value := range encoded(t, answers...) {
		item, _, err := target.Decode(target.Version(), consume.Record{Topic: topic, Offset: int64(i), Value: value})
		if err != nil {
			t.Fatal(err)
		}
		b.Items = append(b.Items, item)
	}
	if err := target.Insert(t.Context(), b, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
}

// rows reads prompt_results, the newest first: a short text for each row.
func (e *environment) rows(t *testing.T) []string {
	t.Helper()
	return e.query(t,
		`response || ' ' || revision || ': ' || mention_count || '@'
		|| coalesce(mention_position::text, '-') || ' among '
		|| (SELECT string_agg((c ->> 'name') || ' ' || (c ->> 'mention_count'), ', ' ORDER BY place)
			FROM jsonb_array_elements(competitor_mentions) WITH ORDINALITY AS u (c, place))`)
}

// wholeRows are all columns of prompt_results.
func (e *environment) wholeRows(t *testing.T) []string {
	t.Helper()
	return e.query(t, "(to_jsonb(r) - 'updated_at')::text")
}

func (e *environment) query(t *testing.T, text string) []string {
	t.Helper()
	rows, err := e.root.Query(t.Context(),
		"SELECT "+text+" FROM public.prompt_results AS r ORDER BY created_at DESC, id")
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// first and again are the rows of an answer, and of its reread by renamed.
func (e *environment) first(n int) string {
	return fmt.Sprintf("Glow is bright. Lumen is answer %d. %d: 1@2 among Glow 1, Beam 0", n, e.brand.Revision)
}

func (e *environment) again(n int) string {
	return fmt.Sprintf("Glow is bright. Lumen is answer %d. %d: 1@1 among Gloom 0, Beam 0", n, e.brand.Revision+1)
}

// sink inserts answers into the warehouse.
func (e *environment) sink(t *testing.T, answers ...*event.Answer) {
	t.Helper()
	writeBatch(t, e.topic, sink.NewAnswers(e.warehouse, prometheus.NewRegistry(), testkit.Log(t)), answers...)
}

func (e *environment) exec(t *testing.T, statement string, args ...any) {
	t.Helper()
	if _, err := e.root.Exec(t.Context(), statement, args...); err != nil {
		t.Fatal(err)
	}
}

// counted is how many records had each outcome.
func (e *environment) counted(t *testing.T) map[string]float64 {
	t.Helper()
	families, err := e.metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	counted := map[string]float64{}
	for _, f := range families {
		if f.GetName() != "answerscope_results_records_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			if n := m.GetCounter().GetValue(); n > 0 {
				counted[m.GetLabel()[0].GetValue()] = n
			}
		}
	}
	return counted
}

var unknownOrganization = uuid.Must(uuid.FromString("01890000-0000-7000-8000-000000000001"))
