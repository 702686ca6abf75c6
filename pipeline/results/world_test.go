package results_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/results"
	"github.com/answerscope/answerscope/pipeline/sink"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// today is when every writer of these tests believes to be.
var today = time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)

// world is a topic, a group and a database of their own, with one brand.
type world struct {
	brokers      []string
	topic, group string
	db           *postgres.DB
	root         *pgx.Conn // beyond every policy
	dsn          string
	warehouse    *clickhouse.Conn // nil but for tests of renewal
	brand        postgres.Snapshot
	prompts      []postgres.Prompt
	metrics      *prometheus.Registry // of the last writer
}

func newWorld(t *testing.T, brokers []string) *world {
	t.Helper()
	prefix := testkit.Prefix(t)
	cfg := store.ControlPlane(t)
	w := &world{brokers: brokers, topic: prefix + "answers", group: prefix + "results", dsn: cfg.DSN}
	w.db = store.OpenControlPlane(t, cfg)
	var err error
	if w.root, err = pgx.Connect(t.Context(), w.dsn); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.root.Close(context.WithoutCancel(t.Context())) })
	w.addBrand(t)
	if len(brokers) > 0 {
		w.makeTopic(t)
	}
	return w
}

func (w *world) addBrand(t *testing.T) {
	t.Helper()
	o, err := w.db.AddOrganization(t.Context(), "House", "house")
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := w.db.AddBrand(t.Context(), o.ID, postgres.NewBrand{
		Name: "Lumen", Domains: []string{"lumen.example"}, Competitors: []postgres.NewCompetitor{{Name: "Glow", Domains: []string{"glow.example"}}, {Name: "Beam"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if w.brand, err = w.db.Snapshot(t.Context(), b.ID); err != nil {
		t.Fatal(err)
	}
	if w.prompts, err = w.db.EnsurePrompts(t.Context(), b.ID, []postgres.NewPrompt{{Text: "best lamp?"}, {Text: "worst lamp?"}}); err != nil {
		t.Fatal(err)
	}
}

func (w *world) makeTopic(t *testing.T) {
	t.Helper()
	client := &kafka.Client{Addr: kafka.TCP(w.brokers...)}
	made, err := client.CreateTopics(t.Context(), &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{{Topic: w.topic, NumPartitions: 1, ReplicationFactor: 1}}})
	if err == nil {
		err = made.Errors[w.topic]
	}
	if err != nil {
		t.Fatal(err)
	}
}

// answer is the brand's n-th, to its first prompt, n hours before today.
func (w *world) answer(n int) *event.Answer {
	at, p := today.Add(-time.Duration(n)*time.Hour), w.prompts[0]
	a := &event.Answer{
		V:              event.Version,
		ID:             event.RunID(event.Identity{BrandID: w.brand.BrandID, PromptText: p.Text, Platform: "openai", Model: "m", Sample: int64(n + 1), Due: at}),
		OrganizationID: w.brand.OrganizationID,
		Brand:          event.Brand{Entity: event.Entity{ID: w.brand.BrandID, Name: w.brand.Name, Domains: w.brand.Domains}, Revision: w.brand.Revision},
		Prompt:         event.Prompt{ID: p.ID, Text: p.Text, SetID: p.SetID},
		Platform:       "openai", Model: "m", Sample: int64(n + 1), Surface: event.SurfaceAPI,
		AnsweredAt: event.At(at), Attempts: 1, Finish: event.FinishComplete,
		Text: fmt.Sprintf("Glow is bright. Lumen is answer %d.", n),
	}
	for _, c := range w.brand.Competitors {
		a.Competitors = append(a.Competitors, event.Entity(c))
	}
	return a
}

// renamed is the n-th answer told again, after the first competitor got another name.
func (w *world) renamed(n int) *event.Answer {
	a := w.answer(n)
	a.Reread = &event.Reread{MinExtractVersion: 1}
	a.Brand.Revision++
	a.Competitors[0].Name = "Gloom"
	return a
}

// answers are those of a range.
func (w *world) answers(from, to int) []*event.Answer {
	var all []*event.Answer
	for n := from; n < to; n++ {
		all = append(all, w.answer(n))
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

// tell appends values in one request, in order.
func (w *world) tell(t *testing.T, values ...[]byte) {
	t.Helper()
	client := &kafka.Client{Addr: kafka.TCP(w.brokers...)}
	until(t, func() bool {
		var records []kafka.Record // anew: a request reads them to their end
		for _, v := range values {
			records = append(records, kafka.Record{Value: kafka.NewBytes(v)})
		}
		answer, err := client.Produce(t.Context(), &kafka.ProduceRequest{Topic: w.topic, RequiredAcks: kafka.RequireAll, Records: kafka.NewRecordReader(records...)})
		if err == nil {
			err = answer.Error
		}
		// a topic just made may not have its leader yet
		if errors.Is(err, kafka.UnknownTopicOrPartition) || errors.Is(err, kafka.LeaderNotAvailable) || errors.Is(err, kafka.NotLeaderForPartition) {
			return false
		}
		if err != nil {
			t.Fatal(err)
		}
		return true
	})
}

func (w *world) writer(t *testing.T) *results.Results {
	t.Helper()
	w.metrics = prometheus.NewRegistry()
	r, err := results.New(results.DefaultConfig(), w.db, w.warehouse, func() time.Time { return today }, w.metrics, logTo(t))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func logTo(t *testing.T) *slog.Logger { return slog.New(slog.NewTextHandler(t.Output(), nil)) }

// run runs a consumer until done is true, then stops it as a signal would.
func (w *world) run(t *testing.T, target consume.Target[results.Item], records int, done func(*consume.Consumer[results.Item]) bool) {
	t.Helper()
	cfg := consume.DefaultConfig()
	cfg.Brokers, cfg.Group, cfg.Topic = w.brokers, w.group, w.topic
	cfg.Limits = consume.Limits{Records: records, Bytes: 1 << 20, Linger: 20 * time.Millisecond}
	cfg.SessionTimeout, cfg.Finish = 6*time.Second, 3*time.Second
	c, err := consume.New(cfg, target, prometheus.NewRegistry(), logTo(t))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	until(t, func() bool { return done(c) })
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// committed is true once the group has landed everything below an offset.
func (w *world) committed(t *testing.T, below int64) func(*consume.Consumer[results.Item]) bool {
	client := &kafka.Client{Addr: kafka.TCP(w.brokers...)}
	return func(*consume.Consumer[results.Item]) bool {
		answer, err := client.OffsetFetch(t.Context(), &kafka.OffsetFetchRequest{GroupID: w.group, Topics: map[string][]int{w.topic: {0}}})
		if err != nil || len(answer.Topics[w.topic]) == 0 {
			return false
		}
		at := answer.Topics[w.topic][0]
		return at.CommittedOffset >= below && at.Metadata == ""
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

// land hands answers over as one batch, without a log.
func (w *world) land(t *testing.T, target *results.Results, answers ...*event.Answer) {
	t.Helper()
	landBatch(t, w.topic, target, answers...)
}

func landBatch[T any](t *testing.T, topic string, target consume.Target[T], answers ...*event.Answer) {
	t.Helper()
	b := &consume.Batch[T]{Topic: topic, Last: int64(len(answers)) - 1}
	for i, value := range encoded(t, answers...) {
		item, _, err := target.Read(target.Version(), consume.Record{Topic: topic, Offset: int64(i), Value: value})
		if err != nil {
			t.Fatal(err)
		}
		b.Items = append(b.Items, item)
	}
	if err := target.Land(t.Context(), b, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
}

// rows are those of prompt_results by time, the newest first: a short text for each.
func (w *world) rows(t *testing.T) []string {
	t.Helper()
	rows, err := w.root.Query(t.Context(), `
		SELECT response || ' ' || revision || ': ' || mention_count || '@' || coalesce(mention_position::text, '-') || ' among '
			|| (SELECT string_agg((c ->> 'name') || ' ' || (c ->> 'mention_count'), ', ' ORDER BY place) FROM jsonb_array_elements(competitor_mentions) WITH ORDINALITY AS u (c, place))
		FROM public.prompt_results
		ORDER BY created_at DESC, id`)
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// first and again are the rows of an answer, and of it told again by renamed.
func (w *world) first(n int) string {
	return fmt.Sprintf("Glow is bright. Lumen is answer %d. %d: 1@2 among Glow 1, Beam 0", n, w.brand.Revision)
}

func (w *world) again(n int) string {
	return fmt.Sprintf("Glow is bright. Lumen is answer %d. %d: 1@1 among Gloom 0, Beam 0", n, w.brand.Revision+1)
}

// openWarehouse gives the writer a warehouse.
func (w *world) openWarehouse(t *testing.T) {
	t.Helper()
	w.warehouse = store.OpenWarehouse(t, store.Warehouse(t))
}

// sink lands answers in the warehouse.
func (w *world) sink(t *testing.T, answers ...*event.Answer) {
	t.Helper()
	landBatch(t, w.topic, sink.New(w.warehouse, prometheus.NewRegistry(), logTo(t)), answers...)
}

// all are the whole rows of prompt_results.
func (w *world) all(t *testing.T) []string {
	t.Helper()
	rows, err := w.root.Query(t.Context(), "SELECT (to_jsonb(r) - 'updated_at')::text FROM public.prompt_results AS r ORDER BY created_at DESC, id")
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func (w *world) exec(t *testing.T, statement string, args ...any) {
	t.Helper()
	if _, err := w.root.Exec(t.Context(), statement, args...); err != nil {
		t.Fatal(err)
	}
}

// counted is how many records had each outcome.
func (w *world) counted(t *testing.T) map[string]float64 {
	t.Helper()
	families, err := w.metrics.Gather()
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

var nobody = uuid.Must(uuid.FromString("01890000-0000-7000-8000-000000000001"))
