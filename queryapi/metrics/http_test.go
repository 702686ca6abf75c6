package metrics

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/queryapi/auth"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// aBrand is a stage where acme and rival track a brand each, and acme's has an answer.
func aBrand(t *testing.T, s *service) *stage {
	t.Helper()
	st := s.stage(t)
	st.addBrand(t, brandFact{Name: "Lumen", Slug: "lumen"})
	st.addBrand(t, brandFact{Organization: "rival", Name: "Other", Slug: "other"})
	st.addFacts(t, answerFact{On: "2026-03-30", Text: "Wir empfehlen Lumen."})
	return st
}

func TestHTTP(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for name, test := range map[string]func(*testing.T, *stage){
		"keys":        onlyAKeyOpensAnything,
		"order":       theKeyThenTheQuestionThenTheBrand,
		"methods":     othersAreRefusedByName,
		"caching":     whatIsKnownIsNotSentAgain,
		"compression": longBodiesAreCompressed,
		"isolation":   noneSeesAnotherOrganization,
		"odd values":  aFilterFindsWhatItNames,
		"fault":       whatFailsInsideStaysInside,
		"outage":      aStoreThatIsAwayIs503,
	} {
		t.Run(name, func(t *testing.T) { test(t, aBrand(t, s)) })
	}
}

// A refusal does not show which keys, paths' parameters or brands there are.
func onlyAKeyOpensAnything(t *testing.T, s *stage) {
	revoked := s.keys["rival"]
	keys, err := s.db.ListKeys(t.Context(), s.id("rival"))
	if err != nil {
		t.Fatal(err)
	}
	if status, _ := s.get(t, "rival", "/api/v1/whoami"); status != 200 {
		t.Fatalf("before it was revoked: %d", status)
	}
	if err := s.db.RevokeKey(t.Context(), keys[0].ID); err != nil {
		t.Fatal(err)
	}
	var first *reply
	for _, e := range endpoints {
		for _, query := range []string{"", "?brand_id=" + s.ids["lumen"], "?brand_id=x&model="} {
			for _, header := range []string{
				"", "", "Authorization: Bearer", "Authorization: Basic " + s.keys["acme"],
				"Authorization: Bearer svc_x", "Authorization: Bearer " + auth.MintKey().Text,
				"Authorization: Bearer " + revoked,
			} {
				var headers []string
				if header != "" {
					headers = append(headers, header)
				}
				r := s.ask(t, http.MethodGet, prefix+e.path+query, headers...)
				if first == nil {
					first = &r
				}
				if r.StatusCode != 401 || r.body != first.body || r.Header.Get("WWW-Authenticate") != "Bearer" ||
					r.Header.Get("Cache-Control") != "private, no-cache" {
					t.Fatalf("%s%s with %q: %d %s %v", e.path, query, header, r.StatusCode, r.body, r.Header)
				}
			}
		}
	}
	if !strings.HasPrefix(first.body, `{"error":"`) {
		t.Errorf("refused with %s", first.body)
	}
}

