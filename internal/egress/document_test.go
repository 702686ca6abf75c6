package egress

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/problem"
)

func TestADocumentIsFetchedWithinItsBounds(t *testing.T) {
	t.Parallel()
	document := func(size int) http.HandlerFunc { return page("application/json", strings.Repeat("x", size)) }
	port, _ := site(t, map[string]http.HandlerFunc{
		"/full": document(64 << 10), "/over": document(64<<10 + 1), "/moved": redirect("/full"),
		"/gone": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "gone", http.StatusGone) },
		"/endless": func(w http.ResponseWriter, _ *http.Request) {
			for range 100 {
				_, _ = io.WriteString(w, strings.Repeat("x", 64<<10))
			}
		},
	})
	names := names{addresses: map[string][]string{"app.example.": {"127.0.0.2"}, "inside.example.": {"10.0.0.1"}}}
	c := newClient(webhooks, siteOpen, names.dialer(t))
	if body, err := c.Document(t.Context(), "http://app.example:"+port+"/full"); err != nil || len(body) != 64<<10 {
		t.Errorf("%d bytes, %v", len(body), err)
	}
	for address, want := range map[string]string{
		"http://app.example:" + port + "/over":    "more than 65536 bytes",
		"http://app.example:" + port + "/endless": "more than 65536 bytes",
		"http://app.example:" + port + "/moved":   "status 302",
		"http://app.example:" + port + "/gone":    "status 410",
		"https://inside.example/":                 "no public address",
		"https://127.0.0.1/":                      "a public address",
		"https://app.example/#x":                  "no fragment",
	} {
		_, err := c.Document(t.Context(), address)
		if kind, message := problem.Of(err); kind == problem.Internal || !strings.Contains(message, want) {
			t.Errorf("%s: %v, want %s", address, err, want)
		}
	}
}
