package dashboard

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/internal/testkit"
	webbrowser "github.com/answerscope/answerscope/internal/testkit/browsertest"
)

// A dashboard is the demo's in Chromium, signed out.
type dashboard struct {
	*run.Server
	env             []string
	key             string // of the demo's user
	email, password string
	brand           string // the id of fernwood
	browser         *webbrowser.Browser
	page            *webbrowser.Page

	mu      sync.Mutex
	strange []string // requests to other hosts
}

var signInLine = regexp.MustCompile(
	`\n  see    (http://\S+/)\n +the dashboard; sign in as (\S+) with the password (\S+)\n`)

func TestTheDashboard(t *testing.T) {
	t.Parallel()
	d := &dashboard{}
	d.starts(t)
	m := signInLine.FindStringSubmatch(d.Log.String())
	if m == nil || m[1] != d.URL+"/" {
		t.Fatalf("the demo prints no sign-in:\n%s", d.Log)
	}
	d.email, d.password = m[2], m[3]
	d.open(t, "chromium")
	t.Run("sign in", d.signsIn)
	t.Run("figures", d.showsTheAPIsFigures)
	t.Run("rows", d.showsTheAPIsRows)
	t.Run("sources", d.showsSources)
	t.Run("shopping", d.showsShopping)
	t.Run("failures", d.saysWhatFailed)
	t.Run("answers", d.opensAnswers)
	t.Run("two answers", d.comparesAnswers)
	t.Run("not shown", d.saysWhatWasNotShown)
	t.Run("screens", d.showsItsScreens)
	t.Run("cards", d.filtersCards)
	t.Run("overview", d.drawsTheOverview)
	t.Run("notes", d.keepsNotes)
	t.Run("trend", d.walksTheTrend)
	t.Run("chart", d.drawsTheTrend)
	t.Run("touch", d.tapsCharts)
	t.Run("weeks", d.countsWeeks)
	t.Run("competitors", d.comparesCompetitors)
	t.Run("traffic", d.drawsTheTraffic)
	t.Run("spending", d.drawsTheSpending)
	t.Run("address", d.keepsItsStateInTheAddress)
	t.Run("tables", d.sortsTables)
	t.Run("keys", d.makesAndRevokesKeys)
	t.Run("plan", d.plansAnswers)
	t.Run("filter", d.filtersInAPopover)
	t.Run("single keys", d.answersSingleKeys)
	t.Run("theme", d.choosesATheme)
	t.Run("menu", d.opensItsMenu)
	t.Run("long name", d.fitsALongName)
	t.Run("report", d.printsAReport)
	t.Run("share", d.isShared)
	t.Run("hostile", d.showsHostileTextsAsText)
	t.Run("hostile answers", d.showsHostileAnswersAsText)
	t.Run("hostile markdown", d.formatsHostileAnswers)
	t.Run("runs", d.runsPrompts)
	t.Run("heat", d.drawsPrompts)
	t.Run("prompts", d.keepsManyPrompts)
	t.Run("topics", d.proposesTopics)
	t.Run("pages", d.pagesPerformance)
	t.Run("organization", d.runsAnOrganization)
	t.Run("opportunities", d.showsOpportunities)
	t.Run("alerts", d.alerts)
	t.Run("webhooks", d.sendsWebhooks)
	t.Run("invitations", d.invites)
	if testkit.All {
		t.Run("accessible in other states", d.isAccessibleInOtherStates)
	}
	t.Run("keyboard", d.isReachedByKeys)
	t.Run("motion", d.standsStill)
	t.Run("parts", d.loadsItsParts)
	t.Run("verdicts", d.saysWhetherItMoved)
	t.Run("brands", d.listsThirtyBrands)
	t.Run("not found", d.findsNothingOfOthers)
	t.Run("sign out", d.signsOut)
	for _, kind := range webbrowser.Kinds {
		t.Run("journey in "+kind, func(t *testing.T) { d.isSetUpByKeys(t, kind) })
	}
	t.Run("set-up left", d.goesOnWithASetUp)
	t.Run("weight", d.isLight)
	if len(d.strange) > 0 {
		t.Errorf("the page asks other hosts: %q", d.strange)
	}
	if status := d.Stop(t, syscall.SIGTERM); status != run.ExitDone {
		t.Errorf("ended with %d", status)
	}
}