func theKeyThenTheQuestionThenTheBrand(t *testing.T, s *stage) {
	foreign := "/api/v1/visibility-trend?brand_id=" + s.ids["other"]
	const none = ": want no such parameter here: no visit or crawl has one"
	cases := []struct {
		target string
		status int
		body   string
	}{
		{foreign + "&granularity=year", 400, `{"error":"granularity: want one of day, week, month, got \"year\""}`},
		{foreign + "&granularity=", 400, `{"error":"granularity: want one of day, week, month, got an empty value"}`},
		{foreign + "&granularity=day&granularity=day", 400,
			`{"error":"granularity: want one of day, week, month, once, got it 2 times"}`},
		{foreign + "&model=", 400, `{"error":"model: want model slugs separated by commas, got an empty value"}`},
		{foreign, 404, `{"error":"brand_id: no such brand in your organization; GET /api/v1/brands lists them"}`},
		{foreign + "&granularty=day", 400,
			`{"error":"\"granularty\": want a parameter of this endpoint, the nearest is granularity"}`},
		{"/api/v1/visibility-summary?granularity=day&brand_id=" + s.ids["lumen"], 400,
			`{"error":"\"granularity\": want a parameter of this endpoint, the nearest is brand_id"}`},
		// figures would look filtered
		{"/api/v1/ai-traffic?model=gpt-5&topic_id=x&brand_id=" + s.ids["lumen"], 400,
			`{"error":"model` + none + `; topic_id` + none + `"}`},
		{"/api/v1/ai-crawlers?branded=all&region=de&brand_id=" + s.ids["lumen"], 400,
			`{"error":"region` + none + `; branded` + none + `"}`},
		{"/api/v1/sampling-plan?date_from=2026-03-01&brand_id=" + s.ids["lumen"], 400, `{"error":"date_from: ` +
			`want no such parameter here: the plan is of the 28 days that end with date_to"}`},
		{"/api/v1/whoami?brand_id=x&brand_id=y", 400,
			`{"error":"\"brand_id\": want no parameter, as this endpoint has none"}`},
		{"/api/v1/brands?model=", 400, `{"error":"\"model\": want no parameter, as this endpoint has none"}`},
		{"/api/v1/whoami?", 200, ""},
		{"/api/v1/visibility-summary?brand_id=" + strings.ToUpper(s.ids["lumen"]), 200, ""},
	}
	for _, c := range cases {
		status, body := s.get(t, "acme", c.target)
		if status != c.status || c.body != "" && body != c.body {
			t.Errorf("%s: %d %s, want %d %s", c.target, status, body, c.status, c.body)
		}
	}
}

// paths are those of the endpoints and of their description.
func paths() []string {
	all := []string{prefix + descriptionPath}
	for _, e := range endpoints {
		all = append(all, prefix+e.path)
	}
	return all
}

// The router comes before the key: what paths there are is no secret.
func othersAreRefusedByName(t *testing.T, s *stage) {
	for _, path := range paths() {
		target := s.target(contractOf(t).operations[path], "lumen")
		whole := s.ask(t, http.MethodGet, target, s.bearer("acme"))
		head := s.ask(t, http.MethodHead, target, s.bearer("acme"))
		if head.StatusCode != 200 || head.body != "" || head.Header.Get("ETag") != whole.Header.Get("ETag") ||
			head.Header.Get("Content-Type") != "application/json" {
			t.Errorf("HEAD %s: %d %q %v", path, head.StatusCode, head.body, head.Header)
		}
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"} {
			for _, header := range []string{s.bearer("acme"), "X-No-Key: at all"} {
				r := s.ask(t, method, target, header)
				if allow := r.Header.Get("Allow"); r.StatusCode != 405 || allow != "GET, HEAD" ||
					r.body != `{"error":"method not allowed; see the Allow header"}` {
					t.Errorf("%s %s: %d %s, Allow %q", method, path, r.StatusCode, r.body, allow)
				}
			}
		}
	}
	for _, path := range []string{"", "/", "/nothing", "/brands/", "/Brands", "/brands/x", "//brands", "/../v1"} {
		for _, header := range []string{s.bearer("acme"), "X-No-Key: at all"} {
			for _, method := range []string{"GET", "POST"} {
				r := s.ask(t, method, prefix+path, header)
				if r.StatusCode != 404 || r.body != `{"error":"no such path"}` ||
					r.Header.Get("Content-Type") != "application/json" {
					t.Errorf("%s %s: %d %s", method, prefix+path, r.StatusCode, r.body)
				}
			}
		}
	}
}

