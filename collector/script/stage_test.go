package script

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/testkit/browsertest"
)

// A web is all that a browser sees, as its proxy: shops whose pages carry the pixel, shop1.example and so on,
// each with a collector of its number, which serves the pixel and keeps what it receives; every other name has a link
// to a shop. So a beacon that is late comes to the test that it belongs to.
type web struct {
	proxy     string // host:port
	collector http.Handler

	mu     sync.Mutex
	stages []*stage
}

// A stage is a shop and its collector.
type stage struct {
	shop, collector string // http://shop1.example and http://collector1.example

	mu       sync.Mutex
	beacons  []beacon
	foreseen chan struct{} // closed when a page is asked for that is to be prerendered
}

// A beacon is a request of /t/collect. Fields of its body are as t.js names them.
type beacon struct {
	Origin, ContentType, Method string

	B string
	E string
	U string
	R string
	I string
	N int
	S string
	L string
	D string
	Z string
	G *struct {
		Name     string
		Value    float64
		Currency string
	}
}

// prelude comes before the pixel on every page: it keeps what is thrown, and what is sent.
const prelude = `<script>
window.thrown = []
addEventListener("error", (event) => thrown.push(String(event.message)))
addEventListener("unhandledrejection", (event) => thrown.push(String(event.reason)))
window.sent = []
window.beacons = 0
const send = navigator.sendBeacon
navigator.sendBeacon = function (url, body) {
	beacons++
	sent.push(JSON.parse(body))
	return send.call(navigator, url, body)
}
const get = fetch
window.fetch = function (url, options) { sent.push(JSON.parse(options.body)); return get.call(window, url, options) }
addEventListener("pageshow", (event) => { if (event.persisted) window.restored = true })
</script>
`

// variants are what pages of the shop have before the pixel, or as attributes of its tag, by the first word of their
// path.
var variants = map[string]struct{ before, attributes, header string }{
	"plain": {},
	"driven": {before: `<script>Object.defineProperty(Navigator.prototype, "webdriver", ` +
		`{ get: () => true })</script>`},
	"gpc": {before: `<script>Object.defineProperty(Navigator.prototype, "globalPrivacyControl", ` +
		`{ get: () => true })</script>`},
	"dnt":     {before: dntOn, attributes: "data-dnt"},
	"nodnt":   {before: dntOn},
	"refused": {before: `<script>navigator.sendBeacon = () => false</script>`},
	"throws": {before: `<script>navigator.sendBeacon = () => { throw new Error("no") }; window.fetch = () => ` +
		`Promise.reject(new Error("no"))</script>`},
	"frozen": {before: `<script>
for (const frozen of [Object, Array, String, RegExp, History, Navigator, EventTarget, Function]) {
	Object.freeze(frozen.prototype)
}
Object.freeze(history)
Object.defineProperty(window, "sessionStorage", { get() { throw new DOMException("no", "SecurityError") } })</script>`},
	"policy": {header: "default-src 'self' 'unsafe-inline'; script-src 'unsafe-inline' COLLECTOR; " +
		"connect-src 'none'"},
	"noreferrer": {before: `<meta name="referrer" content="no-referrer">`},
	"sameorigin": {before: `<meta name="referrer" content="same-origin">`},
	"prerendered": {before: `<script>
let unseen = true
Object.defineProperty(Document.prototype, "prerendering", { get: () => unseen })
window.activate = () => { unseen = false; document.dispatchEvent(new Event("prerenderingchange")) }
</script>`},
	"speculates": {before: `<script type="speculationrules">{"prerender": [{"urls": ["/plain/foreseen"], ` +
		`"eagerness": "immediate"}]}</script>`},
	"twice": {},
}

const dntOn = `<script>Object.defineProperty(Navigator.prototype, "doNotTrack", { get: () => "1" })</script>`

