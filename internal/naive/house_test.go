package naive_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/intake"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/mirror"
	"github.com/answerscope/answerscope/pipeline/sink"
	"github.com/answerscope/answerscope/queryapi/apikey"
	"github.com/answerscope/answerscope/queryapi/metrics"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// house is the whole way of an answer on engines of its own: log, sink, mirror,
// warehouse, API.
type house struct {
	t            *testing.T
	db           *postgres.DB
	warehouse    *clickhouse.Conn
	intake       *intake.Intake
	organization uuid.UUID
	url, key     string
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{t: t}
	brokers, prefix := testkit.Kafka(t), testkit.Prefix(t)
	log, registry := slog.New(slog.NewTextHandler(t.Output(), nil)), prometheus.NewRegistry()
	h.stores()

	topics := producer.DefaultTopicsConfig()
	topics.Brokers, topics.Prefix = brokers, prefix
	_, err := producer.CreateTopics(t.Context(), topics)
	h.must(err)
	appends := producer.DefaultConfig()
	appends.Brokers, appends.Prefix = brokers, prefix
	appender, err := producer.New(appends, log, registry)
	h.must(err)
	h.run(appender.Run)
	h.intake, err = intake.New(intake.DefaultConfig(), appender, h.db, landings{h.warehouse}, time.Now)
	h.must(err)

	h.run(mirror.New(h.db, h.warehouse, registry, log).Run)
	reads := consume.DefaultConfig()
	reads.Brokers, reads.Group, reads.Topic = brokers, prefix+"sink", prefix+event.TopicAnswers
	consumer, err := consume.New(reads, sink.New(h.warehouse, registry, log), registry, log)
	h.must(err)
	h.run(consumer.Run)

	listener, err := httpd.Listen(t.Context(), "127.0.0.1:0")
	h.must(err)
	server := httpd.New(httpd.DefaultConfig(), listener, log, registry)
	metrics.New(h.db, h.warehouse, time.Now).Mount(server.App, apikey.New(h.db, log))
	h.run(server.Run)
	h.url = server.URL()
	return h
}

// stores opens both databases, with an organization and a key.
func (h *house) stores() {
	h.t.Helper()
	ctx := h.t.Context()
	db := store.OpenControlPlane(h.t, store.ControlPlane(h.t))
	h.db, h.warehouse = db, store.OpenWarehouse(h.t, store.Warehouse(h.t))

	organization, err := db.AddOrganization(ctx, "Acme", "acme")
	h.must(err)
	user, err := db.AddUser(ctx, postgres.NewUser{Email: "ana@acme.example", OrganizationID: organization.ID, Role: "owner"})
	h.must(err)
	key := apikey.Mint()
	_, err = db.AddKey(ctx, postgres.NewKey{OrganizationID: organization.ID, UserID: user.ID, Name: "test", Hash: key.Hash, Prefix: key.Prefix})
	h.must(err)
	h.organization, h.key = organization.ID, key.Text
}

func (h *house) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// run keeps a part running until the test ends.
func (h *house) run(part func(context.Context) error) {
	ctx, stop := context.WithCancel(context.WithoutCancel(h.t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- part(ctx) }()
	h.t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			h.t.Error(err)
		}
	})
}

// until looks at the warehouse until a question is answered with want.
func (h *house) until(question string, want uint64) {
	h.t.Helper()
	h.await(question, func() (got uint64, done bool) {
		h.must(h.warehouse.QueryRow(h.t.Context(), question).Scan(&got))
		return got, got == want
	})
}

// awaitMirror returns once the warehouse knows all that was edited.
func (h *house) awaitMirror() {
	h.t.Helper()
	h.await("changes that the warehouse lacks", func() (waiting uint64, done bool) {
		h.must(h.db.QueryRow(h.t.Context(), "SELECT count(*) FROM private.outbox").Scan(&waiting))
		return waiting, waiting == 0
	})
}

func (h *house) await(what string, look func() (got uint64, done bool)) {
	h.t.Helper()
	patience, tick := time.NewTimer(90*time.Second), time.NewTicker(20*time.Millisecond)
	defer patience.Stop()
	defer tick.Stop()
	for {
		got, done := look()
		if done {
			return
		}
		select {
		case <-tick.C:
		case <-patience.C:
			h.t.Fatalf("%s: it is still %d", what, got)
		}
	}
}

// get asks the API for a body.
func (h *house) get(path string) []byte {
	h.t.Helper()
	request, err := http.NewRequestWithContext(h.t.Context(), http.MethodGet, h.url+path, nil)
	h.must(err)
	request.Header.Set("Authorization", "Bearer "+h.key)
	response, err := http.DefaultClient.Do(request)
	h.must(err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	h.must(err)
	if response.StatusCode != http.StatusOK {
		h.t.Fatalf("%s: %s %s", path, response.Status, text)
	}
	return text
}

// sentiments are what the named method said of each answer of a brand.
func (h *house) sentiments(brand uuid.UUID) map[uuid.UUID]string {
	h.t.Helper()
	rows, err := h.warehouse.Query(h.t.Context(), "SELECT toString(id), toString(sentiment) FROM answers WHERE toString(brand_id) = $1", brand.String())
	h.must(err)
	said := map[uuid.UUID]string{}
	for rows.Next() {
		var id, sentiment string
		h.must(rows.Scan(&id, &sentiment))
		said[uuid.FromStringOrNil(id)] = sentiment
	}
	h.must(rows.Close())
	h.must(rows.Err())
	return said
}

// landings asks the warehouse which answers it has.
type landings struct{ warehouse *clickhouse.Conn }

func (l landings) Landed(ctx context.Context, organization, brand uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]bool, error) {
	keys := make([]clickhouse.AnswerKey, len(ids))
	for i, id := range ids {
		keys[i] = clickhouse.AnswerKey{OrganizationID: clickhouse.UUID(organization), BrandID: clickhouse.UUID(brand), ID: clickhouse.UUID(id)}
	}
	found, err := clickhouse.LandedAnswers(ctx, l.warehouse, keys, func(id clickhouse.UUID) time.Time { return event.IDTime(uuid.UUID(id)) }, clickhouse.Below{})
	landed := map[uuid.UUID]bool{}
	for key := range found {
		landed[uuid.UUID(key.ID)] = true
	}
	return landed, err
}
