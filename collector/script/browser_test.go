package script

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/answerscope/answerscope/collector/referral"
	"github.com/answerscope/answerscope/collector/site"
	"github.com/answerscope/answerscope/internal/testkit/browsertest"
)

// What the pixel does in real browsers, each with one process for all of it, and a shop and a collector for each test.
func TestInBrowsers(t *testing.T) {
	tests := []struct {
		name string
		run  func(t *testing.T, s *stage, b *browsertest.Browser)
	}{
		{"a visit", sendsAVisit},
		{"who sends a beacon", sendsOnlyAIReferred},
		{"referrers", sendsReferrers},
		{"an application", viewsAnApplication},
		{"back to a kept page", viewsAKeptPage},
		{"prerendered", waitsUntilShown},
		{"conversions", sendsGoals},
		{"wishes", respectsPrivacy},
		{"hindered", disturbsNoPage},
		{"no beacons", fetchesInstead},
		{"referrer policies", hasAnOrigin},
	}
	for _, kind := range browsertest.Kinds {
		t.Run(kind, func(t *testing.T) {
			w := newWeb(t)
			var shops []string
			for range tests {
				shops = append(shops, w.stage().shop)
			}
			b := browsertest.Start(t, kind, w.proxy, shops...)
			for i, test := range tests {
				t.Run(test.name, func(t *testing.T) { test.run(t, w.stages[i], b) })
			}
		})
	}
}

// A visit that came from an AI platform sends a beacon, as the collector wants it.
func sendsAVisit(t *testing.T, s *stage, b *browsertest.Browser) {
	page := b.Open(t)
	s.from(t, page, "chat.deepseek.com", "/plain/landing?a=b#below")
	b1 := s.received(t, 1)[0]
	if b1.Method != "POST" || b1.Origin != s.shop || !strings.HasPrefix(b1.ContentType, "text/plain") {
		t.Errorf("sent as %s of %s from %q", b1.Method, b1.ContentType, b1.Origin)
	}
	if b1.B != brandOfTest || b1.E != "" || b1.G != nil || b1.N != 1 || b1.S != "deepseek" || b1.I == "" ||
		b1.U != s.shop+"/plain/landing?a=b" || b1.R != "http://chat.deepseek.com/" {
		t.Errorf("the first view is %+v", b1)
	}
	var here struct{ L, D, Z string }
	page.Eval(t, `({L: navigator.language, D: screen.width + "x" + screen.height, Z: `+
		`Intl.DateTimeFormat().resolvedOptions().timeZone})`, &here)
	if b1.L != here.L || b1.D != here.D || b1.Z != here.Z || here.L == "" {
		t.Errorf("of its surroundings it says %q %q %q, want %+v", b1.L, b1.D, b1.Z, here)
	}
	var beacons int
	if page.Eval(t, "beacons", &beacons); beacons == 1 != (b.Kind == "chromium") {
		t.Errorf("%d of it went by sendBeacon", beacons)
	}
	var kept struct {
		Local, Session int
		Cookie         string
	}
	page.Eval(t, `({Local: localStorage.length, Session: sessionStorage.length, Cookie: document.cookie})`, &kept)
	if kept.Local != 0 || kept.Session != 1 || kept.Cookie != "" {
		t.Errorf("the browser keeps %+v, want one entry of sessionStorage", kept)
	}

	// The tab's session goes on with the next page, whose referrer is the shop itself.
	page.Eval(t, `void document.querySelector("a").click()`, nil)
	b2 := s.received(t, 2)[1]
	if b2.U != s.shop+"/plain/second" || b2.N != 0 || b2.S != "deepseek" || b2.I != b1.I || b2.R == b1.R {
		t.Errorf("the second view is %+v", b2)
	}
	unharmed(t, page)
}

