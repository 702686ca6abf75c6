package collect

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/internal/testkit"
	webbrowser "github.com/answerscope/answerscope/internal/testkit/browsertest"
	"github.com/answerscope/answerscope/internal/testkit/wait"
)

const shopsFile = `{"brands":[{"name":"Chromium Shop","slug":"chromium","domains":["shop.example"]},` +
	`{"name":"Firefox Shop","slug":"firefox","domains":["shop.example"]}]}`

// The snippet that is printed, on a shop's pages, in a real browser, and in each in `make test-all`: a visitor who
// comes from an AI platform, looks at two pages of an application, goes back to the first page and orders is in the
// figures; another visitor is not, and a page of another domain with the same snippet is not, either.
func TestThePixelFromASnippetToTheFigures(t *testing.T) {
	t.Parallel()
	s := run.Installed(t)
	s.AddBrands(t, s.Organization.ID, shopsFile)
	env, key := s.Env, s.Key
	for _, kind := range webbrowser.Kinds[:testkit.Draws(1, len(webbrowser.Kinds))] {
		t.Run(kind, func(t *testing.T) {
			snippet := run.Must(t, env, "pixel", kind, "--org", "acme", "--url", "http://collector.example",
				"--as", "html-pinned")
			var shown struct {
				BrandID  string `json:"brand_id"`
				Domains  []string
				Snippets map[string]string
			}
			if err := json.Unmarshal(
				[]byte(run.Must(t, env, "pixel", kind, "--org", "acme", "--url", "http://collector.example", "--json")),
				&shown); err != nil ||
				shown.Snippets["html-pinned"] != snippet || len(shown.Domains) != 1 ||
				shown.Domains[0] != "shop.example" {
				t.Fatalf("pixel --json: %v, %+v; --as html-pinned: %s", err, shown, snippet)
			}
			b := webbrowser.Start(t, kind, startProxy(t, s.URL, snippet))
			visitsShop(t, b)
			awaitTraffic(t, s.URL, key, shown.BrandID)
		})
	}
	if r := run.ToEnd(t, env, "", "pixel", "none", "--org", "acme"); r.Status != run.ExitFailed || r.Stdout != "" {
		t.Errorf("pixel of no brand: status %d, %q", r.Status, r.Stdout)
	}
	if r := run.ToEnd(t, env, "", "pixel", "chromium", "--org", "acme",
		"--url", "collector.example"); r.Status != run.ExitUsage {
		t.Errorf("pixel at no address: status %d, %q", r.Status, r.Stderr)
	}
}

// startProxy starts a proxy: the collector and the shop on origins of their own, a page of another site with the same
// snippet, and hosts that have a link to the shop.
func startProxy(t *testing.T, served, snippet string) string {
	t.Helper()
	address, err := url.Parse(served)
	if err != nil {
		t.Fatal(err)
	}
	collector := httputil.NewSingleHostReverseProxy(address)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, values := range r.Header { // a browser without a window says so, and is taken for the bot that it is
			r.Header.Set(name, strings.ReplaceAll(values[0], "HeadlessChrome", "Chrome"))
		}
		switch r.Host {
		case "collector.example":
			collector.ServeHTTP(w, r)
			return
		case "www.shop.example", "shop.example.evil.example":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, `<!doctype html><title>shop</title>%s<a href="/other">other</a>`, snippet)
		default:
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<!doctype html><title>answer</title><a href="http://www.shop.example/asked">go</a>`)
		}
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// visitsShop makes two sessions: four views and a goal by a referrer, one view by utm_source; and two that do not
// count.
func visitsShop(t *testing.T, b *webbrowser.Browser) {
	t.Helper()
	click := func(page *webbrowser.Page, path string) {
		page.Eval(t, `void document.querySelector("a").click()`, nil)
		page.Await(t, `document.readyState == "complete" && location.pathname == "`+path+`"`)
	}
	page := b.Open(t)
	page.Visit(t, "http://chat.deepseek.com/")
	click(page, "/asked")
	page.Eval(t, `void history.pushState({}, "", "/second")`, nil)
	page.Eval(t, `void (window.kept = true)`, nil)
	click(page, "/other")
	page.Eval(t, `void setTimeout(() => history.back())`, nil)
	page.Await(t, `location.pathname == "/second" && window.kept`) // from bfcache
	page.Eval(t, `void answerscope("goal", "order", { value: 49.9, currency: "EUR" })`, nil)

	page = b.Open(t)
	page.Visit(t, "http://www.shop.example/bought?utm_source=chatgpt.com")

	page = b.Open(t)
	page.Visit(t, "http://search.example/")
	click(page, "/asked")
	page.Visit(t, "http://shop.example.evil.example/asked?utm_source=chatgpt.com")
}

// awaitTraffic waits until the figures are those of visitsShop. What is refused was answered before, so that it would
// be among them.
func awaitTraffic(t *testing.T, url, key, brand string) {
	t.Helper()
	want := `{"total_visits":5,"platform_breakdown":[{"platform":"deepseek","visits":4},{"platform":"chatgpt",` +
		`"visits":1}],` +
		`"sessions":2,"goals":[{"name":"order","count":1,"value":49.9,"currency":"EUR"}],` +
		`"landing_pages":[{"url":"/asked","sessions":1},{"url":"/bought","sessions":1}]}`
	wait.For(t, "the figures to be "+want, func() bool {
		_, text := run.Fetch(t, url+"/api/v1/ai-traffic?brand_id="+brand, key)
		var body struct {
			TotalVisits       int64           `json:"total_visits"`
			PlatformBreakdown json.RawMessage `json:"platform_breakdown"`
			Sessions          int64           `json:"sessions"`
			Goals             json.RawMessage `json:"goals"`
			LandingPages      json.RawMessage `json:"landing_pages"`
		}
		if err := json.Unmarshal([]byte(text), &body); err != nil {
			t.Fatalf("ai-traffic: %s", text)
		}
		short, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		return string(short) == want
	})
}