// open opens a tab whose requests all pass a proxy that lets none to another host.
func (d *dashboard) open(t *testing.T, kind string) {
	t.Helper()
	home, err := url.Parse(d.URL)
	if err != nil {
		t.Fatal(err)
	}
	forward := httputil.NewSingleHostReverseProxy(home)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host == home.Host {
			forward.ServeHTTP(w, r)
			return
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		if !browsersOwn.MatchString(r.Host) {
			d.strange = append(d.strange, r.Method+" "+r.URL.String())
		}
		http.Error(w, "no", http.StatusBadGateway)
	}))
	t.Cleanup(proxy.Close)
	d.browser = webbrowser.Start(t, kind, strings.TrimPrefix(proxy.URL, "http://"))
	d.page = d.browser.Open(t)
	if kind == "chromium" {
		d.page.Show(t, 1280, 900, "light")
	}
}

// browsersOwn are the hosts that browsers themselves ask.
var browsersOwn = regexp.MustCompile(`\.(google|googleapis|gstatic|gvt1|mozilla|firefox)\.(com|org|net)(:443)?$`)

// loads loads a path anew, and returns once the screen of that name has all its figures.
func (d *dashboard) loads(t *testing.T, path, name string) {
	t.Helper()
	d.page.Visit(t, d.URL+path)
	d.settled(t, name)
}

// at goes to a path as a link does, without a load, and returns once the screen of that name has all its figures.
func (d *dashboard) at(t *testing.T, path, name string) {
	t.Helper()
	d.page.Eval(t, fmt.Sprintf(`void ((link) => {
		document.dispatchEvent(new Event("pointerdown")) // closes menus
		document.body.append(link)
		link.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }))
		link.remove()
	})(Object.assign(document.createElement("a"), { href: %q }))`, path), nil)
	d.settled(t, name)
}

func (d *dashboard) settled(t *testing.T, name string) {
	t.Helper()
	d.page.Await(t, fmt.Sprintf(
		`document.querySelector("h1")?.textContent == %q && !document.querySelector(".skeleton, .stale, dialog")`,
		name))
}

// fill types into the text box of a label.
func (d *dashboard) fill(t *testing.T, label, text string) {
	t.Helper()
	d.page.Eval(t, fmt.Sprintf(`void ((box) => { box.focus(); `+
		`box.select() })([...document.querySelectorAll("label")].find((l) => l.textContent == %q).control)`, label),
		nil)
	d.page.Insert(t, text)
}

// click clicks what has that text or name: the last one, since a dialog stands behind what it covers.
func (d *dashboard) click(t *testing.T, name string) {
	t.Helper()
	find := fmt.Sprintf(`[...document.querySelectorAll("button, a")].findLast((b) => (b.ariaLabel || `+
		`b.textContent) == %q && !b.disabled)`, name)
	d.page.Await(t, find)
	d.page.Eval(t, "void ((b) => { b.focus(); b.click() })("+find+")", nil)
}

// loses loses the next request of the page whose address has that.
func (d *dashboard) loses(t *testing.T, address string) {
	t.Helper()
	d.page.Eval(t, fmt.Sprintf(`void ((ask, left) => { window.fetch = (url, init) => url.includes(%q) && `+
		`left-- > 0 ? Promise.reject(new TypeError("lost")) : ask(url, init) })(fetch, 1)`, address), nil)
}

func (d *dashboard) text(t *testing.T, expression string) (text string) {
	t.Helper()
	d.page.Eval(t, expression, &text)
	return text
}

// ask reads a body of the API with the demo's key.
func (d *dashboard) ask(t *testing.T, path string, body any) {
	t.Helper()
	status, text := run.Fetch(t, d.URL+"/api/v1/"+path, d.key)
	if err := json.Unmarshal([]byte(text), body); err != nil || status != http.StatusOK {
		t.Fatalf("%s: %d %s", path, status, text)
	}
}

