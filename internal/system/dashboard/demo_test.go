package dashboard

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/internal/system/run"
	webbrowser "github.com/answerscope/answerscope/internal/testkit/browsertest"
)

// sqlLine is the command that the demo prints for SQL, with the number below it.
var sqlLine = regexp.MustCompile(
	`curl '(http://[^']+)' --data-binary "([^"]+)"\n +is the API's aiVisibilityScore: (\S+)\n`)

var shareLine = regexp.MustCompile(`\n  share  (http://\S+)/share/(shr_\w+)\n`)

// hookLine is a webhook that the demo's receiver has verified, with its signature.
var hookLine = regexp.MustCompile(`(?m)^webhook (\S+), v1,\S{44}: verified by the demo's receiver$`)

// postedBy are the types of the webhooks that a demo prints as verified.
func postedBy(s *run.Server) (types string) {
	for _, m := range hookLine.FindAllStringSubmatch(s.Log.String(), -1) {
		types += m[1] + " "
	}
	return types
}

// sharedBy is the token of the link that a demo prints.
func sharedBy(t *testing.T, s *run.Server) string {
	t.Helper()
	m := shareLine.FindStringSubmatch(s.Log.String())
	if m == nil || m[1] != s.URL {
		t.Fatalf("the demo prints no share link:\n%s", s.Log)
	}
	return m[2]
}

// described asks what the link of a token shows.
func described(t *testing.T, base, token string) (status int, text string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/share/link", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-Share", token)
	status, _, text = run.Exchange(t, request)
	return status, text
}

// starts starts a demo, which shows one number by the API and by SQL. Started again it goes on with the same data and
// the same key: the dashboard is looked at then.
func (d *dashboard) starts(t *testing.T) {
	dir := []string{"ANSWERSCOPE_DATA_DIR=" + run.DataDir(t)}
	d.env = append(dir, "ANSWERSCOPE_PUBLIC_URL=http://127.0.0.1", "ANSWERSCOPE_EGRESS_ALLOW=127.0.0.1/32")
	first := run.Serve(t, dir, "demo")
	d.key = strings.TrimSpace(first.Stdout)
	if !strings.HasPrefix(d.key, "svc_") || strings.ContainsAny(d.key, " \n") {
		t.Fatalf("before the ready line the demo printed %q, want a key alone", first.Stdout)
	}
	d.brand = run.OnlyBrand(t, first.URL, d.key)
	score, answers := demoTotals(t, first.URL, d.key)
	visits := demoVisits(t, first.URL, d.key)
	crawls := demoCrawls(t, first.URL, d.key)
	showsSQL(t, first, score)
	for _, verdict := range []string{
		"Fernwood moved_down since ", "chatgpt-web moved_down, ", "copilot-web outage, ", "gemini-web model_changed, ",
	} {
		if !strings.Contains(first.Log.String(), verdict) {
			t.Errorf("the demo lacks %q:\n%s", verdict, first.Log)
		}
	}
	shared := sharedBy(t, first)
	if status, text := described(t, first.URL, shared); status != http.StatusOK ||
		!strings.Contains(text, `"name":"Fernwood"`) {
		t.Errorf("the demo's share link: %d %s", status, text)
	}
	if posted := postedBy(first); posted != "visibility.moved report.weekly " &&
		posted != "report.weekly visibility.moved " {
		t.Errorf("the first run posts %q:\n%s", posted, first.Log)
	}
	t.Run("page", func(t *testing.T) { showsThePixel(t, first) })
	t.Run("mail", func(t *testing.T) { showsTheMail(t, dir, first) })
	t.Run("status", func(t *testing.T) { showsTheDemoAgain(t, dir, first, d.key) })
	t.Run("platforms", func(t *testing.T) { showsRealPlatforms(t, dir, first, d.key) })
	if status := first.Stop(t, syscall.SIGINT); status != run.ExitDone {
		t.Errorf("after Ctrl-C the status is %d", status)
	}

	d.Server = run.Serve(t, d.env, "demo")
	next := strings.TrimSpace(d.Stdout)
	if status, _ := run.Fetch(t, d.URL+"/api/v1/whoami", d.key); next != d.key || status != http.StatusOK {
		t.Errorf("the first run's key is answered with %d, and the second's is %q", status, next)
	}
	if again := sharedBy(t, d.Server); again != shared {
		t.Errorf("the first run's share link is %s, the second's is %s", shared, again)
	}
	if posted := postedBy(d.Server); posted != "webhook.test webhook.test " {
		t.Errorf("the second run posts %q", posted)
	}
	if list := run.Must(t, d.env, "webhook", "list", "--org", run.DemoSlug,
		"--json"); strings.Count(list, `"url"`) != 1 {
		t.Errorf("after the second run these are the endpoints:\n%s", list)
	}
	// Runs that became due meanwhile are more, a new day takes one away: a copy of everything would be twice as much.
	if _, again := demoTotals(t, d.URL, d.key); again < answers*9/10 || again > answers*11/10 {
		t.Errorf("the second run counts %d answers, the first counted %d", again, answers)
	}
	if again := demoVisits(t, d.URL, d.key); again < visits*9/10 || again > visits*11/10 {
		t.Errorf("the second run counts %d visits, the first counted %d", again, visits)
	}
	if again := demoCrawls(t, d.URL, d.key); again < crawls*8/10 || again > crawls*12/10 { // they come in waves
		t.Errorf("the second run counts %d crawls, the first counted %d", again, crawls)
	}
}

