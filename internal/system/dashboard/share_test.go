package dashboard

import (
	"bytes"
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
	"testing"

	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/internal/testkit"
	webbrowser "github.com/answerscope/answerscope/internal/testkit/browsertest"
	"github.com/answerscope/answerscope/internal/testkit/wait"
)

// A reception is the server as a client's browser reaches it, which remembers what it was asked.
type reception struct {
	*httptest.Server
	mu      sync.Mutex
	asked   []string // paths with their statuses
	strange []string // requests that carry a token where it does not belong
}

func (d *dashboard) receive(t *testing.T) *reception {
	t.Helper()
	home, err := url.Parse(d.URL)
	if err != nil {
		t.Fatal(err)
	}
	r := &reception{}
	forward := httputil.NewSingleHostReverseProxy(home)
	forward.ModifyResponse = func(response *http.Response) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		request := response.Request
		r.asked = append(r.asked, fmt.Sprint(response.StatusCode, " ", request.URL.Path))
		if strings.Contains(request.Referer(), "shr_") || strings.Contains(request.URL.RawQuery, "shr_") ||
			request.Header.Get("Cookie") != "" {
			r.strange = append(r.strange, fmt.Sprint(request.URL, request.Header))
		}
		return nil
	}
	r.Server = httptest.NewServer(forward)
	t.Cleanup(r.Close)
	return r
}

// saw reports whether a request was answered whose status and path match, and forgets all.
func (r *reception) saw(pattern string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := slices.ContainsFunc(r.asked, regexp.MustCompile(pattern).MatchString)
	r.asked = nil
	return found
}

// share makes a link by the dashboard's API and returns its path.
func (d *dashboard) share(t *testing.T, fields string) string {
	t.Helper()
	var made struct{ ID, URL, Error string }
	d.page.Eval(t, fmt.Sprintf(`fetch("/app/api/shares", { method: "POST", headers: { "X-Answerscope": "1" }, body: `+
		`%q }).then((r) => r.json())`, `{"brand_id":"`+d.brand+`",`+fields+`}`), &made)
	_, path, ok := strings.Cut(made.URL, "/share/")
	if !ok {
		t.Fatalf("%s: %+v", fields, made)
	}
	return "/share/" + path
}

// Clients have a browser in which nobody has signed in.
func (d *dashboard) isShared(t *testing.T) {
	browser := webbrowser.Start(t, "chromium", "")
	t.Run("screens", func(t *testing.T) { d.sharesScreens(t, browser) })
	t.Run("frame", func(t *testing.T) { d.isFramedByItsOrigins(t, browser) })
	t.Run("password", func(t *testing.T) { d.asksForALinksPassword(t, browser) })
}

