package collector

import (
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/collector/site"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
)

const (
	lumenPage = "https://www.lumen.example/shoes?utm_source=chatgpt.com"
	lumenFrom = "Origin: https://www.lumen.example"
)

// Every status that a client may see, and what comes with it. Visits is how many are on the log for it.
func TestEveryAnswer(t *testing.T) {
	s := newEnvironment(t, DefaultConfig())
	first := s.lumen.beacon(lumenPage, `,"n":1`)
	plain := s.lumen.beacon("https://www.lumen.example/", `,"n":1`)
	foreign := s.rival.beacon("https://rival.example/?utm_source=perplexity", `,"n":1`)
	nobodys := brandOf{brand: uuid.NamespaceDNS}.beacon(lumenPage, "")
	large := strings.TrimSuffix(first, "}") + `,"x":"` + strings.Repeat("x", maxBody-len(first)-len(`,"x":""`)) + `"}`
	array := func(items ...string) string { return "[" + strings.Join(items, ",") + "]" }
	for _, c := range []struct {
		name    string
		method  string // POST where none is given
		body    string
		headers []string
		status  int
		visits  int
		dropped string // X-Answerscope
		shared  string // Access-Control-Allow-Origin
	}{
		{"a view", "", first, []string{lumenFrom}, 204, 1, "", "https://www.lumen.example"},
		{"as JSON", "", first, []string{lumenFrom, "Content-Type: application/json"}, 204, 1, "",
			"https://www.lumen.example"},
		{"as JSON in capitals", "", first, []string{lumenFrom, "Content-Type: Application/JSON ; charset=utf-8"}, 204,
			1, "", "https://www.lumen.example"},
		{"an origin in capitals, with a port and a dot", "", first,
			[]string{"Origin: HTTP://Lumen.EXAMPLE.:8080"}, 204, 1, "", "HTTP://Lumen.EXAMPLE.:8080"},
		{"an origin in Unicode", "", first, []string{"Origin: https://bücher.example"}, 204, 1, "",
			"https://bücher.example"},
		{"a good origin, another page", "", s.lumen.beacon("https://elsewhere.example/?utm_source=claude.ai", `,"n":1`),
			[]string{lumenFrom}, 204, 1, "", "https://www.lumen.example"},
		{"no origin", "", first, nil, 204, 1, "", ""},
		{"an empty origin", "", first, []string{"Origin: "}, 204, 1, "", ""},
		{"an array", "", array(first, first, first), []string{lumenFrom}, 204, 3, "", "https://www.lumen.example"},
		{"as large as may be", "", large, []string{lumenFrom}, 204, 1, "", "https://www.lumen.example"},

		{"no AI platform sent it", "", plain, []string{lumenFrom}, 204, 0, "dropped; reason=not_ai_referred",
			"https://www.lumen.example"},
		{"an app that is nearly a platform's", "",
			strings.Replace(plain, `"r":""`, `"r":"android-app://com.openai.chatgpt.evil/"`, 1),
			[]string{lumenFrom}, 204, 0, "dropped; reason=not_ai_referred", "https://www.lumen.example"},
		{"an app that is named like a host", "",
			strings.Replace(plain, `"r":""`, `"r":"android-app://chatgpt.com/"`, 1),
			[]string{lumenFrom}, 204, 0, "dropped; reason=not_ai_referred", "https://www.lumen.example"},
		{"a platform's app", "",
			strings.Replace(plain, `"r":""`, `"r":"android-app://com.openai.chatgpt/"`, 1), []string{lumenFrom}, 204, 1,
			"", "https://www.lumen.example"},
		{"no AI platform sent some", "", array(first, plain, plain), []string{lumenFrom}, 204, 1,
			"dropped; reason=not_ai_referred; count=2", "https://www.lumen.example"},
		{"a bot", "", first, []string{lumenFrom, "User-Agent: curl/8.5.0"}, 204, 0, "dropped; reason=bot",
			"https://www.lumen.example"},
		{"an AI crawler", "", first,
			[]string{
				lumenFrom, "User-Agent: Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)",
			}, 204, 0, "dropped; reason=ai_crawler", "https://www.lumen.example"},
		{"global privacy control", "", first, []string{lumenFrom, "Sec-GPC: 1"}, 204, 0, "dropped; reason=gpc",
			"https://www.lumen.example"},

		{"no JSON", "", "x", []string{lumenFrom}, 400, 0, "", "https://www.lumen.example"},
		{"no body", "", "", []string{lumenFrom}, 400, 0, "", "https://www.lumen.example"},
		{"one of an array is wrong", "", array(first, "{}"), []string{lumenFrom}, 400, 0, "",
			"https://www.lumen.example"},
		{"no JSON, from a foreign origin", "", "x", []string{"Origin: https://evil.example"}, 400, 0, "", ""},

		{"a foreign origin", "", first, []string{"Origin: https://evil.example"}, 403, 0, "", ""},
		{"another brand's origin", "", first, []string{"Origin: https://rival.example"}, 403, 0, "", ""},
		{"a lookalike", "", first, []string{"Origin: https://lumen.example.evil.example"}, 403, 0, "", ""},
		{"a lookalike's end", "", first, []string{"Origin: https://notlumen.example"}, 403, 0, "", ""},
		{"origin null", "", first, []string{"Origin: null"}, 403, 0, "", ""},
		{"a list of origins", "", first, []string{"Origin: https://lumen.example, https://lumen.example"}, 403, 0, "",
			""},
		{"two origins", "", first, []string{"Origin: https://lumen.example", "Origin: https://lumen.example"}, 403, 0,
			"", ""},
		{"an origin with a path", "", first, []string{"Origin: https://lumen.example/"}, 403, 0, "", ""},
		{"an origin with a user", "", first, []string{"Origin: https://lumen.example@evil.example"}, 403, 0, "", ""},
		{"no origin, a foreign page", "", s.lumen.beacon("https://evil.example/?utm_source=chatgpt.com", ""), nil, 403,
			0, "", ""},
		{"no such brand", "", nobodys, []string{lumenFrom}, 403, 0, "", ""},
		{"one of an array is foreign", "", array(first, foreign), []string{lumenFrom}, 403, 0, "", ""},

		{"another method", "GET", "", []string{lumenFrom}, 405, 0, "", "https://www.lumen.example"},
		{"PUT", "PUT", first, []string{lumenFrom}, 405, 0, "", "https://www.lumen.example"},
		{"an unknown method", "BREW", first, nil, 405, 0, "", ""},

		{"too large", "", large + " ", []string{lumenFrom}, 413, 0, "", "https://www.lumen.example"},
		{"a path that turns around", "",
			s.lumen.beacon("https://www.lumen.example/a\u202egpj.exe?utm_source=you.com", ""),
			[]string{lumenFrom}, 400, 0, "", "https://www.lumen.example"},
		{"a goal that turns around", "", s.lumen.beacon(lumenPage, `,"e":"goal","g":{"name":"a\u202eb"}`),
			[]string{lumenFrom}, 400, 0, "", "https://www.lumen.example"},
		{"without a type", "", first, []string{lumenFrom, "Content-Type:"}, 415, 0, "", "https://www.lumen.example"},
		{"a form", "", first, []string{lumenFrom, "Content-Type: application/x-www-form-urlencoded"}, 415, 0, "",
			"https://www.lumen.example"},
		{"a form of parts", "", first, []string{lumenFrom, "Content-Type: multipart/form-data; boundary=x"}, 415, 0, "",
			"https://www.lumen.example"},
		{"a type that begins alike", "", first, []string{lumenFrom, "Content-Type: text/plainer"}, 415, 0, "",
			"https://www.lumen.example"},
		{"packed", "", first, []string{lumenFrom, "Content-Encoding: gzip"}, 415, 0, "", "https://www.lumen.example"},
		{"Content-Encoding: identity", "", first, []string{lumenFrom, "Content-Encoding: identity"}, 415, 0, "",
			"https://www.lumen.example"},

		{"a preflight", "OPTIONS", "", []string{lumenFrom, "Access-Control-Request-Method: POST"}, 204, 0, "",
			"https://www.lumen.example"},
		{"a foreign preflight", "OPTIONS", "", []string{"Origin: https://evil.example"}, 403, 0, "", ""},
		{"a preflight of null", "OPTIONS", "", []string{"Origin: null"}, 403, 0, "", ""},
		{"OPTIONS without an origin", "OPTIONS", "", nil, 204, 0, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			method := c.method
			if method == "" {
				method = http.MethodPost
			}
			r := s.send(t, method, c.body, c.headers...)
			if r.StatusCode != c.status {
				t.Errorf("status %d, want %d: %s", r.StatusCode, c.status, r.body)
			}
			if got := len(s.took()); got != c.visits {
				t.Errorf("%d visits, want %d", got, c.visits)
			}
			if got := r.Header.Get("X-Answerscope"); got != c.dropped {
				t.Errorf("X-Answerscope %q, want %q", got, c.dropped)
			}
			if got := r.Header.Get("Access-Control-Allow-Origin"); got != c.shared ||
				r.Header.Get("Vary") != "Origin" || r.Header.Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("Access-Control-Allow-Origin %q, want %q; %v", got, c.shared, r.Header)
			}
			if r.StatusCode >= 400 != strings.HasPrefix(r.body, `{"error":"`) {
				t.Errorf("body %q", r.body)
			}
			if r.StatusCode == 405 != (r.Header.Get("Allow") == "POST, OPTIONS") && method != http.MethodOptions {
				t.Errorf("Allow %q", r.Header.Get("Allow"))
			}
		})
	}
}