// showsSQL runs the command that the demo prints for SQL, which answers the API's score.
func showsSQL(t *testing.T, s *run.Server, score string) {
	t.Helper()
	m := sqlLine.FindStringSubmatch(s.Log.String())
	if m == nil {
		t.Fatalf("the demo shows no SQL:\n%s", s.Log)
	}
	response, err := http.Post(m[1], "text/plain", strings.NewReader(m[2]))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if bySQL := strings.TrimSpace(string(answer)); bySQL != score || m[3] != score {
		t.Errorf("the score is %s by the API, %s by SQL, and %s is shown", score, bySQL, m[3])
	}
}

// The demo's mail is the weekly report, as the command prints it, with links to the demo.
func showsTheMail(t *testing.T, env []string, s *run.Server) {
	t.Helper()
	m := regexp.MustCompile(`\n  mail   (\S+\.html)\n`).FindStringSubmatch(s.Log.String())
	if m == nil {
		t.Fatalf("the demo shows no mail:\n%s", s.Log)
	}
	mail, err := os.ReadFile(m[1])
	if err != nil {
		t.Fatal(err)
	}
	printed := run.Must(t, env, "report", "fernwood", "--org", run.DemoSlug, "--format", "html")
	if string(mail) != printed || !strings.Contains(printed, s.URL+"/brands/fernwood?") ||
		!strings.Contains(printed, "<title>Simulated: Fernwood: named in ") {
		t.Errorf("the demo's mail is not what is printed:\n%s", mail)
	}
}

// status shows what the demo printed, and where its log is.
func showsTheDemoAgain(t *testing.T, env []string, s *run.Server, key string) {
	t.Helper()
	text, dir := run.Must(t, env, "status"), strings.TrimPrefix(env[0], "ANSWERSCOPE_DATA_DIR=")
	for _, want := range []string{
		s.URL, key, key[:8] + "…", "topic answers", "0 of them not landed yet",
		pageLine.FindString(s.Log.String()), run.Binary(t) + " analyst add ana --org demo --data-dir " + dir + "\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("status lacks %q:\n%s", want, text)
		}
	}
	if secrets := regexp.MustCompile(`://[^:]+:([^*@]+)@`).FindAllString(run.Must(t, env, "status", "--json"),
		-1); secrets != nil {
		t.Errorf("status shows passwords: %q", secrets)
	}
}

// The demo's answers are of the platforms that people know, each marked as simulated, with shopping cards; those of a
// tracking job are the simulator's.
func showsRealPlatforms(t *testing.T, env []string, s *run.Server, key string) {
	t.Helper()
	tracked, notShown := 0, 0
	for line := range strings.Lines(run.Must(t, env, "export", "--org", run.DemoSlug, "--brand", "fernwood")) {
		var answer struct {
			Platform  string
			Simulated bool
			Finish    string
			JobID     *string `json:"job_id"`
		}
		err := json.Unmarshal([]byte(line), &answer)
		if err != nil || !answer.Simulated || platform.Simulated(answer.Platform) != (answer.JobID != nil) {
			t.Fatalf("an answer of the demo is %s", line)
		}
		if answer.JobID != nil {
			tracked++
		}
		if answer.Finish == string(event.FinishNotShown) {
			notShown++
		}
	}
	if tracked == 0 || notShown == 0 {
		t.Errorf("the demo has tracked %d answers, %d without an overview", tracked, notShown)
	}
	var cards struct{ Cards []struct{ Platform string } }
	_, body := run.Fetch(t, s.URL+"/api/v1/shopping-cards?brand_id="+run.OnlyBrand(t, s.URL, key), key)
	if err := json.Unmarshal([]byte(body), &cards); err != nil || len(cards.Cards) == 0 ||
		cards.Cards[0].Platform != "chatgpt-shopping" {
		t.Errorf("shopping cards: %s", body)
	}
}

