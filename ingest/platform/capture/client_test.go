package capture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/internal/testkit/platformtest"
)

// response is what a fake provider answers to every request. A status of 0 is no answer at all.
type response struct {
	status int
	again  string // Retry-After
	body   string
}

// answerAll is a server that answers every request alike, and counts them.
func answerAll(t *testing.T, r response) (address string, requests *atomic.Int64) {
	t.Helper()
	requests = &atomic.Int64{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		requests.Add(1)
		_, _ = io.Copy(io.Discard, request.Body) // before its end the server does not see that the client is gone
		if r.status == 0 {
			<-request.Context().Done()
			return
		}
		w.Header().Set("Retry-After", r.again)
		w.WriteHeader(r.status)
		_, _ = w.Write([]byte(r.body)) // the client may be gone
	}))
	t.Cleanup(server.Close)
	return server.URL, requests
}

// accountAt is an account whose state was read.
func accountAt(provider, address string) Account {
	a := Account{Provider: provider, Key: "user:" + platformtest.Key, BaseURL: address, Zone: "serp1"}
	serpReadings.Store(a, time.Now())
	return a
}

// overviewOf is the first answer of a provider's overview in testdata.
func overviewOf(t *testing.T, provider string) response {
	t.Helper()
	for _, c := range platformtest.Cases(t, provider+"/google-ai-overview") {
		if c.Name == "plain" {
			return response{status: 200, body: string(c.Response)}
		}
	}
	t.Fatal("no case plain of " + provider)
	return response{}
}