// Signed out, every path leads to the sign-in, and the sign-in back to it. An unknown address and a wrong password are
// refused with the same words.
func (d *dashboard) signsIn(t *testing.T) {
	const wanted = "/brands/fernwood/competitors?platform=chatgpt-web"
	d.page.Visit(t, d.URL+"/signin")
	d.page.Command(t, "Page.navigate", map[string]any{"url": d.URL + wanted}, nil)
	d.page.Await(t, `location.pathname == "/signin" && document.querySelector("h1")?.textContent == "Sign in"`)
	d.hasNoFindings(t, "sign-in", looks[0], looks[1])
	d.page.Show(t, 1280, 900, "light")
	var texts []string
	for _, email := range []string{d.email, "nobody@answerscope.example"} {
		d.fill(t, "E-mail", email)
		d.fill(t, "Password", "wrong "+email)
		d.page.Press(t, "Enter")
		d.page.Await(t, `document.querySelector("[role=alert]") && !document.querySelector("button:disabled")`)
		texts = append(texts, d.text(t, `document.querySelector("[role=alert]").textContent`))
	}
	if texts[0] != "E-mail or password is wrong." || texts[1] != texts[0] {
		t.Errorf("refused with %q", texts)
	}
	d.fill(t, "E-mail", d.email)
	d.fill(t, "Password", d.password)
	d.page.Press(t, "Enter")
	d.settled(t, "Competitors")
	if at := d.text(t, "location.pathname + location.search"); at != wanted {
		t.Errorf("signed in, it goes to %s, want %s", at, wanted)
	}
	if cookie := d.text(t, "document.cookie + localStorage.length + sessionStorage.length"); cookie != "00" {
		t.Errorf("a script sees %q of the session", cookie)
	}
}

// Another organization's brand is as one that does not exist, for the page and for what it asks.
func (d *dashboard) findsNothingOfOthers(t *testing.T) {
	var statuses []int
	var found struct{ Answers []struct{ ID string } }
	d.ask(t, "answers?limit=1&brand_id="+d.brand, &found)
	answers := "/brands/fernwood/answers/"
	for _, path := range []string{
		"/brands/fernwood", answers + found.Answers[0].ID, "/brands/demo-page", "/brands/nothing",
		"/brands/fernwood/nothing", "/brands/%ff", answers + d.brand, answers + "x",
	} {
		var status int
		d.page.Eval(t, fmt.Sprintf("fetch(%q).then((r) => r.status)", path), &status)
		statuses = append(statuses, status)
	}
	if !slices.Equal(statuses, []int{200, 200, 404, 404, 404, 404, 404, 404}) {
		t.Errorf("statuses are %v", statuses)
	}
	cookie := d.stranger(t)
	d.answersNothingTo(t, cookie)
	// a page of another site has the cookie at best
	for _, path := range []string{"/app/api/rest/v1/brands", "/app/api/keys"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.URL+path,
			strings.NewReader(`{"name":"x"}`))
		if err != nil {
			t.Fatal(err)
		}
		request.Header = http.Header{
			"Cookie": {cookie}, "Content-Type": {"application/json"}, "Sec-Fetch-Site": {"cross-site"},
			"X-Answerscope": {"1"},
		}
		if status, _, body := run.Exchange(t, request); status != http.StatusForbidden {
			t.Errorf("from another site POST %s is %d %s", path, status, body)
		}
	}
}

