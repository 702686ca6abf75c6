package naive_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/imports"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/sink"
	"github.com/answerscope/answerscope/pipeline/upkeep"
	"github.com/answerscope/answerscope/queryapi/auth"
	"github.com/answerscope/answerscope/queryapi/metrics"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// stack is everything that an answer passes, on databases of a test's own: log, sink, mirror, warehouse, API.
type stack struct {
	t            *testing.T
	db           *postgres.DB
	warehouse    *clickhouse.Conn
	importer     *imports.Importer
	organization uuid.UUID
	url, key     string
}

func newStack(t *testing.T) *stack {
	t.Helper()
	s := &stack{t: t}
	brokers, prefix := testkit.Kafka(t), testkit.Prefix(t)
	log, registry := testkit.Log(t), prometheus.NewRegistry()
	s.stores()

	topics := producer.DefaultTopicsConfig()
	topics.Brokers, topics.Prefix = brokers, prefix
	_, err := producer.CreateTopics(t.Context(), topics)
	s.must(err)
	appends := producer.DefaultConfig()
	appends.Brokers, appends.Prefix = brokers, prefix
	appender, err := producer.New(appends, log, registry)
	s.must(err)
	s.run(appender.Run)
	s.importer = imports.New(appender, s.db, imports.Lookups{Answers: landings{s.warehouse}.landed}, time.Now)

	s.run(upkeep.NewMirror(s.db, s.warehouse, registry, log).Run)
	reads := consume.DefaultConfig()
	reads.Brokers, reads.Group, reads.Topic = brokers, prefix+"sink", prefix+event.TopicAnswers
	consumer, err := consume.New(reads, sink.NewAnswers(s.warehouse, registry, log), registry, log)
	s.must(err)
	s.run(consumer.Run)

	listener, err := httpd.Listen(t.Context(), "127.0.0.1:0")
	s.must(err)
	server := httpd.New(httpd.DefaultConfig(), listener, log, registry)
	metrics.New(metrics.Config{}, s.db, s.warehouse, time.Now).Mount(server, auth.NewKeyResolver(s.db, log))
	s.run(server.Run)
	s.url = server.URL()
	return s
}

// stores opens both databases, with an organization and a key.
func (s *stack) stores() {
	s.t.Helper()
	ctx := s.t.Context()
	db := store.OpenControlPlane(s.t, store.ControlPlane(s.t))
	s.db, s.warehouse = db, store.OpenWarehouse(s.t, store.Warehouse(s.t))

	organization, err := db.AddOrganization(ctx, "Acme", "acme")
	s.must(err)
	user, err := db.AddUser(ctx, postgres.NewUser{
		Email: "ana@acme.example", OrganizationID: organization.ID, Role: "owner",
	})
	s.must(err)
	key := auth.MintKey()
	_, err = db.AddKey(ctx, postgres.NewKey{
		OrganizationID: organization.ID, UserID: user.ID, Name: "test", Hash: key.Hash, Prefix: key.Prefix,
	})
	s.must(err)
	s.organization, s.key = organization.ID, key.Text
}

func (s *stack) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// run runs a part until the test ends.
func (s *stack) run(part func(context.Context) error) { s.t.Cleanup(testkit.Start(s.t, part)) }

// waitFor waits until a question to the warehouse is answered with want.
func (s *stack) waitFor(question string, want uint64) {
	s.t.Helper()
	wait.For(s.t, fmt.Sprintf("%s to be %d", question, want), func() bool {
		var got uint64
		s.must(s.warehouse.QueryRow(s.t.Context(), question).Scan(&got))
		return got == want
	})
}

// waitForMirror waits until the warehouse has all edits.
func (s *stack) waitForMirror() {
	s.t.Helper()
	wait.For(s.t, "the outbox to be empty", func() bool {
		var waiting uint64
		s.must(s.db.QueryRow(s.t.Context(), "SELECT count(*) FROM private.outbox").Scan(&waiting))
		return waiting == 0
	})
}

// get asks the API for a body.
func (s *stack) get(path string) []byte {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+path, nil)
	s.must(err)
	request.Header.Set("Authorization", "Bearer "+s.key)
	response, err := http.DefaultClient.Do(request)
	s.must(err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	s.must(err)
	if response.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %s %s", path, response.Status, text)
	}
	return text
}

// sentiments are those of each answer of a brand.
func (s *stack) sentiments(brand uuid.UUID) map[uuid.UUID]string {
	s.t.Helper()
	rows, err := s.warehouse.Query(s.t.Context(),
		"SELECT toString(id), toString(sentiment) FROM answers WHERE toString(brand_id) = $1", brand.String())
	s.must(err)
	sentiments := map[uuid.UUID]string{}
	for rows.Next() {
		var id, sentiment string
		s.must(rows.Scan(&id, &sentiment))
		sentiments[uuid.FromStringOrNil(id)] = sentiment
	}
	s.must(rows.Close())
	s.must(rows.Err())
	return sentiments
}

// landings asks the warehouse which answers it has.
type landings struct{ warehouse *clickhouse.Conn }

func (l landings) landed(ctx context.Context, organization, brand uuid.UUID,
	ids []uuid.UUID) (map[uuid.UUID]bool, error) {
	keys := make([]clickhouse.Key, len(ids))
	for i, id := range ids {
		keys[i] = clickhouse.Key{
			OrganizationID: clickhouse.UUID(organization), BrandID: clickhouse.UUID(brand), ID: clickhouse.UUID(id),
		}
	}
	found, err := clickhouse.LandedAnswers(ctx, l.warehouse, keys, clickhouse.LogLimit{})
	landed := map[uuid.UUID]bool{}
	for key := range found {
		landed[uuid.UUID(key.ID)] = true
	}
	return landed, err
}