// After a failure of the provider the next one is asked, each once; after one of the question, the reader or the money
// none is.
func TestAskFailsOver(t *testing.T) {
	t.Parallel()
	status := func(code int) string {
		return fmt.Sprintf(`{"tasks":[{"status_code":%d,"status_message":"no","result":null}]}`, code)
	}
	for _, c := range []struct {
		first response
		class platform.Class // "": the second one answers
	}{
		{response{status: 503}, ""}, {response{status: 401}, ""}, {response{status: 403}, ""},
		{response{status: 402}, ""},
		{response{status: 429}, ""}, {response{status: 200, body: status(40100)}, ""},
		{response{status: 200, body: status(40200)}, ""},
		{response{status: 200, body: status(40202)}, ""}, {response{status: 200, body: status(50000)}, ""},
		{response{status: 400}, platform.Invalid}, {response{status: 200, body: status(40501)}, platform.Invalid},
		{response{status: 200, body: `{}`}, platform.ChangedShape},
		{response{status: 200, body: `<html>`}, platform.ChangedShape}, {response{}, platform.Timeout},
	} {
		first, asked := answerAll(t, c.first)
		second, answered := answerAll(t, overviewOf(t, "serpapi"))
		client, err := Open("google-ai-overview", []Account{
			accountAt("dataforseo", first), accountAt("serpapi", second),
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, done := context.WithTimeout(t.Context(), time.Minute)
		if c.class == platform.Timeout {
			ctx, done = context.WithTimeout(t.Context(), 50*time.Millisecond)
		}
		reply, err := client.Ask(ctx, platform.Question{Text: "best tent?"})
		done()
		e, _ := errors.AsType[*platform.Error](err)
		switch {
		case c.class == "" && (err != nil || reply.Provider != "serpapi" || reply.Text == "" || answered.Load() != 1):
			t.Errorf("%+v: %+v, %v, the second asked %d times", c.first, reply, err, answered.Load())
		case c.class != "" && (e == nil || e.Class != c.class || answered.Load() != 0):
			t.Errorf("%+v: %v, want %s, the second asked %d times", c.first, err, c.class, answered.Load())
		}
		if asked.Load() != 1 {
			t.Errorf("%+v: the first was asked %d times", c.first, asked.Load())
		}
	}
}

// Where every provider fails, the last error is returned, with the shortest pause that one of them asks for.
func TestAskReturnsTheLastError(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		again [3]string
		want  float64 // seconds
	}{{[3]string{"90", "7", "30"}, 7}, {[3]string{"", "", "30"}, 30}, {[3]string{"9", "", ""}, 9}, {[3]string{}, 0}} {
		var accounts []Account
		for i, provider := range []string{"dataforseo", "serpapi", "brightdata"} {
			address, _ := answerAll(t, response{
				status: 503, again: c.again[i], body: `{"error":"` + provider + ` is away"}`,
			})
			accounts = append(accounts, accountAt(provider, address))
		}
		client, err := Open("google-ai-overview", accounts)
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Ask(t.Context(), platform.Question{Text: "best tent?"})
		e, ok := errors.AsType[*platform.Error](err)
		if !ok || e.Class != platform.Unavailable || e.RetryAfter.Seconds() != c.want ||
			!strings.Contains(err.Error(), "brightdata is away") {
			t.Errorf("%q: %v", c.again, err)
		}
	}
}

// A prompt goes past the providers that it is too long for, and is never cut.
func TestLongPrompts(t *testing.T) {
	t.Parallel()
	short, asked := answerAll(t, response{status: 503})
	long, answered := answerAll(t, overviewOf(t, "serpapi"))
	accounts := []Account{accountAt("dataforseo", short), accountAt("serpapi", long)}
	for _, c := range []struct {
		accounts   []Account
		characters int
		asked      int64
		want       string
	}{
		{accounts, 700, 1, ""}, {accounts, 701, 0, ""},
		{accounts[:1], 701, 0, "invalid: the prompt has 701 characters: want at most 700"},
	} {
		asked.Store(0)
		answered.Store(0)
		client, err := Open("google-ai-overview", c.accounts)
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Ask(t.Context(), platform.Question{Text: strings.Repeat("ü", c.characters)})
		if asked.Load() != c.asked || c.want == "" && (err != nil || answered.Load() != 1) ||
			c.want != "" && fmt.Sprint(err) != c.want {
			t.Errorf("%d characters: %v, asked %d and %d times", c.characters, err, asked.Load(), answered.Load())
		}
	}
}

// Without an order the cheapest provider is first, of two the one that the table lists first. An order leaves out those
// that it does not name.
func TestChoose(t *testing.T) {
	t.Parallel()
	account := func(provider string) Account { return Account{Provider: provider, Zone: "serp1"} }
	all := []Account{
		account("cloro"), account("dataforseo"), account("brightdata"), account("oxylabs"), account("serpapi"),
	}
	withoutZone := []Account{{Provider: "brightdata"}, account("serpapi")}
	cheap := []Account{{Provider: "cloro", CreditUSD: "0.0001"}, account("oxylabs")}
	for _, c := range []struct {
		surface  string
		accounts []Account
		order    string
		want     string
	}{
		// dataforseo and cloro cost the same
		{"google-ai-overview", all, "", "brightdata,oxylabs,dataforseo,cloro,serpapi"},
		{"google-ai-overview", withoutZone, "", "serpapi"},
		{"google-ai-overview", withoutZone, "brightdata,serpapi", "serpapi"},
		{"chatgpt-web", withoutZone, "", "brightdata"},
		{"bing-copilot", all, "", "serpapi"}, {"grok-web", withoutZone, "", ""},
		{"perplexity-web", all, "", "oxylabs,cloro,brightdata"}, {"chatgpt-web", cheap, "", "cloro,oxylabs"},
		{"google-ai-mode", all, "serpapi,oxylabs", "serpapi,oxylabs"},
		{"google-ai-mode", withoutZone, "oxylabs,serpapi", "serpapi"}, {"google-ai-mode", withoutZone, "oxylabs", ""},
	} {
		var order, names []string
		if c.order != "" {
			order = strings.Split(c.order, ",")
		}
		for _, a := range Choose(c.surface, c.accounts, order) {
			names = append(names, a.Provider)
		}
		if got := strings.Join(names, ","); got != c.want {
			t.Errorf("%s in the order %q: %s, want %s", c.surface, c.order, got, c.want)
		}
	}
}

// Each page of SerpApi is paid for, Cloro's credits count as they were charged, and a job costs what the list says.
func TestCostOfACapture(t *testing.T) {
	t.Parallel()
	search := serpSearch + `google&gl=us&hl=en&no_cache=true&q=tent`
	second := step{request: serpSearch + `google_ai_overview&no_cache=true&page_token=a`}
	for _, c := range platformtest.Cases(t, "serpapi/google-ai-overview") {
		if c.Name == "second_page" {
			second.answer = string(c.Response)
		}
	}
	for _, c := range []struct {
		provider string
		steps    []step
		want     string
	}{
		{"serpapi", []step{{request: search, answer: overviewOf(t, "serpapi").body}}, "0.025000"},
		{"serpapi", []step{{request: search, answer: `{"ai_overview":{"page_token":"a"}}`}, second}, "0.050000"},
	} {
		address, rest := play(t, c.steps...)
		client, err := Open("google-ai-overview", []Account{accountAt(c.provider, address)})
		if err != nil {
			t.Fatal(err)
		}
		_, reply, err := client.Submit(t.Context(), c.provider,
			platform.Question{Text: "tent", Region: "us"}, uuid.UUID{}, "")
		if err != nil || reply.Usage.CostUSD != c.want || rest() != 0 {
			t.Errorf("%s after %d pages: %+v, %v, want %s", c.provider, len(c.steps), reply.Usage, err, c.want)
		}
	}
	for credit, want := range map[string]string{"": "0.004000", "0.0004": "0.002000"} {
		address, _ := answerAll(t, response{
			status: 200, body: `{"task":{"status":"COMPLETED"},"response":{"aioverview":{"markdown":"Take ` +
				`it."}},"credits":{"creditsCharged":5}}`,
		})
		account := accountAt("cloro", address)
		account.CreditUSD = credit
		client, err := Open("google-ai-overview", []Account{account})
		if err != nil {
			t.Fatal(err)
		}
		reply, _, err := client.Poll(t.Context(), Job{"cloro", "j"}, platform.Question{Text: "tent"})
		if err != nil || reply.Usage.CostUSD != want {
			t.Errorf("a credit of %q: %+v, %v, want %s", credit, reply.Usage, err, want)
		}
	}
}

// The state of an account at SerpApi is read once an hour: its rate is learnt, and without searches none is sent.
func TestStateOfAnAccount(t *testing.T) {
	t.Parallel()
	const search = "GET /search.json"
	for state, want := range map[string]struct {
		perMinute int
		class     platform.Class
		requests  string
	}{
		`{"account_rate_limit_per_hour":6000,"total_searches_left":7}`: {100, "",
			"GET /account.json " + search + " " + search},
		`{"account_rate_limit_per_hour":6000,"total_searches_left":0}`: {0, platform.Quota,
			"GET /account.json " + search},
		`{"account_rate_limit_per_hour":50,"total_searches_left":7}`: {1, "",
			"GET /account.json " + search + " " + search},
		`{"account_rate_limit_per_hour":-99,"total_searches_left":7}`: {0, "",
			"GET /account.json " + search + " " + search},
		`{"error":"no such page"}`: {0, "", "GET /account.json " + search + " " + search},
		`<html>`:                   {0, "", "GET /account.json " + search + " " + search},
	} {
		var requests []string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requests = append(requests, r.Method+" "+r.URL.Path)
			body := overviewOf(t, "serpapi").body
			if r.URL.Path == "/account.json" {
				body = state
			}
			_, _ = w.Write([]byte(body))
		}))
		t.Cleanup(server.Close)
		client, err := Open("google-ai-overview",
			[]Account{{Provider: "serpapi", Key: platformtest.Key, BaseURL: server.URL}})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			_, reply, err := client.Submit(t.Context(), "serpapi", platform.Question{Text: "tent"}, uuid.UUID{}, "")
			perMinute, class := want.perMinute, want.class
			if i > 0 {
				perMinute, class = 0, ""
			}
			failure, _ := errors.AsType[*platform.Error](err)
			if reply.Allowance.RequestsPerMinute != perMinute || (err == nil) != (class == "") ||
				err != nil && (failure.Class != class || failure.CostUSD != "") {
				t.Errorf("%s, %d: %+v, %v", state, i, reply.Allowance, err)
			}
		}
		if got := strings.Join(requests, " "); got != want.requests {
			t.Errorf("%s: sent %s, want %s", state, got, want.requests)
		}
	}
}

