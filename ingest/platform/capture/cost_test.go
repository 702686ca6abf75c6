package capture

import (
	"errors"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/platform"
)

// responses answers requests whose paths and parameters contain a text, with a status and a body.
type responses []struct {
	part   string
	status int
	body   string
}

func (list responses) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for _, response := range list {
		if strings.Contains(r.Method+" "+r.URL.RequestURI(), response.part) {
			w.Header().Set("Retry-After", "2592000")
			w.WriteHeader(response.status)
			_, _ = w.Write([]byte(response.body))
			return
		}
	}
	w.WriteHeader(http.StatusTeapot)
}

func openCapture(t *testing.T, slug, provider string, list responses) *Client {
	t.Helper()
	server := httptest.NewServer(list)
	t.Cleanup(server.Close)
	client, err := Open(slug, []Account{accountAt(provider, server.URL)})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// A failure costs the pages that were delivered, and one whose delivery is not known. What is refused costs nothing.
func TestFailuresSayWhatTheyCost(t *testing.T) {
	const deferred = `{"search_metadata":{"status":"Success"},"search_parameters":{"engine":"google"},` +
		`"ai_overview":{"page_token":"a"}}`
	for name, c := range map[string]struct {
		surface, provider string
		list              responses
		class             platform.Class
		cost              string
	}{
		"an overview was begun": {overview, "serpapi",
			responses{{"engine=google&", 200, strings.Replace(deferred, `"page_token":"a"`, `"error":"no"`, 1)}},
			platform.Unavailable, "0.025"},
		"a second page is refused": {overview, "serpapi",
			responses{{"engine=google&", 200, deferred}, {"engine=google_ai", 503, ""}}, platform.Unavailable, "0.025"},
		"a second page has no answer": {overview, "serpapi",
			responses{{"engine=google&", 200, deferred}, {"engine=google_ai", 200, deferred}},
			platform.Unavailable, "0.05"},
		"a second page is rate limited": {overview, "serpapi",
			responses{{"engine=google&", 200, deferred}, {"engine=google_ai", 429, ""}}, platform.RateLimited, "0.025"},
		"the first page is refused": {overview, "serpapi", responses{{"engine=google&", 429, ""}},
			platform.RateLimited, ""},
		"a page is no JSON": {"bing-copilot", "serpapi", responses{{"GET", 200, "<html>"}},
			platform.ChangedShape, "0.025"},
		"a second page has failed": {overview, "serpapi",
			responses{
				{"engine=google&", 200, deferred},
				{"engine=google_ai", 200, `{"search_metadata":{"status":"Error"},"error":"no"}`},
			}, platform.Unavailable, "0.025"},
		"a search has failed": {"bing-copilot", "serpapi",
			responses{{"GET", 200, `{"search_metadata":{"status":"Error"},"error":"no"}`}}, platform.Unavailable, ""},
		"a search has no results": {"bing-copilot", "serpapi",
			responses{{"GET", 200,
				`{"search_metadata":{"status":"Success"},"error":"Bing hasn't returned any results"}`}},
			platform.Unavailable, "0.025"},
		"a record is an error": {overview, "brightdata", responses{{"POST", 200, `{"error":"blocked"}`}},
			platform.Unavailable, "0.0015"},
		"a task is refused": {"chatgpt-web", "dataforseo",
			responses{{"POST", 200, `{"tasks":[{"status_code":40200}]}`}}, platform.Quota, ""},
		"a task has failed": {"chatgpt-web", "dataforseo",
			responses{{"POST", 200, `{"tasks":[{"status_code":50000,"cost":0}]}`}}, platform.Unavailable, ""},
		"a failed task is billed": {"google-ai-mode", "dataforseo",
			responses{{"POST", 200, `{"tasks":[{"status_code":40102,"cost":0.002}]}`}}, platform.Unavailable, "0.002"},
		"a refused task is billed": {"chatgpt-web", "dataforseo",
			responses{{"POST", 200, `{"tasks":[{"status_code":40501,"cost":0.002}]}`}}, platform.Invalid, "0.002"},
		"a task names no sum": {"chatgpt-web", "dataforseo",
			responses{{"POST", 200, `{"tasks":[{"status_code":50000,"cost":-1}]}`}}, platform.Unavailable, "0.004"},
		"an idempotency key is used": {"chatgpt-web", "cloro",
			responses{{"POST", 409, `{"error":{"code":"RESOURCE_ALREADY_EXISTS"}}`}}, platform.Timeout, "0.0056"},
		"a job has no id": {"chatgpt-web", "oxylabs", responses{{"POST", 202, `{}`}},
			platform.ChangedShape, "0.0016"},
		"a job's id has a zero": {"chatgpt-web", "oxylabs", responses{{"POST", 202, `{"id":"a\u0000"}`}},
			platform.ChangedShape, "0.0016"},
		"a job's id is long": {"chatgpt-web", "oxylabs",
			responses{{"POST", 202, `{"id":"` + strings.Repeat("a", 513) + `"}`}}, platform.ChangedShape, "0.0016"},
	} {
		client := openCapture(t, c.surface, c.provider, c.list)
		_, _, err := client.Submit(t.Context(), c.provider, platform.Question{Text: "best tent"}, uuid.Nil, "")
		failure, ok := errors.AsType[*platform.Error](err)
		if !ok || failure.Class != c.class || !sameAmount(failure.CostUSD, c.cost) {
			t.Errorf("%s: %+v, want %s at %q", name, err, c.class, c.cost)
			continue
		}
		if failure.Class == platform.RateLimited && failure.Allowance.ClosedFor != maxClosed { // 30 days are asked for
			t.Errorf("%s: closed for %s", name, failure.Allowance.ClosedFor)
		}
	}
}

func sameAmount(a, b string) bool {
	x, isX := new(big.Rat).SetString(a)
	y, isY := new(big.Rat).SetString(b)
	return isX == isY && (!isX || x.Cmp(y) == 0)
}

// Only a failed job, a payload and the loss of the key end a job. After anything else it is polled again, within ten
// minutes.
func TestWhatEndsAJob(t *testing.T) {
	const done = `{"status":"done"}`
	for name, c := range map[string]struct {
		list  responses
		ended bool
		lost  platform.Class
		cost  string
	}{
		"not found":  {responses{{"GET", 404, ""}}, false, platform.Invalid, ""},
		"redirected": {responses{{"GET", 302, ""}}, false, platform.Invalid, ""},
		"refused":    {responses{{"GET", 401, ""}}, false, platform.Auth, ""},
		"no money":   {responses{{"GET", 402, ""}}, false, platform.Quota, ""},
		"a page":     {responses{{"GET", 200, "<html>"}}, false, platform.ChangedShape, ""},
		"busy":       {responses{{"GET", 429, ""}}, false, platform.RateLimited, ""},
		"no result":  {responses{{"/results", 500, ""}, {"GET", 200, done}}, false, platform.Unavailable, ""},
		"failed":     {responses{{"GET", 200, `{"status":"faulted"}`}}, true, "", ""},
		// 5xx and 6xx are not billed
		"an error result": {responses{{"/results", 200, `{"results":[{"content":{},"status_code":613}]}`},
			{"GET", 200, done}}, true, "", ""},
		"a page is gone": {responses{{"/results", 200, `{"results":[{"content":{},"status_code":404}]}`},
			{"GET", 200, done}}, true, "", "0.0016"},
	} {
		client := openCapture(t, "chatgpt-web", "oxylabs", c.list)
		_, progress, err := client.Poll(t.Context(), Job{"oxylabs", "1"}, platform.Question{Text: "best tent"})
		var class platform.Class
		if progress.Lost != nil {
			class = progress.Lost.Class
		}
		failure, failed := errors.AsType[*platform.Error](err)
		if progress.Ended != c.ended || failed != c.ended || class != c.lost ||
			failed && !sameAmount(failure.CostUSD, c.cost) {
			t.Errorf("%s: %+v, %+v", name, progress, err)
		}
		if delay := PollDelay(0, progress); delay <= 0 || delay > 10*time.Minute {
			t.Errorf("%s: the next poll is after %s", name, delay)
		}
	}
	client := openCapture(t, "chatgpt-web", "cloro",
		responses{{"GET", 200, `{"task":{"status":"COMPLETED"},"response":{"error":{"code":"TIMEOUT"}},` +
			`"credits":{"creditsCharged":0}}`}})
	_, _, err := client.Poll(t.Context(), Job{"cloro", "1"}, platform.Question{})
	if failure, ok := errors.AsType[*platform.Error](err); !ok || failure.CostUSD != "" {
		t.Errorf("an error without credits: %+v", err)
	}
	client = openCapture(t, "chatgpt-web", "oxylabs", nil)
	_, progress, err := client.Poll(t.Context(), Job{"cloro", "1"}, platform.Question{})
	if failure, ok := errors.AsType[*platform.Error](err); !ok || !progress.Ended ||
		!sameAmount(failure.CostUSD, "0.0056") {
		t.Errorf("without a key: %+v, %+v", progress, err)
	}
}

// The highest price counts the second page of a deferred overview.
func TestHighestPrice(t *testing.T) {
	for provider, want := range map[string]string{"serpapi": "50", "oxylabs": "1.6", "brightdata": "5"} {
		slug := overview
		if provider == "brightdata" {
			slug = "perplexity-web"
		}
		accounts := []Account{{Provider: "oxylabs"}, {Provider: provider}}
		if price := HighestPrice(slug, accounts); !sameAmount(price.PerThousandRequests, want) {
			t.Errorf("%s: %+v, want %s", provider, price, want)
		}
	}
}