// A client without an account sees the screens of a link, each with all its figures, and nothing that leads elsewhere
// or edits.
func (d *dashboard) sharesScreens(t *testing.T, browser *webbrowser.Browser) {
	const opens = `void ((b) => { b.focus(); b.click() })([...document.querySelectorAll(".toolbar button")]` +
		`.find((b) => b.textContent == "Share"))` // the screen has a link of that name
	d.at(t, "/brands/fernwood/answers", "Answers")
	d.page.Eval(t, opens, nil)
	d.page.Await(t, `document.querySelector("dialog[open] fieldset")`)
	d.page.Eval(t, `void document.querySelectorAll("dialog fieldset input:not(:checked)")`+
		`.forEach((box) => box.click())`, nil)
	d.click(t, "Create link") // to all that is offered
	d.page.Await(t, `document.querySelector("dialog[open] .secret")?.textContent.includes("/share/shr_")`)
	d.click(t, "Done")
	d.at(t, "/brands/fernwood/sources?platform=chatgpt-web", "Sources")
	d.page.Eval(t, opens, nil)
	d.page.Await(t, `document.querySelector("dialog[open] h2")?.textContent == "Share Fernwood"`)
	d.hasNoFindings(t, "Share", looks[0], looks[1])
	d.page.Show(t, 1280, 900, "light")
	d.fill(t, "Title", "For Ann")
	d.click(t, "Create link")
	d.page.Await(t, `document.querySelector("dialog[open] .secret")?.textContent.includes("/share/shr_")`)
	_, path, _ := strings.Cut(d.text(t, `document.querySelector(".secret").textContent`), "/share/")
	path = "/share/" + path
	d.click(t, "Done")
	d.page.Await(t, `!document.querySelector("dialog") && `+focused+` == "Share"`)

	front := d.receive(t)
	client := &dashboard{Server: &run.Server{URL: front.URL}, page: browser.Open(t)}
	client.page.Show(t, 1280, 900, "light")
	client.loads(t, path, "Overview")
	const screens = `[...document.querySelectorAll("header.side nav a")].map((a) => a.textContent).join()`
	if got := client.text(t, screens); got != "Overview,Competitors,Sources" {
		t.Errorf("the link leads to %s", got)
	}
	if got := client.text(t, `document.querySelector("[aria-label=Filters]").textContent + `+
		`!!document.querySelector("[aria-label^=Remove]")`); got != "Platform: ChatGPTfalse" {
		t.Errorf("the fixed filter is shown as %s", got)
	}
	const foot = `document.querySelector("footer").textContent`
	client.page.Await(t, `/^For Ann · [\d,]+ answers · as of .+ UTC$/.test(`+foot+`)`)
	for i, look := range looks[:testkit.Draws(1, 2)] {
		client.hasNoFindings(t, "a shared screen", look, looks[3-i])
	}
	client.page.Show(t, 1280, 900, "light")

	all := []string{"prompts", "answers", "traffic", "overview", "competitors", "sources", "shopping"}
	for _, screen := range all[:testkit.Draws(3, len(all))] { // with a link of it alone, whose endpoints must do
		alone := d.share(t, fmt.Sprintf(`"screens":[%q]`, screen))
		client.loads(t, alone, strings.ToUpper(screen[:1])+screen[1:])
		client.hasNothingToEdit(t, screen)
		if screen == "prompts" {
			client.loads(t, client.text(t, `document.querySelector("main a[href*='prompt=']").getAttribute("href")`),
				"Prompts")
			client.hasNothingToEdit(t, "a prompt")
			if heading := client.text(t,
				`document.querySelector(".prompt-panel h2").textContent`); heading == "Prompt" {
				t.Error("a prompt is shown without its text")
			}
		}
		if screen == "answers" {
			client.loads(t, client.text(t, `document.querySelector("main td a[href*='/answers/'], `+
				`main th a[href*='/answers/']").getAttribute("href")`), "Answers")
			client.hasNothingToEdit(t, "an answer")
		}
	}
	if front.saw(`^[45]\d\d `) {
		t.Errorf("a shared screen asks what its link does not show")
	}
	client.printsItself(t, path)
	if len(front.strange) > 0 {
		t.Errorf("a token is where it does not belong: %q", front.strange)
	}

	d.at(t, "/brands/fernwood/settings", "Settings")
	d.click(t, "Revoke For Ann")
	d.page.Await(t, `document.querySelector("dialog[open] h2")?.textContent == "Revoke For Ann?"`)
	d.click(t, "Revoke")
	d.page.Await(t, `[...document.querySelectorAll("section[aria-label='Share links'] tr, tr")].some((r) => `+
		`r.textContent.startsWith("For Ann") && r.textContent.includes("revoked"))`)
	client.loads(t, path, "This link does not work")
}

// hasNothingToEdit checks that no link leads to the dashboard, and that nothing failed or awaits what never comes.
func (d *dashboard) hasNothingToEdit(t *testing.T, what string) {
	t.Helper()
	var found []string
	d.page.Eval(t,
		`[...document.querySelectorAll("a[href]")].filter((a) => a.origin == location.origin &&
			!a.pathname.startsWith("/share/")).map((a) => "a link to " + a.href)
		.concat([...document.querySelectorAll("[role=alert]")].map((a) => "an alert: " + a.textContent))
		.concat([...document.querySelectorAll("button, a.button[href]")].map((b) => b.ariaLabel ||
			b.textContent).filter((n) => /^(Add|Edit|Remove|Run|Share$|Sign|Delete|Deactivate)/.test(n)))`, &found)
	if len(found) > 0 {
		t.Errorf("%s has %q", what, found)
	}
}