// A poll says whether a job has begun or ended, and brings its answer once. A lost one says nothing.
func TestPoll(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		answer  response
		ended   bool
		running bool
		class   platform.Class
	}{
		{response{status: 200, body: `{"task":{"status":"QUEUED"}}`}, false, false, ""},
		{response{status: 200, body: `{"task":{"status":"PROCESSING"}}`}, false, true, ""},
		{response{status: 202, body: `{"message":"not there yet"}`}, false, true, ""},
		{response{status: 204}, false, true, ""},
		{response{status: 200, body: `{"task":{"status":"COMPLETED"},"response":{"text":"Take it."}}`}, true, false,
			""},
		{response{status: 200, body: `{"task":{"status":"COMPLETED"},"response":{}}`}, true, false,
			platform.ChangedShape},
		{response{status: 200, body: `{"task":{"status":"FAILED","error":"blocked"}}`}, true, false,
			platform.Unavailable},
		{response{status: 200, body: `{}`}, false, true, ""}, {response{status: 408}, false, false, ""},
		{response{status: 429, again: "3"}, false, false, ""},
		{response{status: 502, body: "<html>"}, false, false, ""},
	} {
		address, requests := answerAll(t, c.answer)
		client, err := Open("grok-web", []Account{accountAt("cloro", address)})
		if err != nil {
			t.Fatal(err)
		}
		reply, progress, err := client.Poll(t.Context(), Job{"cloro", "j"}, platform.Question{Text: "tent"})
		e, _ := errors.AsType[*platform.Error](err)
		isAnswer := c.ended && c.class == ""
		if progress.Ended != c.ended || progress.Running != c.running || (c.class == "") != (err == nil) ||
			e != nil && e.Class != c.class ||
			isAnswer != (reply.Text == "Take it.") || requests.Load() != 1 {
			t.Errorf("%+v: %+v, %+v, %v", c.answer, reply, progress, err)
		}
	}
}