func whatIsKnownIsNotSentAgain(t *testing.T, s *stage) {
	for _, path := range paths() {
		target := s.target(contractOf(t).operations[path], "lumen")
		first := s.ask(t, http.MethodGet, target, s.bearer("acme"))
		tag := first.Header.Get("ETag")
		if first.StatusCode != 200 || tag == "" || first.Header.Get("Cache-Control") != "private, no-cache" ||
			first.Header.Get("Content-Type") != "application/json" {
			t.Fatalf("%s: %d %v", path, first.StatusCode, first.Header)
		}
		vary := strings.Join(first.Header.Values("Vary"), ",")
		if !strings.Contains(vary, "Authorization") || !strings.Contains(vary, "Accept-Encoding") {
			t.Errorf("%s: Vary %q", path, vary)
		}
		again := s.ask(t, http.MethodGet, target, s.bearer("acme"), "If-None-Match: "+tag)
		if again.StatusCode != 304 || again.body != "" || again.Header.Get("ETag") != tag ||
			again.Header.Get("Cache-Control") != "private, no-cache" {
			t.Errorf("%s again: %d %q %v", path, again.StatusCode, again.body, again.Header)
		}
		if keyless := s.ask(t, http.MethodGet, target, "If-None-Match: "+tag); keyless.StatusCode != 401 &&
			path != prefix+descriptionPath {
			t.Errorf("%s without a key: %d", path, keyless.StatusCode)
		}
	}
	target := "/api/v1/visibility-summary?brand_id=" + s.ids["lumen"]
	before := s.ask(t, http.MethodGet, target, s.bearer("acme")).Header.Get("ETag")
	s.addFacts(t, answerFact{On: "2026-03-30", Text: "Nichts."})
	if after := s.ask(t, http.MethodGet, target, s.bearer("acme"), "If-None-Match: "+before); after.StatusCode != 200 ||
		after.Header.Get("ETag") == before {
		t.Errorf("after another answer: %d, ETag %s as before", after.StatusCode, after.Header.Get("ETag"))
	}
}

func longBodiesAreCompressed(t *testing.T, s *stage) {
	var facts []answerFact
	for day := range 20 {
		facts = append(facts, answerFact{On: dayText(today.AddDate(0, 0, -day)), Text: "Nichts."})
	}
	s.addFacts(t, facts...)
	trend := "/api/v1/visibility-trend?brand_id=" + s.ids["lumen"]
	if r := s.ask(t, http.MethodGet, trend, s.bearer("acme")); !json.Valid([]byte(r.body)) ||
		strings.ContainsAny(r.body, " \n") {
		t.Errorf("not compact JSON: %s", r.body)
	}
	for _, target := range []string{trend, prefix + descriptionPath} {
		plain := s.ask(t, http.MethodGet, target, s.bearer("acme"))
		zipped := s.ask(t, http.MethodGet, target, s.bearer("acme"), "Accept-Encoding: gzip")
		reader, err := gzip.NewReader(strings.NewReader(zipped.body))
		if err != nil {
			t.Fatal(err, zipped.Header)
		}
		body, err := io.ReadAll(reader)
		if err != nil || string(body) != plain.body || zipped.Header.Get("ETag") != plain.Header.Get("ETag") {
			t.Errorf("%s, gzip: %v, %d bytes of %d", target, err, len(body), len(plain.body))
		}
		if r := s.ask(t, http.MethodGet, target, s.bearer("acme"),
			"Accept-Encoding: gzip;q=0.5, br"); r.Header.Get("Content-Encoding") != "br" {
			t.Errorf("%s: brotli wanted, %q came", target, r.Header.Get("Content-Encoding"))
		}
	}
}

