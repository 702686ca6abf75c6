package share_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/internal/config"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/logbuffer"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/warehouse"
	"github.com/answerscope/answerscope/queryapi"
	"github.com/answerscope/answerscope/queryapi/auth"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const password = "plum-orbit-tacit-91"

// A world is everything that queryapi serves to two organizations, each with a brand; that of ours has an answer of
// each of two platforms, of yesterday and of 40 days ago.
type world struct {
	url     string
	db      *postgres.DB
	log     logbuffer.Buffer
	metrics *prometheus.Registry
	ours    postgres.Brand
	others  postgres.Brand
	key     string
	tokens  map[string]string // access tokens by user: owner, admin, member, colleague, viewer and stranger
	answers map[string]string // ids by platform, of yesterday
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return newLimitedWorld(t, 0)
}

// newLimitedWorld limits the requests of each caller a second.
func newLimitedWorld(t *testing.T, rateLimit int) *world {
	t.Helper()
	w := &world{
		db: store.OpenControlPlane(t, store.ControlPlane(t)), metrics: prometheus.NewRegistry(),
		tokens: map[string]string{}, answers: map[string]string{},
	}
	users := map[string]postgres.User{}
	for slug, roles := range map[string]map[string]string{
		"ours":   {"owner": "owner", "admin": "admin", "member": "member", "colleague": "member", "viewer": "viewer"},
		"others": {"stranger": "owner"},
	} {
		organization, err := w.db.AddOrganization(t.Context(), slug, slug)
		if err != nil {
			t.Fatal(err)
		}
		for name, role := range roles {
			users[name], err = w.db.AddUser(t.Context(), postgres.NewUser{
				Email: name + "@example.com", PasswordHash: auth.HashPassword(password),
				OrganizationID: organization.ID, Role: role,
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		brand, _, err := w.db.AddBrand(t.Context(), organization.ID, postgres.NewBrand{Name: "Lumen", Slug: "lumen"})
		if err != nil {
			t.Fatal(err)
		}
		if slug == "ours" {
			w.ours = brand
		} else {
			w.others = brand
		}
	}
	minted := auth.MintKey()
	w.key = minted.Text
	if _, err := w.db.AddKey(t.Context(),
		postgres.NewKey{
			OrganizationID: w.ours.OrganizationID, UserID: users["viewer"].ID, Name: "k", Hash: minted.Hash,
			Prefix: minted.Prefix,
		}); err != nil {
		t.Fatal(err)
	}
	w.serve(t, rateLimit)
	for name, user := range users {
		_, _, text := w.ask(t, "POST", "/auth/v1/token?grant_type=password",
			`{"email":"`+user.Email+`","password":"`+password+`"}`)
		var session struct {
			AccessToken string `json:"access_token"`
		}
		if err := json.Unmarshal([]byte(text), &session); err != nil {
			t.Fatal(err, text)
		}
		w.tokens[name] = "Authorization: Bearer " + session.AccessToken
	}
	return w
}

func (w *world) serve(t *testing.T, rateLimit int) {
	t.Helper()
	conn := store.OpenWarehouse(t, store.Warehouse(t))
	w.land(t, conn)
	listener, err := httpd.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(&w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	server := httpd.New(httpd.DefaultConfig(), listener, log, w.metrics)
	deps := queryapi.Deps{
		DB: w.db, Warehouse: conn, Settings: config.Settings{
			DataDir: t.TempDir(), PublicURL: "https://answers.example",
		}, Log: log,
	}
	gate, err := queryapi.NewGate(t.Context(), deps)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := queryapi.Mount(t.Context(), deps, gate, rateLimit, server); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Log(w.log.String())
		}
	})
	w.url = server.URL()
}

func (w *world) land(t *testing.T, conn *clickhouse.Conn) {
	t.Helper()
	var rows []clickhouse.AnswerRow
	for i, platform := range []string{"openai", "perplexity"} {
		for j, days := range []int{1, 40} {
			at := time.Now().UTC().Truncate(time.Second).AddDate(0, 0, -days)
			a := warehouse.Answer(int64(2*i+j), at)
			a.OrganizationID, a.BrandID, a.Platform = clickhouse.UUID(w.ours.OrganizationID),
				clickhouse.UUID(w.ours.ID), platform
			rows = append(rows, a)
			if days == 1 {
				w.answers[platform] = a.ID.String()
			}
		}
	}
	if err := clickhouse.Answers.Insert(t.Context(), conn, "answers", rows); err != nil {
		t.Fatal(err)
	}
}

// ask sends a request; headers are given as "Name: value".
func (w *world) ask(t *testing.T, method, path, body string, headers ...string) (status int,
	header http.Header, text string) {
	t.Helper()
	return testkit.Send(t, method, w.url+path, body, headers...)
}

// A link as its maker gets it.
type link struct {
	ID    uuid.UUID
	URL   string
	token string
	with  string // its header
}

// make makes a link to our brand as a user; fields are those of the request beside the brand.
func (w *world) make(t *testing.T, user, fields string) link {
	t.Helper()
	status, _, text := w.ask(t, "POST", "/api/shares", `{"brand_id":"`+w.ours.ID.String()+`",`+fields+`}`,
		w.tokens[user])
	var made link
	if err := json.Unmarshal([]byte(text), &made); err != nil || status != http.StatusCreated {
		t.Fatalf("make %s: %d %s %v", fields, status, text, err)
	}
	var ok bool
	if made.token, ok = strings.CutPrefix(made.URL, "https://answers.example/share/"); !ok {
		t.Fatalf("the address is %s", made.URL)
	}
	made.with = "X-Share: " + made.token
	return made
}

// paths are the endpoints of /api/v1, below it.
func paths(t *testing.T) (all []string) {
	t.Helper()
	text, err := os.ReadFile("../metrics/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var document struct{ Paths map[string]any }
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	for path := range document.Paths {
		if name := strings.TrimPrefix(path, "/api/v1/"); name != "openapi.json" {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	if len(all) < 20 {
		t.Fatalf("only %v", all)
	}
	return all
}