func TestAPreflightSaysWhatMayBeSent(t *testing.T) {
	s := newEnvironment(t, DefaultConfig())
	r := s.send(t, http.MethodOptions, "", "Origin: https://rival.example", "Access-Control-Request-Method: POST",
		"Access-Control-Request-Headers: content-type")
	if r.Header.Get("Access-Control-Allow-Headers") != "content-type" ||
		r.Header.Get("Access-Control-Allow-Methods") != "POST" ||
		r.Header.Get("Access-Control-Allow-Origin") != "https://rival.example" {
		t.Errorf("headers %v", r.Header)
	}
}

// While no list of sites is known, no beacon is refused for its site.
func TestBeforeTheSitesAreKnown(t *testing.T) {
	s := newEnvironment(t, DefaultConfig())
	unknown := site.New("", nil, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	s.collector.parts.Sites = unknown
	for method, body := range map[string]string{
		http.MethodPost:    s.lumen.beacon("https://www.lumen.example/?utm_source=chatgpt.com", ""),
		http.MethodOptions: "",
	} {
		if r := s.send(t, method, body,
			"Origin: https://www.lumen.example"); r.StatusCode != http.StatusServiceUnavailable ||
			r.Header.Get("Retry-After") != "1" {
			t.Errorf("%s: %d, %v", method, r.StatusCode, r.Header)
		}
	}
}

// What is not counted is answered with Retry-After; what may be counted is not.
func TestWhatTheLogDoesNotTake(t *testing.T) {
	s := newEnvironment(t, DefaultConfig())
	for err, status := range map[error]int{
		producer.ErrOverloaded:     503,
		producer.ErrNoRoom:         503,
		producer.ErrNotReady:       503,
		producer.ErrStopped:        503,
		producer.ErrAway:           500,
		errors.New("not this one"): 500,
	} {
		s.refuse(err)
		r := s.send(t, http.MethodPost, s.lumen.beacon(lumenPage, ""), lumenFrom)
		if r.StatusCode != status || status == 503 != (r.Header.Get("Retry-After") == "1") ||
			strings.Contains(r.body, "not this one") {
			t.Errorf("%v: %d, Retry-After %q, %s", err, r.StatusCode, r.Header.Get("Retry-After"), r.body)
		}
	}
	if !strings.Contains(s.log.String(), "not this one") {
		t.Error("the log does not say why the broker refuses a record")
	}
	s.refuse(nil)
	if r := s.send(t, http.MethodPost, s.lumen.beacon(lumenPage, ""), lumenFrom); r.StatusCode != 204 ||
		len(s.took()) != 1 {
		t.Errorf("afterwards: %d", r.StatusCode)
	}
}

func TestTheLimitIsASitesOwn(t *testing.T) {
	cfg := DefaultConfig()
	cfg.SiteLimit = 50
	s := newEnvironment(t, cfg)
	many := func(n int, of brandOf, page string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(of.beacon(page, `,"n":1`)+",", n), ",") + "]"
	}
	// Neither foreign origins nor beacons that are dropped use it up.
	for range 3 {
		s.send(t, http.MethodPost, many(50, s.lumen, lumenPage), "Origin: https://evil.example")
		s.send(t, http.MethodPost, many(50, s.lumen, "https://www.lumen.example/"), lumenFrom)
	}
	if r := s.send(t, http.MethodPost, many(50, s.lumen, lumenPage), lumenFrom); r.StatusCode != 204 {
		t.Fatalf("the first fifty: %d %s", r.StatusCode, r.body)
	}
	r := s.send(t, http.MethodPost, many(50, s.lumen, lumenPage), lumenFrom)
	if wait, err := strconv.Atoi(r.Header.Get("Retry-After")); r.StatusCode != 429 || err != nil || wait < 1 ||
		r.Header.Get("Access-Control-Allow-Origin") == "" {
		t.Errorf("the next fifty: %d, Retry-After %q", r.StatusCode, r.Header.Get("Retry-After"))
	}
	if got := len(s.took()); got != 50 {
		t.Errorf("%d visits, want 50", got)
	}
	if r := s.send(t, http.MethodPost, many(50, s.rival, "https://rival.example/?utm_source=you.com"),
		"Origin: https://rival.example"); r.StatusCode != 204 {
		t.Errorf("another site, from the same address: %d", r.StatusCode)
	}
}

