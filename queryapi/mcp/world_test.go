package mcp_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/answer"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform/simulator"
	"github.com/answerscope/answerscope/internal/config"
	"github.com/answerscope/answerscope/internal/demo"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/logbuffer"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/internal/testkit/warehouse"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/sink"
	"github.com/answerscope/answerscope/pipeline/upkeep"
	"github.com/answerscope/answerscope/queryapi"
	"github.com/answerscope/answerscope/queryapi/auth"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// A world is what queryapi serves to two organizations. Ours has the brand of the demo with 40 days of answers up to
// yesterday, and one without any; the other one has a brand of the same name.
type world struct {
	url         string
	db          *postgres.DB
	conn        *clickhouse.Conn
	log         logbuffer.Buffer
	ours, empty postgres.Brand
	others      postgres.Brand
	keys        map[string]string // by what they are: owner, tracker, viewer, blind and stranger
	until       time.Time
}

const days = 40

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		db: store.OpenControlPlane(t, store.ControlPlane(t)), conn: store.OpenWarehouse(t, store.Warehouse(t)),
		keys: map[string]string{}, until: time.Now().UTC().Truncate(24 * time.Hour),
	}
	for slug, people := range map[string]map[string][]string{
		"ours": {"owner": nil, "tracker": {"metrics:read", "tracking:write"},
			"viewer": {"metrics:read", "tracking:write"}, "blind": {"tracking:write"}},
		"others": {"stranger": nil},
	} {
		organization, err := w.db.AddOrganization(t.Context(), slug, slug)
		if err != nil {
			t.Fatal(err)
		}
		for name, scopes := range people {
			w.addKey(t, organization, name, scopes)
		}
		brand := w.addBrand(t, organization, demo.Brand())
		if slug == "others" {
			w.others = brand
			continue
		}
		w.ours = brand
		w.empty = w.addBrand(t, organization, postgres.NewBrand{Name: "Lumen", Slug: "lumen"})
	}
	w.land(t)
	w.serve(t)
	return w
}

func (w *world) addKey(t *testing.T, organization postgres.Organization, name string, scopes []string) {
	t.Helper()
	role := "owner"
	if name == "viewer" {
		role = "viewer"
	}
	user, err := w.db.AddUser(t.Context(), postgres.NewUser{Email: name + "@example.com",
		OrganizationID: organization.ID, Role: role})
	if err != nil {
		t.Fatal(err)
	}
	minted := auth.MintKey()
	w.keys[name] = minted.Text
	if _, err := w.db.AddKey(t.Context(), postgres.NewKey{OrganizationID: organization.ID, UserID: user.ID, Name: name,
		Hash: minted.Hash, Prefix: minted.Prefix, Scopes: scopes}); err != nil {
		t.Fatal(err)
	}
}

func (w *world) addBrand(t *testing.T, organization postgres.Organization, b postgres.NewBrand) postgres.Brand {
	t.Helper()
	brand, _, err := w.db.AddBrand(t.Context(), organization.ID, b)
	if err != nil {
		t.Fatal(err)
	}
	return brand
}