// utm_source names the platform of a visit without a referrer; another one sends nothing.
func sendsOnlyAIReferred(t *testing.T, s *stage, b *browsertest.Browser) {
	page := b.Open(t)
	for query, want := range map[string]string{
		"?utm_source=chatgpt.com":              "chatgpt",
		"?x=1&utm_source=ChatGPT.com&y":        "chatgpt",
		"?utm_source=openai":                   "chatgpt",
		"?utm_source=perplexity":               "perplexity",
		"?utm_source=copilot.com":              "copilot",
		"?referrer=grok.com":                   "grok",
		"?utm_source=meta-ai":                  "meta-ai",
		"?utm_source=andi":                     "andi",
		"":                                     "",
		"?utm_source=meta":                     "",
		"?utm_source=newsletter":               "",
		"?utm_source=chatgpt.com.evil.example": "",
		"?utm_source=notchatgpt.com":           "",
		"?utm_source=youtube":                  "",
		"?utm_source=pi-hole":                  "",
		"?my_utm_source=chatgpt.com":           "",
		"?referrer=chatgpt.com":                "",
		"?q=utm_source%3Dchatgpt.com":          "",
		"?utm_medium=chatgpt.com":              "",

		"?utm_source=chat.openai.com":                      "chatgpt",
		"?utm_source=www.perplexity.ai&x":                  "perplexity",
		"?utm_source=chatgpt.com/":                         "chatgpt",
		"?utm_source=newsletter&utm_source=chat.qwen.ai":   "qwen",
		"?referrer=grok.com&utm_source=kagi":               "kagi",
		"?utm_source=thank.you":                            "",
		"?utm_source=newsletter&from=www.chatgpt.com":      "",
		"?utm_source=grok.com.example&referrer=www.x.com":  "",
		"?utm_source=https://chatgpt.com":                  "",
		"?utm_source=chatgpt%2Ecom.example&referrer=bing.": "",
	} {
		page.Visit(t, s.shop+"/plain/who"+query)
		agreed(t, page, query, "", want)
		unharmed(t, page)
	}
}

func sendsReferrers(t *testing.T, s *stage, b *browsertest.Browser) {
	page := b.Open(t)
	for host, want := range map[string]string{
		"www.phind.com": "phind", "www.kimi.com": "kimi", "andisearch.com": "andi", "yuanbao.tencent.com": "yuanbao",
		"phind.com.evil.example": "", "notphind.com": "", "phind-com.example": "", "search.example": "",
		"gemini-google.com": "", "copilot": "",
		"chat.you": "",
	} {
		s.from(t, page, host, "/plain/who")
		agreed(t, page, "", "http://"+host+"/", want)
	}

	// What the referrer's host says goes before the page's query, and that before the referrer's.
	s.from(t, page, "copilot.microsoft.com", "/plain/who?utm_source=chatgpt.com")
	agreed(t, page, "?utm_source=chatgpt.com", "http://copilot.microsoft.com/", "copilot")
	for query, want := range map[string]string{"?utm_source=claude.ai": "claude", "?referrer=grok.com": ""} {
		page.Visit(t, s.shop+"/plain/who"+query)
		page.Eval(t, "sessionStorage.clear()", nil) // as in a new tab
		page.Eval(t, `void document.querySelector("a").click()`, nil)
		page.Await(t, `document.readyState == "complete" && location.pathname == "/plain/second"`)
		agreed(t, page, "", s.shop+"/plain/who"+query, want)
	}
}

// agreed checks that the page sent the visit's platform, and that the server finds the same.
func agreed(t *testing.T, page *browsertest.Page, query, referrer, want string) {
	t.Helper()
	if got := platformOf(t, page); got != want {
		t.Errorf("of %q from %q it says %q, want %q", query, referrer, got, want)
	}
	host, path, referrerQuery, _ := site.ParsePage(referrer)
	if got, _ := referral.Detect(query, host, path, referrerQuery); got != want {
		t.Errorf("of %q from %q the server says %q, want %q", query, referrer, got, want)
	}
}

// platformOf is what the page has sent: nothing, or one view of a new session.
func platformOf(t *testing.T, page *browsertest.Page) string {
	t.Helper()
	var sent []beacon
	page.Eval(t, "sent", &sent)
	var entries int
	page.Eval(t, "sessionStorage.length", &entries)
	if len(sent) > 1 || entries != len(sent) {
		t.Fatalf("%d entries of sessionStorage, sent %+v", entries, sent)
	}
	page.Eval(t, "sessionStorage.clear()", nil)
	if len(sent) == 0 {
		return ""
	}
	return sent[0].S
}

// unharmed sees that the page has noticed nothing.
func unharmed(t *testing.T, page *browsertest.Page) {
	t.Helper()
	var thrown []string
	page.Eval(t, "thrown", &thrown)
	if len(thrown) > 0 {
		t.Errorf("the page was thrown %q", thrown)
	}
}