// pageLine is the address of the page that shows the pixel.
var pageLine = regexp.MustCompile(`\n  page   (http://localhost:\d+/)\n`)

// The demo's page counts who comes to it from an AI platform, and shows that.
func showsThePixel(t *testing.T, s *run.Server) {
	t.Helper()
	m := pageLine.FindStringSubmatch(s.Log.String())
	if m == nil {
		t.Fatalf("the demo shows no page:\n%s", s.Log)
	}
	address, err := url.Parse(m[1])
	if err != nil {
		t.Fatal(err)
	}
	page := httputil.NewSingleHostReverseProxy(address)
	collector, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	collects := httputil.NewSingleHostReverseProxy(collector)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, values := range r.Header { // a browser without a window says so, and is taken for a bot
			r.Header.Set(name, strings.ReplaceAll(values[0], "HeadlessChrome", "Chrome"))
		}
		if r.Host == collector.Host {
			collects.ServeHTTP(w, r)
		} else {
			page.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(proxy.Close)
	tab := webbrowser.Start(t, "chromium", strings.TrimPrefix(proxy.URL, "http://")).Open(t)
	tab.Visit(t, m[1])
	tab.Await(t, `document.getElementById("visits").textContent == "0" && `+
		`document.getElementById("sent").textContent == "nothing"`)
	tab.Visit(t, m[1]+"?utm_source=chatgpt.com")
	tab.Eval(t, `void (document.getElementById("next").click(), document.getElementById("order").click())`, nil)
	tab.Await(t, `["visits", "sessions", "orders", "value"].map((id) => `+
		`document.getElementById(id).textContent).join() == "2,1,1,49.90 EUR"`)
}

// demoVisits asks for the only brand's visits in the default window.
func demoVisits(t *testing.T, url, key string) int {
	t.Helper()
	var traffic struct {
		Total    int `json:"total_visits"`
		Sessions int
		Goals    []struct{ Name string }
		Landings []struct{ URL string } `json:"landing_pages"`
	}
	_, body := run.Fetch(t, url+"/api/v1/ai-traffic?brand_id="+run.OnlyBrand(t, url, key), key)
	if err := json.Unmarshal([]byte(body), &traffic); err != nil || traffic.Total == 0 {
		t.Fatalf("traffic: %s", body)
	}
	if traffic.Sessions == 0 || traffic.Sessions >= traffic.Total || len(traffic.Goals) < 2 ||
		len(traffic.Landings) < 2 {
		t.Errorf("the demo shows no sessions of several views, goals or landing pages: %s", body)
	}
	return traffic.Total
}

// demoCrawls asks for the requests of AI crawlers for the only brand's site in the default window.
func demoCrawls(t *testing.T, url, key string) int {
	t.Helper()
	var crawlers struct {
		Total    int                        `json:"total_requests"`
		Purposes []struct{ Purpose string } `json:"purpose_breakdown"`
	}
	_, body := run.Fetch(t, url+"/api/v1/ai-crawlers?brand_id="+run.OnlyBrand(t, url, key), key)
	if err := json.Unmarshal([]byte(body), &crawlers); err != nil || crawlers.Total == 0 ||
		len(crawlers.Purposes) != 3 {
		t.Fatalf("crawlers: %s", body)
	}
	return crawlers.Total
}

// demoTotals asks for the only brand's score in the default window, and for how many answers it is of.
func demoTotals(t *testing.T, url, key string) (score string, answers int) {
	t.Helper()
	var summary struct {
		Totals struct {
			AIVisibilityScore float64
			ResultCount       int
		}
	}
	_, body := run.Fetch(t, url+"/api/v1/visibility-summary?brand_id="+run.OnlyBrand(t, url, key), key)
	if err := json.Unmarshal([]byte(body), &summary); err != nil || summary.Totals.ResultCount == 0 {
		t.Fatalf("summary: %s", body)
	}
	return fmt.Sprint(summary.Totals.AIVisibilityScore), summary.Totals.ResultCount
}
