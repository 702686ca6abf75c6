package onboard_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/internal/egress"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/queryapi/onboard"
	"github.com/answerscope/answerscope/sql/postgres"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const homePage = `<title>Acme Forge | Anvils</title><link rel=canonical href="https://acme.io/"><h1>How are ` +
	`anvils forged?</h1>`

// A world has two organizations with a brand each, and the site of both brands.
type world struct {
	db            *postgres.DB
	root          *pgx.Conn
	organizations [2]postgres.Organization
	brands        [2]postgres.Brand
	url           string
	fetched       atomic.Int32
	now           time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	control := store.ControlPlane(t)
	w := &world{db: store.OpenControlPlane(t, control), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	var err error
	if w.root, err = pgx.Connect(t.Context(), control.DSN); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.root.Close(context.Background()) })
	for i, name := range []string{"Acme", "Other"} {
		if w.organizations[i], err = w.db.AddOrganization(t.Context(), name, ""); err != nil {
			t.Fatal(err)
		}
		brand := postgres.NewBrand{Name: name, Slug: "brand", Domains: []string{"localhost"}}
		if w.brands[i], _, err = w.db.AddBrand(t.Context(), w.organizations[i].ID, brand); err != nil {
			t.Fatal(err)
		}
	}
	site := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(out, r)
			return
		}
		w.fetched.Add(1)
		out.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(out, homePage)
	}))
	t.Cleanup(site.Close)
	w.url = w.serve(t, strings.TrimPrefix(site.URL, "http://127.0.0.1"))
	return w
}

