package mail

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/browsertest"
)

// axe finds nothing in a letter on a phone, under `make test-all` in a window and the other theme too, and none is
// wider than its screen.
func TestLettersAreAccessible(t *testing.T) {
	axe, err := os.ReadFile("../../../queryapi/web/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Fatalf("axe-core is not here: run `make page-packages`: %v", err)
	}
	list := letters(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if letter, ok := list[strings.TrimPrefix(r.URL.Path, "/")]; ok { // a browser asks for an icon too
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = w.Write([]byte(write(t, letter).HTML))
		}
	}))
	defer server.Close()
	page := browsertest.Start(t, "chromium", "").Open(t)
	for name := range list {
		page.Visit(t, server.URL+"/"+name)
		page.Command(t, "Runtime.evaluate", map[string]any{"expression": string(axe)}, nil)
		for i, look := range []struct {
			width  int
			scheme string
		}{{375, "dark"}, {600, "light"}}[:testkit.Draws(1, 2)] {
			page.Show(t, look.width, 900, look.scheme)
			options := `{ resultTypes: ["violations"] }`
			if i > 0 {
				options = `{ resultTypes: ["violations"], runOnly: ["color-contrast", "target-size"] }`
			}
			var findings []string
			page.Eval(t, `new Promise((done) => requestAnimationFrame(() => done())).then(() => axe.run(document, `+
				options+`))
				.then((r) => r.violations.flatMap((v) => v.nodes.map((n) => v.id + ": " + n.html.slice(0,
					200) + " " + n.failureSummary)))`, &findings)
			for _, f := range findings {
				t.Errorf("%s, %s, %d px: %s", name, look.scheme, look.width, f)
			}
			var wide int
			if page.Eval(t, "document.documentElement.scrollWidth - document.documentElement.clientWidth",
				&wide); wide > 0 {
				t.Errorf("%s is %d px wider than %d", name, wide, look.width)
			}
		}
	}
}