// For every endpoint, with all of its parameters and with each of its groups: with acme's brand rival gets, byte for
// byte, what a brand that does not exist gets. An endpoint that is about no brand, and one that is asked about rival's
// own, show nothing that belongs to acme.
func noneSeesAnotherOrganization(t *testing.T, s *stage) {
	s.addFacts(t,
		answerFact{On: "2026-03-30", Prompt: "acme asks", Topic: "acme-topic", Platform: "acme-platform",
			Model: "acme-model", Region: "acme-region", Text: "Lumen",
			Cites: []string{"https://acme.example/"}, Products: []event.Product{{Title: "Lumen of acme"}}},
		answerFact{On: "2026-03-30", Brand: "other", Text: "Other"})
	values := map[string]string{
		"platform": "acme-platform", "model": "acme-model", "region": "acme-region", "topic_id": s.ids["acme-topic"],
		"branded":   "false",
		"date_from": "2026-03-30", "date_to": "2026-03-30", "granularity": "week", "group_by": "topic",
		"source_filter": "external", "limit": "2",
		"sort_by": "mentions", "order": "asc", "role": "own", "prompt_id": s.ids["acme asks"],
		"competitor_id": s.ids["acme-topic"],
		"metric":        "mention_rate", "compare_days": "28", "difference": "10", "days": "28", "mentioned": "true",
		"cited": "false", "sample": "1", "shown": "all", "sentiment": "unknown", "sort": "prompt",
		"domain": "acme.example", "url": "https://acme.example", "page": "acme.example", "category": "owned",
		"compare": "previous", "by": "region", "step": "cited", "kind": "gap", "status": "new", "name": "Lumen",
		"search": "acme asks",
	}
	s.rivalFindsNoAnswerOfAcme(t)
	for _, e := range endpoints {
		o := contractOf(t).operations[prefix+e.path]
		var filters []string
		for _, p := range o.parameters {
			if p.Name == "table" {
				filters = append(filters, p.Name, p.words()[0])
			} else if value, ok := values[p.Name]; ok {
				if !p.allows(value) { // endpoints sort by words of their own
					value = p.words()[0]
				}
				filters = append(filters, p.Name, value)
			} else if p.Name != "brand_id" && p.Name != "cursor" {
				t.Fatalf("%s: no value of %s is of acme's", e.path, p.Name)
			}
		}
		s.rivalSeesNothingOfAcme(t, o, nil)
		s.rivalSeesNothingOfAcme(t, o, filters)
		for _, p := range o.parameters {
			groups, _ := p.examples()
			for _, by := range groups {
				if p.Name == "group_by" {
					s.rivalSeesNothingOfAcme(t, o, []string{"group_by", by})
				}
			}
		}
	}
}

// An answer is found by its id alone, and by no other organization.
func (s *stage) rivalFindsNoAnswerOfAcme(t *testing.T) {
	t.Helper()
	_, none := s.get(t, "rival", "/api/v1/answers/"+uuid.Must(uuid.NewV7()).String())
	for _, question := range []string{"", "?brand_id=" + s.ids["other"]} {
		if status, body := s.get(t, "rival", "/api/v1/answers/"+s.answered["lumen"].String()+question); status != 404 ||
			body != none {
			t.Errorf("rival asks%s for an answer of acme: %d %s, want %s", question, status, body, none)
		}
	}
	if status, _ := s.get(t, "acme", "/api/v1/answers/"+s.answered["lumen"].String()); status != 200 {
		t.Errorf("%d for its owner", status)
	}
}

func (s *stage) rivalSeesNothingOfAcme(t *testing.T, o *operation, question []string) {
	t.Helper()
	status, body := s.get(t, "rival", s.target(o, "lumen", question...))
	s.ids["none"] = uuid.Must(uuid.NewV4()).String()
	none, unknown := s.get(t, "rival", s.target(o, "none", question...))
	if status != none || body != unknown || o.reads("brand_id") && status != 404 {
		t.Errorf("%s %q: %d %s for acme's brand, %d %s for none", o.path, question, status, body, none, unknown)
	}
	_, own := s.get(t, "rival", s.target(o, "other", question...))
	for _, said := range []string{body, own} {
		for _, name := range []string{"acme", "lumen", "ann-of-acme", "acme-topic", "acme asks"} {
			if strings.Contains(said, s.ids[name]) || strings.Contains(strings.ToLower(said), name) {
				t.Errorf("%s %q shows rival of %s: %s", o.path, question, name, said)
			}
		}
	}
	if own, _ := s.get(t, "acme", s.target(o, "lumen", question...)); own != 200 {
		t.Errorf("%s %q: %d for its owner", o.path, question, own)
	}
}