// Whatever a beacon for a brand has beside it: the visit is that brand's and its own organization's.
func TestAVisitIsItsBrandsOwn(t *testing.T) {
	s := newEnvironment(t, DefaultConfig())
	for _, of := range []struct {
		brandOf
		page, origin string
	}{{s.lumen, lumenPage, "https://lumen.example"},
		{s.rival, "https://rival.example/?utm_source=claude", "https://rival.example"}} {
		more := `,"organization_id":"` + s.rival.organization.String() + `","o":"` + s.rival.organization.String() + `"`
		s.send(t, http.MethodPost, of.beacon(of.page, more), "Origin: "+of.origin)
		visits := s.took()
		if len(visits) != 1 || visits[0].OrganizationID != of.organization || visits[0].BrandID != of.brand {
			t.Errorf("visits %+v, want one of brand %s of organization %s", visits, of.brand, of.organization)
		}
	}
}

func TestWhatAVisitSays(t *testing.T) {
	s := newEnvironment(t, DefaultConfig())
	before := time.Now().Truncate(time.Millisecond)
	s.send(t, http.MethodPost, `{"u":"https://www.lumen.example/a%20b/ü?utm_source=ChatGPT.com&x=1#top",`+
		`"r":"https://www.bing.com/","l":"de-DE","d":"390x844","z":"Europe/Vienna","e":"view","b":"`+
		s.lumen.brand.String()+`","i":"tab-1","n":1}`, lumenFrom, "X-Forwarded-For: 198.51.100.7")
	visits := s.took()
	if len(visits) != 1 {
		t.Fatalf("visits %+v", visits)
	}
	v := visits[0]
	if v.At.Before(before) || v.At.After(time.Now()) || v.ID.Version() != uuid.V7 ||
		!event.IDTime(v.ID).Equal(v.At.Time) || v.Visitor == 0 {
		t.Errorf("id %s, at %s, visitor %d", v.ID, v.At, v.Visitor)
	}
	want := event.Visit{V: event.Version, ID: v.ID, OrganizationID: s.lumen.organization,
		BrandID: s.lumen.brand, At: v.At, Event: event.VisitView, Platform: "chatgpt", PlatformBy: "utm",
		Host: "www.lumen.example", Path: "/a%20b/%C3%BC", ReferrerHost: "www.bing.com", Country: "AT",
		CountryBy: "time_zone", Language: "de-DE", Screen: "390x844", TimeZone: "Europe/Vienna",
		Session: "tab-1", NewSession: true, Visitor: v.Visitor}
	if v != want {
		t.Errorf("visit %+v\nwant  %+v", v, want)
	}
}