// A page of an application that changes its address is viewed when it changes, and not when it is set to the same
// again.
func viewsAnApplication(t *testing.T, s *stage, b *browsertest.Browser) {
	page := b.Open(t)
	page.Visit(t, s.shop+"/plain/app?utm_source=claude.ai")
	for _, step := range []string{
		`history.pushState({}, "", "/plain/one")`,
		`history.replaceState({}, "", "/plain/renamed")`,
		`history.pushState({}, "", "/plain/renamed")`,
		`history.pushState({}, "", "/plain/renamed#below")`,
		`location.hash = "elsewhere"`,
		`history.pushState({}, "", "/plain/two")`,
	} {
		page.Eval(t, "void ("+step+")", nil)
	}
	page.Eval(t, `new Promise((done) => { addEventListener("popstate", () => setTimeout(done)); history.back() })`, nil)
	var sent []beacon
	page.Eval(t, "sent", &sent)
	var pages []string
	for _, b := range sent {
		pages = append(pages, strings.TrimPrefix(b.U, s.shop+"/plain/"))
	}
	if want := []string{"app?utm_source=claude.ai", "one", "two", "renamed"}; !slices.Equal(pages, want) {
		t.Errorf("viewed are %q, want %q", pages, want)
	}
	if got := s.received(t, len(sent)); len(got) != len(sent) {
		t.Errorf("%d beacons came of %d", len(got), len(sent))
	}
	unharmed(t, page)
}

// A page that the browser kept whole is viewed again when the user goes back to it.
func viewsAKeptPage(t *testing.T, s *stage, b *browsertest.Browser) {
	page := b.Open(t)
	page.Visit(t, s.shop+"/plain/kept?utm_source=claude.ai")
	s.received(t, 1)
	page.Eval(t, `void document.querySelector("a").click()`, nil)
	page.Await(t, `document.readyState == "complete" && location.pathname == "/plain/second"`)
	s.received(t, 2)
	page.Eval(t, `void setTimeout(() => history.back())`, nil)
	page.Await(t, `location.pathname == "/plain/kept" && window.restored`)
	got := s.received(t, 3)
	if got[2].U != got[0].U || got[2].I != got[0].I || got[2].N != 0 {
		t.Errorf("the third view is %+v", got[2])
	}
	unharmed(t, page)
}

// A prerendered page sends a beacon once it is shown. Chromium prerenders; both are shown a page that says so.
func waitsUntilShown(t *testing.T, s *stage, b *browsertest.Browser) {
	page := b.Open(t)
	page.Visit(t, s.shop+"/prerendered/x?utm_source=claude.ai")
	page.Eval(t, `void answerscope("goal", "unseen")`, nil)
	page.Eval(t, `void history.replaceState({}, "", "/prerendered/y?utm_source=claude.ai")`, nil)
	if got := viewed(t, page); len(got) != 0 {
		t.Errorf("it was not shown, and it sends %+v", got)
	}
	page.Eval(t, "activate()", nil)
	page.Eval(t, `void history.pushState({}, "", "/prerendered/z")`, nil)
	got := viewed(t, page)
	if len(got) != 2 || got[0].U != s.shop+"/prerendered/y?utm_source=claude.ai" || got[0].N != 1 ||
		got[1].U != s.shop+"/prerendered/z" || got[1].N != 0 {
		t.Errorf("seen, it sends %+v", got)
	}
	unharmed(t, page)

	page = b.Open(t)
	page.Visit(t, s.shop+"/speculates/x?utm_source=claude.ai")
	first := len(s.received(t, 3))
	if b.Kind == "chromium" {
		select {
		case <-s.foreseen:
		case <-time.After(30 * time.Second):
			t.Fatal("chromium prerenders nothing")
		}
	}
	page.Eval(t, `void setTimeout(() => document.querySelector("#foreseen").click(), 300)`, nil)
	if got := s.received(t, first+1); len(got) != first+1 || got[first].U != s.shop+"/plain/foreseen" ||
		got[first].I != got[first-1].I {
		t.Errorf("the page that was foreseen sends %+v", got[first:])
	}
}

// viewed is what the page has sent.
func viewed(t *testing.T, page *browsertest.Page) []beacon {
	t.Helper()
	var sent []beacon
	page.Eval(t, "sent", &sent)
	return sent
}