// Values that a careless writer of SQL parameters would misread: each is a platform, a model and a region of one
// answer. The case of a code does not matter.
func aFilterFindsWhatItNames(t *testing.T, s *stage) {
	values := []string{
		`'`, `''`, `\'`, `\`, `\\`, `\N`, `NULL`, `a\tb`, "a\tb", "a\nb", "a\rb", `"`, "`", `]`, `['a']`, `%`, `?`,
		`$1`, `@p`, `{models:Array(String)}`,
		`a;b`, `a--b`, `/*a*/`, `東京`, `é`, "e\u0301", "😀", "a\u2028b", "\u200b", `a b`, `a`, `0`, `true`, "\x7f",
		"\x01",
	}
	var facts []answerFact
	for _, v := range values {
		facts = append(facts, answerFact{On: "2026-03-29", Platform: v, Model: v, Region: v, Text: "Nichts."})
	}
	s.addFacts(t, facts...)
	for _, v := range append(values, "A", `\n`, "NuLl", `{MODELS:array(string)}`) {
		target := "/api/v1/prompt-performance?date_from=2026-03-29&date_to=2026-03-29&brand_id=" + s.ids["lumen"] +
			"&platform=" + escape(v) + "&model=" + escape(v) + "&region=" + escape(v)
		if status, body := s.get(t, "acme", target); status != 200 || !strings.Contains(body, `"result_count":1,`) {
			t.Errorf("%q: %d %s", v, status, body)
		}
	}
}

// Without its warehouse the API still knows keys, questions and brands; what it cannot answer is 500, and the cause is
// in the log alone.
func whatFailsInsideStaysInside(t *testing.T, s *stage) {
	c := clickhouse.DefaultConfig()
	c.DSN = testkit.ClickHouse(t)
	away, err := clickhouse.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	url := serve(t, s.db, away)
	if err := away.Close(); err != nil {
		t.Fatal(err)
	}
	broken := *s
	broken.service = &service{url: url, db: s.db}
	for target, want := range map[string]string{
		"/api/v1/visibility-summary?brand_id=$lumen": `500 {"error":"internal error"}`,
		"/api/v1/visibility-trend?brand_id=$lumen":   `500 {"error":"internal error"}`,
		"/api/v1/visibility-trend?brand_id=$other": `404 {"error":"brand_id: no such brand in your ` +
			`organization; GET /api/v1/brands lists them"}`,
		"/api/v1/visibility-trend?brand_id=$lumen&branded=no": `400 {"error":"branded: want one of all, true, ` +
			`false, got \"no\""}`,
	} {
		if status, body := broken.get(t, "acme", s.withIDs(target)); fmt.Sprint(status, " ", body) != want {
			t.Errorf("%s: %d %s, want %s", target, status, body, want)
		}
	}
}

// Where a store cannot be reached it is 503, and what needs only the other one goes on.
func aStoreThatIsAwayIs503(t *testing.T, s *stage) {
	warehouse := clickhouse.DefaultConfig()
	toWarehouse, toControl := testkit.NewProxy(t, testkit.ClickHouse(t)),
		testkit.NewProxy(t, s.db.Config().ConnString())
	warehouse.DSN = toWarehouse.DSN
	at := &service{url: serve(t, behind(t, toControl), store.OpenWarehouse(t, warehouse))}
	ask := func(path, want, retry string) {
		t.Helper()
		r := at.ask(t, http.MethodGet, path, s.bearer("acme"))
		if got := fmt.Sprint(r.StatusCode, " ", r.body); !strings.HasPrefix(got, want) ||
			r.Header.Get("Retry-After") != retry {
			t.Errorf("%s: %s, Retry-After %q; want %s", path, got, r.Header.Get("Retry-After"), want)
		}
	}
	const away = `503 {"error":"a database of this service cannot be reached; ask again in a moment"}`
	toWarehouse.Cut()
	ask("/api/v1/visibility-trend?brand_id="+s.ids["lumen"], away, "1")
	ask("/api/v1/whoami", "200", "")
	toControl.Cut()
	ask("/api/v1/whoami", away, "1")
}

// behind connects to the control plane behind a proxy.
func behind(t *testing.T, p *testkit.Proxy) *postgres.DB {
	t.Helper()
	c := postgres.DefaultConfig()
	c.DSN = p.DSN
	return store.OpenControlPlane(t, c)
}

// escape writes every byte of a value as %XX.
func escape(value string) string {
	const hex = "0123456789abcdef"
	var b strings.Builder
	for i := range len(value) {
		b.WriteByte('%')
		b.WriteByte(hex[value[i]>>4])
		b.WriteByte(hex[value[i]&15])
	}
	return b.String()
}