func TestWhichPlatformAndSession(t *testing.T) {
	s := newEnvironment(t, DefaultConfig())
	for _, c := range []struct {
		name, page, more      string
		platform, by, session string // "": dropped
	}{
		{"a first view has no word of its own", "https://lumen.example/", `,"n":1,"s":"chatgpt"`, "", "", ""},
		{"nor against its own address", "https://lumen.example/?utm_source=claude.ai", `,"n":1,"s":"chatgpt"`, "claude",
			"utm", "new"},
		{"a later one names it", "https://lumen.example/", `,"s":"perplexity"`, "perplexity", "session", ""},
		{"an unknown slug", "https://lumen.example/", `,"s":"evil"`, "", "", ""},
		{"a later one with an address", "https://lumen.example/?utm_source=claude.ai", ``, "claude", "utm", ""},
		{"a goal", "https://lumen.example/",
			`,"s":"gemini","e":"goal","g":{"name":"buy","value":"12.50","currency":"EUR"}`, "gemini", "session", ""},
		{"a goal begins no session", "https://lumen.example/?utm_source=claude.ai",
			`,"n":1,"e":"goal","g":{"name":"buy"}`, "claude", "utm", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := s.lumen.beacon(c.page, "")
			if strings.Contains(c.more, `"e"`) {
				body = strings.Replace(body, `"e":"view",`, "", 1)
			}
			r := s.send(t, http.MethodPost, strings.TrimSuffix(body, "}")+c.more+"}", lumenFrom)
			visits := s.took()
			if r.StatusCode != 204 || c.platform == "" != (len(visits) == 0) || len(visits) > 1 {
				t.Fatalf("%d %s, visits %+v", r.StatusCode, r.body, visits)
			}
			if len(visits) == 0 {
				return
			}
			v := visits[0]
			if v.Platform != c.platform || v.PlatformBy != c.by || v.NewSession != (c.session == "new") {
				t.Errorf("visit %+v", v)
			}
			if goal := v.Goal; c.name == "a goal" &&
				(v.Event != event.VisitGoal || goal == nil ||
					*goal != event.Goal{Name: "buy", Value: "12.5", Currency: "EUR"}) {
				t.Errorf("goal %+v of %s", goal, v.Event)
			}
		})
	}
}