// printsItself prints a shared screen: on A4, without navigation, under what it is of.
func (d *dashboard) printsItself(t *testing.T, path string) {
	t.Helper()
	d.loads(t, path, "Overview")
	d.page.Await(t, `document.querySelector("footer").textContent.includes("as of")`)
	var printed struct{ Data []byte }
	d.page.Command(t, "Page.printToPDF", map[string]any{"preferCSSPageSize": true}, &printed)
	box := regexp.MustCompile(`/MediaBox\s*\[0 0 (\d+)[.\d]* (\d+)`).FindSubmatch(printed.Data)
	if !bytes.HasPrefix(printed.Data, []byte("%PDF-")) ||
		box == nil || string(box[1]) != "594" && string(box[1]) != "595" ||
		string(box[2]) != "841" && string(box[2]) != "842" {
		t.Errorf("printed are %d bytes with %q", len(printed.Data), box)
	}
	d.page.Command(t, "Emulation.setEmulatedMedia", map[string]any{"media": "print"}, nil)
	var shown []string
	d.page.Eval(t, `["header.side", ".toolbar .button", "footer", ".content > .printed", ".toolbar .printed", `+
		`"main .card"].filter((s) => document.querySelector(s)?.checkVisibility())`, &shown)
	if got := strings.Join(shown, " "); got != ".content > .printed .toolbar .printed main .card" {
		t.Errorf("on paper are %s", got)
	}
	if got := d.text(t,
		`[...document.querySelectorAll(".printed")].map((p) => p.textContent).join("|")`); !regexp.MustCompile(
		`^For Ann · [\d,]+ answers · as of .+ UTC\|Fernwood · .+ – .+ · Platform: ChatGPT$`).MatchString(got) {
		t.Errorf("on paper it is headed %s", got)
	}
	d.page.Command(t, "Emulation.setEmulatedMedia", map[string]any{"media": ""}, nil)
	d.page.Show(t, 1280, 900, "light")
}

// A page of an allowed origin frames a link; that of another one frames nothing.
func (d *dashboard) isFramedByItsOrigins(t *testing.T, browser *webbrowser.Browser) {
	front := d.receive(t)
	var path string
	page := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(fmt.Sprint(r.URL, r.Header), "shr_") {
			t.Errorf("the embedding site gets the token: %s %v", r.URL, r.Header)
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<iframe width="1200" height="800" onload="document.title = 'loaded'" src="%s%s"></iframe>`,
			front.URL, path)
	})
	allowed, other := httptest.NewTLSServer(page), httptest.NewTLSServer(page)
	t.Cleanup(allowed.Close)
	t.Cleanup(other.Close)
	path = d.share(t, fmt.Sprintf(`"screens":["overview"],"embed_origins":[%q]`, allowed.URL))
	for _, site := range []struct {
		url   string
		shown bool
	}{{other.URL, false}, {allowed.URL, true}} {
		tab := browser.Open(t)
		tab.Command(t, "Security.setIgnoreCertificateErrors", map[string]any{"ignore": true}, nil)
		tab.Visit(t, site.url)
		tab.Await(t, `document.title == "loaded"`)
		if !site.shown {
			if front.saw(`/assets/|/share/api`) {
				t.Errorf("%s frames the link", site.url)
			}
			continue
		}
		wait.For(t, "the framed link to ask for its figures", func() bool {
			return front.saw(`^200 /share/api/v1/visibility-summary`)
		})
	}
	if len(front.strange) > 0 {
		t.Errorf("a token is where it does not belong: %q", front.strange)
	}
}

// A password is asked for, and opens the link in this browser.
func (d *dashboard) asksForALinksPassword(t *testing.T, browser *webbrowser.Browser) {
	path := d.share(t, `"screens":["traffic"],"password":"plum-orbit-tacit-91"`)
	client := &dashboard{Server: d.Server, page: browser.Open(t)}
	client.page.Show(t, 1280, 900, "light")
	client.loads(t, path, "This link has a password")
	client.hasNoFindings(t, "a link's password", looks[0], looks[1])
	client.fill(t, "Password", "wrong")
	client.page.Press(t, "Enter")
	client.page.Await(t, `document.querySelector("[role=alert]")?.textContent == "Wrong password."`)
	client.fill(t, "Password", "plum-orbit-tacit-91")
	client.page.Press(t, "Enter")
	client.settled(t, "Traffic")
	response, err := http.Get(d.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if text, err := io.ReadAll(response.Body); err != nil || json.Valid(text) ||
		strings.Contains(string(text), "Fernwood") {
		t.Errorf("without its script the page has %s, %v", text, err)
	}
}