func newWeb(t *testing.T) *web {
	t.Helper()
	served, err := url.Parse(listen(t))
	if err != nil {
		t.Fatal(err)
	}
	w := &web{collector: httputil.NewSingleHostReverseProxy(served)}
	server := httptest.NewServer(w)
	t.Cleanup(server.Close)
	w.proxy = strings.TrimPrefix(server.URL, "http://")
	return w
}

func (w *web) stage() *stage {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(w.stages)
	s := &stage{
		shop: fmt.Sprintf("http://shop%d.example", n), collector: fmt.Sprintf("http://collector%d.example", n),
		foreseen: make(chan struct{}),
	}
	w.stages = append(w.stages, s)
	return s
}

func (w *web) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	stages := slices.Clone(w.stages)
	w.mu.Unlock()
	for _, s := range stages {
		switch "http://" + r.Host {
		case s.shop:
			s.serveShop(rw, r)
			return
		case s.collector:
			if r.URL.Path == "/t/collect" {
				s.collect(rw, r)
			} else {
				w.collector.ServeHTTP(rw, r)
			}
			return
		}
	}
	rw.Header().Set("Content-Type", "text/html") // a link to what the page's fragment says
	fmt.Fprint(rw, `<!doctype html><title>answer</title><a href="">go</a><script>document.querySelector("a").href = `+
		`location.hash.slice(1)</script>`)
}

func (s *stage) serveShop(w http.ResponseWriter, r *http.Request) {
	kind, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	variant, known := variants[kind]
	if !known {
		http.NotFound(w, r)
		return
	}
	if strings.Contains(r.Header.Get("Sec-Purpose"), "prerender") {
		close(s.foreseen)
	}
	w.Header().Set("Content-Type", "text/html")
	if variant.header != "" {
		w.Header().Set("Content-Security-Policy", strings.ReplaceAll(variant.header, "COLLECTOR", s.collector))
	}
	tag := fmt.Sprintf(`<script src="%s" data-brand="%s" %s defer></script>`, s.collector+Path, brandOfTest,
		variant.attributes)
	if kind == "twice" {
		tag += fmt.Sprintf(`<script src="%s" integrity="%s" crossorigin="anonymous" data-brand="%s" defer></script>`,
			s.collector+VersionedPath(), Integrity(), brandOfTest)
	}
	fmt.Fprintf(w, "<!doctype html><title>shop</title>%s%s%s<a href=\"/plain/second\">second</a><a id=\"foreseen\" "+
		"href=\"/plain/foreseen\">foreseen</a><p id=\"below\">below</p>", prelude, variant.before, tag)
}

func (s *stage) collect(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	b := beacon{Origin: r.Header.Get("Origin"), ContentType: r.Header.Get("Content-Type"), Method: r.Method}
	if err == nil && r.Method == http.MethodPost {
		err = json.Unmarshal(body, &b)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.beacons = append(s.beacons, b)
	s.mu.Unlock()
	w.Header().Set("Access-Control-Allow-Origin", b.Origin)
	w.Header().Set("Vary", "Origin")
	w.WriteHeader(http.StatusNoContent)
}

// received returns the beacons that came, once there are so many of them.
func (s *stage) received(t *testing.T, atLeast int) []beacon {
	t.Helper()
	limit := time.After(30 * time.Second)
	for {
		s.mu.Lock()
		got := slices.Clone(s.beacons)
		s.mu.Unlock()
		if len(got) >= atLeast {
			return got
		}
		select {
		case <-limit:
			t.Fatalf("%d beacons came, want %d: %+v", len(got), atLeast, got)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// from goes to the page that another host links to.
func (s *stage) from(t *testing.T, page *browsertest.Page, host, path string) {
	t.Helper()
	page.Visit(t, "http://"+host+"/#"+s.shop+path)
	page.Eval(t, `void document.querySelector("a").click()`, nil)
	page.Await(t, `document.readyState == "complete" && location.origin == "`+s.shop+`"`)
}