// An address is used, and is then nowhere: in no record, log line or metric, and in no request that waits to be reused.
func TestNothingKeepsAnAddress(t *testing.T) {
	s := newEnvironment(t, DefaultConfig())
	const address = "198.51.100.77"
	used := request{c: &Collector{}, address: netip.MustParseAddr(address)}
	if used.done(); used.address.IsValid() {
		t.Error("a request that is over keeps its address")
	}
	for _, body := range []string{
		s.lumen.beacon(lumenPage, `,"n":1`), "x", s.lumen.beacon("https://evil.example/", ""),
	} {
		s.send(t, http.MethodPost, body, "X-Forwarded-For: 203.0.113.5, "+address)
	}
	s.refuse(errors.New("refused"))
	s.send(t, http.MethodPost, s.lumen.beacon(lumenPage, ""), lumenFrom, "X-Forwarded-For: "+address)
	var output strings.Builder
	output.WriteString(s.log.String())
	families, err := s.metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		output.WriteString(family.String())
	}
	for _, v := range s.took() {
		record, err := event.EncodeVisit(nil, &v)
		if err != nil {
			t.Fatal(err)
		}
		output.Write(record)
	}
	for _, what := range []string{address, "203.0.113.5", "127.0.0.1"} {
		if strings.Contains(strings.ReplaceAll(output.String(), s.address, ""), what) {
			t.Errorf("%s is kept", what)
		}
	}
}

// A country that a header names counts where a trusted proxy sent it, and the visitor is the address that the proxy
// names.
func TestAProxyIsBelieved(t *testing.T) {
	cfg := DefaultConfig()
	cfg.CountryHeader = "CF-IPCountry"
	s := newEnvironment(t, cfg)
	visit := func(headers ...string) event.Visit {
		s.send(t, http.MethodPost, s.lumen.beacon(lumenPage, `,"z":"Europe/Vienna"`), append(headers, lumenFrom)...)
		visits := s.took()
		if len(visits) != 1 {
			t.Fatalf("visits %+v", visits)
		}
		return visits[0]
	}
	one := visit("CF-IPCountry: FR", "X-Forwarded-For: 198.51.100.1")
	if one.Country != "FR" || one.CountryBy != "header" {
		t.Errorf("country %s by %s", one.Country, one.CountryBy)
	}
	if again := visit("X-Forwarded-For: 192.0.2.9", "X-Forwarded-For: 198.51.100.1"); again.Visitor != one.Visitor ||
		again.Country != "AT" {
		t.Errorf("the same visitor has another hash, or is in %s", again.Country)
	}
	if other := visit("X-Forwarded-For: 198.51.100.2"); other.Visitor == one.Visitor {
		t.Error("two visitors are one")
	}
}