// stranger signs in as the owner of another organization.
func (d *dashboard) stranger(t *testing.T) (cookie string) {
	t.Helper()
	run.ToEnd(t, d.env, d.password+"\n", "org", "add", "Other")
	if r := run.ToEnd(t, d.env, d.password+"\n", "user", "add",
		"eve@other.example", "--org", "other", "--role", "owner"); r.Status != run.ExitDone {
		t.Fatal(r.Stderr)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.URL+"/app/api/session",
		strings.NewReader(`{"email":"eve@other.example","password":"`+d.password+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = http.Header{"X-Answerscope": {"1"}, "Sec-Fetch-Site": {"same-origin"}}
	status, header, body := run.Exchange(t, request)
	if status != http.StatusNoContent {
		t.Fatal(status, body)
	}
	cookie, _, _ = strings.Cut(header.Get("Set-Cookie"), ";")
	return cookie
}

// answersNothingTo asks all that the page asks about fernwood, with another organization's cookie and without one.
func (d *dashboard) answersNothingTo(t *testing.T, cookie string) {
	t.Helper()
	wanted := map[string]int{
		"/v1/whoami": http.StatusOK, "/v1/brands": http.StatusOK, "/v1/brands-overview": http.StatusOK,
		"/v1/verdict-checks": http.StatusOK,
	}
	for _, path := range []string{
		"/rest/v1/brands", "/rest/v1/prompts", "/rest/v1/audit_log?subject=ilike.*fernwood*", "/rest/v1/events",
		"/rest/v1/subscriptions", "/rest/v1/webhook_endpoints", "/rest/v1/webhook_deliveries",
		"/rest/v1/invitations", "/keys", "/apps", "/members", "/providers", "/tracking/budgets",
	} {
		wanted[path] = http.StatusOK
	}
	description := struct{ Paths map[string]any }{}
	d.ask(t, "openapi.json", &description)
	for path := range description.Paths {
		path = strings.ReplaceAll(strings.TrimPrefix(path, "/api"), "{id}", d.brand)
		if wanted[path] == 0 && path != "/v1/openapi.json" {
			wanted[path+"?brand_id="+d.brand] = http.StatusNotFound
		}
	}
	for path, want := range wanted {
		if status, body := d.get(t, "/app/api"+path, cookie); status != want || strings.Contains(body, "ernwood") ||
			strings.Contains(body, d.email) {
			t.Errorf("with another organization's cookie %s is %d %s", path, status, body)
		}
		if status, body := d.get(t, "/app/api"+path, ""); status != http.StatusUnauthorized {
			t.Errorf("without a cookie %s is %d %s", path, status, body)
		}
	}
}

func (d *dashboard) get(t *testing.T, path, cookie string) (status int, body string) {
	t.Helper()
	return run.AskAsPage(t, cookie, http.MethodGet, d.URL+path, "")
}

// Signed out, going back shows nothing of what was there. Until then the page stays. The next sign-in leads to no other
// host.
func (d *dashboard) signsOut(t *testing.T) {
	d.at(t, "/brands/fernwood", "Overview")
	d.loses(t, "/session")
	d.click(t, "Sign out")
	d.page.Await(t, alert+`?.startsWith("The server does not answer")`)
	d.click(t, "Sign out")
	d.page.Await(t, `location.pathname == "/signin" && document.querySelector("h1")?.textContent == "Sign in"`)
	d.page.Eval(t, "void history.back()", nil)
	d.page.Await(t, `location.pathname == "/signin" && document.querySelector("h1")?.textContent == "Sign in" && `+
		`!document.body.innerText.includes("Fernwood")`)
	var status int
	if d.page.Eval(t, `fetch("/app/api/session").then((r) => r.status)`, &status); status != http.StatusUnauthorized {
		t.Errorf("signed out, the cookie is answered with %d", status)
	}
	d.loads(t, "/signin?next=/.//evil.example/", "Sign in")
	d.fill(t, "E-mail", d.email)
	d.fill(t, "Password", d.password)
	d.page.Press(t, "Enter")
	d.page.Await(t, fmt.Sprintf(`location.href == "%s//evil.example/"`, d.URL))
}

// All script is kept indefinitely by its address, and nothing is inline.
func (d *dashboard) isLight(t *testing.T) {
	response, err := http.Get(d.URL + "/signin")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	document, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	const policy = "default-src 'self'; img-src 'self' blob:; frame-ancestors 'none'; base-uri 'none'; " +
		"form-action 'self'"
	if got := response.Header.Get("Content-Security-Policy"); got != policy {
		t.Errorf("the policy is %q", got)
	}
	if bytes.Contains(document, []byte("<style")) || bytes.Contains(document, []byte("style=")) ||
		regexp.MustCompile(`<script[^>]*>[^<]`).Match(document) {
		t.Errorf("something is inline: %s", document)
	}
	scripts := regexp.MustCompile(`(?:src|modulepreload" href)="([^"]+\.js)"`).FindAllSubmatch(document, -1)
	if len(scripts) != 2 {
		t.Errorf("the document loads %d scripts, want app.js and first.js: %s", len(scripts), document)
	}
	for _, m := range scripts {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.URL+string(m[1]), nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Accept-Encoding", "gzip")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if _, unpacked := gzip.NewReader(bytes.NewReader(body)); err != nil || unpacked != nil ||
			response.Header.Get("Cache-Control") != "public, max-age=31536000, immutable" {
			t.Errorf("%s: %v %v %v", m[1], err, unpacked, response.Header)
		}
	}
}

// A part of the script that is not there, as after a new release, loads the page again, once, and then says so.
func (d *dashboard) loadsItsParts(t *testing.T) {
	d.page.Command(t, "Network.enable", nil, nil)
	d.page.Command(t, "Network.setBlockedURLs", map[string]any{"urls": []string{"*/look.js"}}, nil)
	d.page.Visit(t, d.URL+"/brands/fernwood/sources")
	d.page.Await(t, `performance.getEntriesByType("navigation")[0].type == "reload" && `+alert+
		`?.startsWith("A part of the page could not be loaded.")`)
	d.loads(t, "/brands/fernwood", "Overview")
	d.page.Command(t, "Network.setBlockedURLs", map[string]any{"urls": []string{}}, nil)
	d.at(t, "/brands/fernwood/sources", "Sources")
	d.page.Await(t, `document.activeElement.id == "main"`) // on the first visit too
}