// serve serves users of the organization and role that a request names. Home pages are at a port.
func (w *world) serve(t *testing.T, port string) (url string) {
	t.Helper()
	listener, err := httpd.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := egress.NewPages([]string{"127.0.0.0/8"})
	if err != nil {
		t.Fatal(err)
	}
	server := httpd.New(httpd.DefaultConfig(), listener, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	home := func(ctx context.Context, domain string) (egress.Page, error) {
		return pages.Home(ctx, strings.Replace(domain, "localhost", "127.0.0.1", 1)+port)
	}
	reader := onboard.Reader{DB: w.db, Home: home, Now: func() time.Time { return w.now }}
	reader.Mount(server.Mount(httpd.Surface{Prefix: "/brands", BodyLimit: 1 << 10}), func(c *fiber.Ctx) error {
		caller := identity.Identity{
			OrganizationID: uuid.FromStringOrNil(c.Query("organization")), Role: c.Query("role"),
		}
		c.SetUserContext(identity.NewContext(c.UserContext(), caller))
		return c.Next()
	})
	t.Cleanup(testkit.Start(t, server.Run))
	return server.URL()
}

func (w *world) read(t *testing.T, organization postgres.Organization, role, brand string) string {
	t.Helper()
	address := fmt.Sprintf("%s/brands/%s/home-page?organization=%s&role=%s", w.url, brand, organization.ID, role)
	response, err := http.Post(address, "application/json", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(response.StatusCode, " ", string(text))
}

// rows are the suggestions of a brand as kind, status and key.
func (w *world) rows(t *testing.T, brand postgres.Brand) string {
	t.Helper()
	var rows string
	const query = `SELECT coalesce(string_agg(concat_ws(' ', kind, status, key), ', ' ORDER BY kind), ` +
		`'') FROM public.suggestions WHERE brand_id = $1`
	if err := w.root.QueryRow(t.Context(), query, brand.ID).Scan(&rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

func (w *world) exec(t *testing.T, text string, args ...any) {
	t.Helper()
	if _, err := w.root.Exec(t.Context(), text, args...); err != nil {
		t.Fatal(err)
	}
}

func want(t *testing.T, step, got, want string) {
	t.Helper()
	if got != want && (want == "" || !strings.Contains(got, want)) {
		t.Errorf("%s: %s, want %s", step, got, want)
	}
}

// A home page becomes suggestions of its brand alone; nothing is added by itself, and decisions stay.
func TestAHomePageBecomesSuggestions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ours, others, brand := w.organizations[0], w.organizations[1], w.brands[0].ID.String()
	for step, c := range map[string]struct {
		organization      postgres.Organization
		role, brand, want string
	}{
		"a viewer": {ours, "viewer", brand,
			`403 {"error":"this is not for a viewer: want the role member, admin or owner"}`},
		"nobody":       {ours, "", brand, `403 {"error":`},
		"others":       {others, "owner", brand, `404 {"error":"no such brand"}`},
		"no brand":     {ours, "owner", uuid.Must(uuid.NewV4()).String(), `404 {"error":"no such brand"}`},
		"another text": {ours, "owner", "acme", `404 {"error":"no such brand"}`},
	} {
		want(t, step, w.read(t, c.organization, c.role, c.brand), c.want)
	}
	want(t, "refused", w.rows(t, w.brands[0]), "")
	before, err := w.db.Snapshot(t.Context(), w.brands[0].ID)
	if err != nil || w.fetched.Load() != 0 {
		t.Fatalf("%v, %d fetched", err, w.fetched.Load())
	}
	first := w.read(t, ours, "member", brand)
	want(t, "first", first, `"new":3`)
	want(t, "first", first, `"text":"Your home page asks “How are anvils forged?”; `+
		`no prompt asks it.","reason":"Read on http://127.0.0.1`)
	rows := w.rows(t, w.brands[0])
	want(t, "rows", rows, "alias new acme forge, page new domain:acme.io, prompt new ")
	want(t, "their rows", w.rows(t, w.brands[1]), "")
	want(t, "again", w.read(t, ours, "member", brand), `"new":0,"suggestions"`)
	if after, err := w.db.Snapshot(t.Context(), w.brands[0].ID); err != nil || fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("the brand is %+v now, %v", after, err)
	}

	// A computation that finds none of them leaves them, and so does time.
	w.exec(t, "UPDATE public.suggestions SET status = 'dismissed' WHERE kind = 'page'")
	advice := postgres.Advice{
		DueAdvice: postgres.DueAdvice{BrandID: w.brands[0].ID, Inputs: []byte("{}")}, RulesVersion: 1,
		From: "2026-03-01", To: "2026-05-29",
		Window: struct{}{}, Suggestions: []int{}, Totals: []int{}, Reasons: []int{},
		ComputedAt: w.now.AddDate(0, 0, 100),
	}
	store := func() {
		t.Helper()
		if err := w.db.StoreAdvice(t.Context(), advice); err != nil {
			t.Fatal(err)
		}
		if err := w.db.PruneSuggestions(t.Context(), advice.ComputedAt); err != nil {
			t.Fatal(err)
		}
	}
	store()
	dismissed := strings.Replace(rows, "page new", "page dismissed", 1)
	want(t, "computed", w.rows(t, w.brands[0]), dismissed)
	want(t, "dismissed", w.read(t, ours, "member", brand), `"new":0,"suggestions"`)
	want(t, "dismissed", w.rows(t, w.brands[0]), dismissed)
	w.exec(t, "UPDATE public.suggestions SET status = 'new' WHERE kind = 'page'")
	advice.Tracked, advice.ComputedAt = []string{"acme forge"}, w.now.AddDate(0, 0, 200)
	store()
	want(t, "the alias is tracked", w.rows(t, w.brands[0]), strings.Replace(rows, "alias new", "alias added", 1))
	list, err := w.db.Suggestions(t.Context(), postgres.SuggestionFilter{
		OrganizationID: ours.ID, BrandID: w.brands[0].ID, States: []string{"new", "added"}, AfterScore: -1, Limit: 10,
	}, w.now.AddDate(1, 0, 0))
	if err != nil || len(list) != 3 || list[0].ExpiresAt != nil || list[0].Origin != "computed" ||
		list[0].Score != nil {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestAPageThatCannotBeReadHasAReason(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for domain, reason := range map[string]string{
		"":          "the brand has no domain: add one in Settings",
		"127.0.0.9": "127.0.0.9:",
		"10.0.0.1":  "cannot be fetched (https: no public address, http: no public address)",
	} {
		w.exec(t, "DELETE FROM public.brand_domains WHERE brand_id = $1", w.brands[0].ID)
		if domain != "" {
			w.exec(t, "INSERT INTO public.brand_domains (brand_id, domain) VALUES ($1, $2)", w.brands[0].ID, domain)
		}
		got := w.read(t, w.organizations[0], "admin", w.brands[0].ID.String())
		want(t, domain, got, `422 {"error":"`)
		want(t, domain, got, reason)
	}
	want(t, "then", w.rows(t, w.brands[0]), "")
}