// A goal belongs to a visit that sends a beacon. On every other page the function is there, and does nothing.
func sendsGoals(t *testing.T, s *stage, b *browsertest.Browser) {
	page := b.Open(t)
	page.Visit(t, s.shop+"/plain/goals")
	page.Eval(t, `void answerscope("goal", "signup")`, nil)
	if got := viewed(t, page); len(got) != 0 {
		t.Errorf("of a visit from nowhere it sends %+v", got)
	}
	page.Visit(t, s.shop+"/plain/goals?utm_source=claude.ai")
	page.Eval(t, `void answerscope("goal", "signup")`, nil)
	page.Eval(t, `void answerscope("goal", "order", { value: 49.9, currency: "EUR", name: "another", more: 1 })`, nil)
	page.Eval(t, `void answerscope("consent", "x")`, nil)
	page.Eval(t, `void (answerscope(), answerscope("goal", "circle", { get value() { throw new Error("no") } }))`, nil)
	page.Eval(t, `void (addEventListener("pagehide", () => answerscope("goal", "left")), `+
		`document.querySelector("a").click())`, nil)
	got := s.received(t, 5) // the view, three goals, and the view of the next page
	var goals []string
	for _, b := range got {
		if b.G == nil {
			continue
		}
		goals = append(goals, b.G.Name)
		if b.E != "goal" || b.N != 0 || b.I != got[0].I || b.S != "claude" {
			t.Errorf("a conversion is %+v", b)
		}
		if b.G.Name == "order" && (b.G.Value != 49.9 || b.G.Currency != "EUR") {
			t.Errorf("the order is %+v", *b.G)
		}
	}
	slices.Sort(goals)
	if want := []string{"left", "order", "signup"}; !slices.Equal(goals, want) {
		t.Errorf("goals are %q, want %q", goals, want)
	}
	unharmed(t, page)
}

// Global Privacy Control is heeded, Do Not Track where the site wants it: nothing is sent, and nothing kept.
func respectsPrivacy(t *testing.T, s *stage, b *browsertest.Browser) {
	page := b.Open(t)
	for kind, want := range map[string]string{"driven": "", "gpc": "", "dnt": "", "nodnt": "claude"} {
		page.Visit(t, s.shop+"/"+kind+"/x?utm_source=claude.ai")
		page.Eval(t, `void answerscope("goal", "x")`, nil)
		sent := 2 // the view, and a goal
		if want == "" {
			sent = 0
		}
		var entries int
		page.Eval(t, "sessionStorage.length", &entries)
		if got := viewed(t, page); len(got) != sent || entries != min(sent, 1) || sent > 0 && got[0].S != want {
			t.Errorf("%s: %d entries of sessionStorage, sent %+v, want of %q", kind, entries, got, want)
		}
		page.Eval(t, "sessionStorage.clear()", nil)
		unharmed(t, page)
	}
	page.Visit(t, s.shop+"/twice/x?utm_source=claude.ai")
	if got := viewed(t, page); len(got) != 1 {
		t.Errorf("with two tags it sends %+v", got)
	}
}

// Whatever a page forbids, it is thrown nothing, and goes on.
func disturbsNoPage(t *testing.T, s *stage, b *browsertest.Browser) {
	page := b.Open(t)
	for _, kind := range []string{"frozen", "policy", "throws"} {
		page.Visit(t, s.shop+"/"+kind+"/x?utm_source=claude.ai")
		page.Eval(t, `void history.pushState({}, "", "/`+kind+`/y")`, nil)
		page.Eval(t, `void (window.answerscope && answerscope("goal", "x"))`, nil)
		page.Eval(t, `new Promise((done) => setTimeout(done))`, nil) // rejections are reported in a task of their own
		var path string
		page.Eval(t, "location.pathname", &path)
		if path != "/"+kind+"/y" {
			t.Errorf("%s: the page went to %s", kind, path)
		}
		unharmed(t, page)
	}
	// The first of them has no storage, and a history that cannot be wrapped: its session is the page's.
	if view, goal := s.received(t, 2)[0], s.received(t, 2)[1]; view.N != 1 || goal.N != 0 || goal.G == nil ||
		goal.I != view.I || goal.S != "claude" {
		t.Errorf("without storage the view is %+v, the goal %+v", view, goal)
	}
}

// Where sendBeacon takes nothing, fetch does, and outlives the page.
func fetchesInstead(t *testing.T, s *stage, b *browsertest.Browser) {
	page := b.Open(t)
	page.Visit(t, s.shop+"/refused/x?utm_source=claude.ai")
	page.Eval(t, `void (answerscope("goal", "last"), location.assign("about:blank"))`, nil)
	for _, b := range s.received(t, 2) {
		if b.Origin != s.shop || !strings.HasPrefix(b.ContentType, "text/plain") || b.S != "claude" {
			t.Errorf("fetched with %+v", b)
		}
	}
}

// A site that keeps its referrers to itself is still known by its origin.
func hasAnOrigin(t *testing.T, s *stage, b *browsertest.Browser) {
	page := b.Open(t)
	for i, kind := range []string{"noreferrer", "sameorigin"} {
		page.Visit(t, s.shop+"/"+kind+"/x?utm_source=claude.ai")
		if got := s.received(t, i+1)[i]; got.Origin != s.shop {
			t.Errorf("%s: the origin is %q", kind, got.Origin)
		}
	}
}