// A poll is lost with its connection, and ends with the process alone.
func TestLostPolls(t *testing.T) {
	t.Parallel()
	away := httptest.NewServer(http.NotFoundHandler())
	away.Close()
	client, err := Open("grok-web", []Account{accountAt("cloro", away.URL)})
	if err != nil {
		t.Fatal(err)
	}
	if _, progress, err := client.Poll(t.Context(), Job{"cloro", "j"}, platform.Question{}); err != nil ||
		progress.Ended {
		t.Errorf("a refused connection: %+v, %v", progress, err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, progress, err := client.Poll(stopped, Job{"cloro", "j"}, platform.Question{}); err != nil ||
		!errors.Is(progress.Lost, context.Canceled) || progress.Ended {
		t.Errorf("a stopped process: %+v, %v", progress, err)
	}
	if _, progress, err := client.Poll(t.Context(), Job{"oxylabs", "j"}, platform.Question{}); err == nil ||
		!progress.Ended {
		t.Errorf("a removed key: %+v, %v", progress, err)
	}
}

// The first poll comes after two seconds, later ones after up to ten, each a fifth earlier or later by chance.
func TestPollDelay(t *testing.T) {
	t.Parallel()
	for polls, want := range map[int]time.Duration{
		0: 2 * time.Second, 1: 3 * time.Second, 3: 6750 * time.Millisecond, 4: 10 * time.Second, 1000: 10 * time.Second,
	} {
		var delays []time.Duration
		for range 200 {
			delays = append(delays, PollDelay(polls, Progress{}))
		}
		first, last := slices.Min(delays), slices.Max(delays)
		if first < want*79/100 || last > want*121/100 || last-first < want/4 {
			t.Errorf("after %d polls %s to %s, want about %s", polls, first, last, want)
		}
	}
}

// Ask gives up a job at its time limit, with a charge, and ends it where the provider can.
func TestAskEndsAtItsTimeLimit(t *testing.T) {
	t.Parallel()
	var cancelled, polls atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/trigger"):
			_, _ = w.Write([]byte(`{"snapshot_id":"s"}`))
		case strings.HasSuffix(r.URL.Path, "/s/cancel"):
			cancelled.Add(1)
		default:
			polls.Add(1)
			_, _ = w.Write([]byte(`{"status":"running"}`))
		}
	}))
	t.Cleanup(server.Close)
	client, err := Open("gemini-web", []Account{accountAt("brightdata", server.URL), accountAt("cloro", server.URL)})
	if err != nil {
		t.Fatal(err)
	}
	limited, done := context.WithTimeout(t.Context(), askInterval+askInterval/4)
	defer done()
	_, err = client.Ask(limited, platform.Question{Text: "best tent?"})
	if e, ok := errors.AsType[*platform.Error](err); !ok || e.Class != platform.Timeout || polls.Load() != 1 ||
		cancelled.Load() != 1 {
		t.Errorf("%v after %d polls, cancelled %d times", err, polls.Load(), cancelled.Load())
	}
}

// After a job that failed the next provider is asked, and a job's answer is waited for.
func TestAskAfterAFailedJob(t *testing.T) {
	t.Parallel()
	var submitted atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := map[string]string{
			"POST /v1/queries": `{"id":"j"}`, "GET /v1/queries/j": `{"status":"faulted"}`,
			"POST /v1/async/task":  `{"task":{"id":"k"}}`,
			"GET /v1/async/task/k": `{"task":{"status":"COMPLETED"},"response":{"text":"Take it."}}`,
		}[r.Method+" "+r.URL.Path]
		if r.Method == http.MethodPost {
			submitted.Add(1)
		}
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(server.Close)
	client, err := Open("gemini-web", []Account{accountAt("oxylabs", server.URL), accountAt("cloro", server.URL)})
	if err != nil {
		t.Fatal(err)
	}
	reply, err := client.Ask(t.Context(), platform.Question{Text: "best tent?"})
	if err != nil || reply.Text != "Take it." || reply.Provider != "cloro" || submitted.Load() != 2 {
		t.Errorf("%+v, %v, %d submissions", reply, err, submitted.Load())
	}
}