// land inserts answers of the simulator, through the extractor and the sink, visits and crawls.
func (w *world) land(t *testing.T) {
	t.Helper()
	brand, err := answer.ReadSnapshot(t.Context(), w.db, w.ours.ID)
	if err != nil {
		t.Fatal(err)
	}
	var specs []postgres.NewPrompt
	prompts := demo.Prompts()[:9]
	for _, p := range prompts {
		specs = append(specs, postgres.NewPrompt{Text: p.Text, Topic: p.Topic})
	}
	stored, err := w.db.EnsurePrompts(t.Context(), w.ours.ID, specs)
	if err != nil {
		t.Fatal(err)
	}
	history := demo.History{Snapshot: brand, From: w.until.AddDate(0, 0, -days), Until: w.until,
		Models: simulator.Models[:2], Platforms: demo.Platforms()}
	for i, p := range prompts {
		history.Prompts = append(history.Prompts, p.Tracked(answer.Prompt(stored[i])))
	}
	target := sink.NewAnswers(w.conn, prometheus.NewRegistry(), slog.New(slog.NewTextHandler(&w.log, nil)))
	batch := &consume.Batch[sink.Answer]{Topic: "answers"}
	for _, slug := range []string{"", "simulator-shopping"} {
		cfg := simulator.DefaultConfig()
		cfg.Seed, cfg.Cast = 1, simulator.Cast{Brand: brand.Brand.Entity, Competitors: brand.Competitors}
		if slug != "" {
			cfg.Slug, history.Models, history.Platforms = slug, simulator.Models[:1], demo.ShoppingPlatforms()
			history.From = w.until.AddDate(0, 0, -5)
		}
		platforms, err := simulator.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		for a := range history.Answers(platforms) {
			value, err := event.EncodeAnswer(nil, &a)
			if err != nil {
				t.Fatal(err)
			}
			item, _, err := target.Decode(target.Version(), consume.Record{Topic: batch.Topic,
				Offset: int64(len(batch.Items)), Value: value, Time: w.until})
			if err != nil {
				t.Fatal(err)
			}
			batch.Items = append(batch.Items, item)
		}
	}
	batch.Last = int64(len(batch.Items)) - 1
	if err := target.Insert(t.Context(), batch, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	visit, crawl := warehouse.Visit(1, w.until.AddDate(0, 0, -2)), warehouse.Crawl(1, w.until.AddDate(0, 0, -2))
	visit.OrganizationID, visit.BrandID = clickhouse.UUID(w.ours.OrganizationID), clickhouse.UUID(w.ours.ID)
	crawl.OrganizationID, crawl.BrandID = visit.OrganizationID, visit.BrandID
	if err := clickhouse.Visits.Insert(t.Context(), w.conn, "visits", warehouse.Pack(visit)); err != nil {
		t.Fatal(err)
	}
	if err := clickhouse.Crawls.Insert(t.Context(), w.conn, "crawls", []clickhouse.CrawlRow{crawl}); err != nil {
		t.Fatal(err)
	}
}

func (w *world) serve(t *testing.T) {
	t.Helper()
	log := slog.New(slog.NewTextHandler(&w.log, nil))
	t.Cleanup(testkit.Start(t, upkeep.NewMirror(w.db, w.conn, prometheus.NewRegistry(), log).Run))
	wait.For(t, "the warehouse to know names", func() (empty bool) {
		if err := w.db.QueryRow(t.Context(), "SELECT count(*) = 0 FROM private.outbox").Scan(&empty); err != nil {
			t.Fatal(err)
		}
		return empty
	})
	listener, err := httpd.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := httpd.New(httpd.DefaultConfig(), listener, log, prometheus.NewRegistry())
	deps := queryapi.Deps{DB: w.db, Warehouse: w.conn, Log: log, Tracking: server.URL(),
		Settings: config.Settings{DataDir: t.TempDir(), PublicURL: "https://answers.example"}}
	gate, err := queryapi.NewGate(t.Context(), deps)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := queryapi.Mount(t.Context(), deps, gate, 0, server); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(testkit.Start(t, server.Run))
	w.url = server.URL()
}

// get asks /api/v1.
func (w *world) get(t *testing.T, key, path string, query url.Values) (status int, body any) {
	t.Helper()
	address := w.url + "/api/v1" + path + "?" + query.Encode()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+w.keys[key])
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, decode(t, text)
}

// decode keeps the literals of numbers.
func decode(t *testing.T, text []byte) (value any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		t.Fatal(err, string(text))
	}
	return value
}

// A bearer adds a key to the requests of a client.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func (w *world) client(t *testing.T, key string) *sdk.ClientSession {
	t.Helper()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
		&sdk.StreamableClientTransport{Endpoint: w.url + "/mcp",
			HTTPClient: &http.Client{Transport: bearer(w.keys[key])}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// call returns the text of a result, and whether it is an error.
func call(t *testing.T, session *sdk.ClientSession, tool, arguments string) (text string, isError bool) {
	t.Helper()
	result, err := session.CallTool(t.Context(),
		&sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
	if err != nil {
		t.Fatal(tool, arguments, err)
	}
	text = result.Content[0].(*sdk.TextContent).Text
	if result.IsError && strings.Contains(text, "internal error") {
		t.Errorf("%s %s: %s", tool, arguments, text)
	}
	return text, result.IsError
}
