package oauth_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit/browsertest"
)

// Browsers hold the redirects that follow a form to the policy of its page: with form-action 'self' the button would do
// nothing. Here the app's address redirects to a third host, as claude.ai's does.
func TestABrowserGoesBackToTheApp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	upstream, err := url.Parse(w.url)
	if err != nil {
		t.Fatal(err)
	}
	forward := httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(upstream)
		r.Out.Host = r.In.Host
		r.Out.Header.Set("Cookie", w.cookies["member"]) // the browser would keep it for https alone
	}}
	hosts := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, r *http.Request) {
		switch r.Host {
		case "answers.example":
			forward.ServeHTTP(response, r)
		case "localhost:33418":
			http.Redirect(response, r, "http://end.example/?"+r.URL.RawQuery, http.StatusFound)
		default:
			fmt.Fprint(response, "<title>Back</title>")
		}
	}))
	t.Cleanup(hosts.Close)
	client := w.register(t, `{"client_name":"Tool","redirect_uris":["http://localhost/callback"]}`)
	const callback = "http://localhost:33418/callback"
	page := browsertest.Start(t, "chromium", strings.TrimPrefix(hosts.URL, "http://")).Open(t)
	page.Visit(t, "http://answers.example"+request(client, "redirect_uri", callback))
	page.Eval(t, `void document.querySelector("[name=choice]").click()`, nil)
	page.Eval(t, `void document.querySelector("button.primary").click()`, nil)
	page.Await(t, `document.title == "Back" && location.host == "end.example"`)
	var code string
	page.Eval(t, `new URLSearchParams(location.search).get("code")`, &code)
	if a := w.redeem(t, client, code, "redirect_uri", callback); a.field(t, "scope") != "metrics:read tracking:write" {
		t.Errorf("redeemed: %d %s", a.status, a.text)
	}
}
