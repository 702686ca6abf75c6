package capture

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/internal/testkit/platformtest"
)

// step is one response of a provider, and the request that is to come before it: "GET /path?query body".
type step struct {
	request string
	status  int // 0 is 200
	answer  string
	header  map[string]string
}

// play is a server that expects requests in their order.
func play(t *testing.T, steps ...step) (address string, rest func() int) {
	t.Helper()
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		body, err := io.ReadAll(r.Body)
		got := strings.TrimSpace(r.Method + " " + r.URL.RequestURI() + " " + string(body))
		if len(steps) == 0 || err != nil || got != steps[0].request {
			t.Errorf("sent\n%s\n%+v", got, steps)
			w.WriteHeader(http.StatusTeapot)
			return
		}
		if user, _, ok := r.BasicAuth(); (!ok || user != "user") &&
			r.Header.Get("Authorization") != "Bearer user:"+platformtest.Key && r.URL.Query().Get("api_key") == "" {
			t.Errorf("%s: no key in %s", r.URL, r.Header)
		}
		for name, value := range steps[0].header {
			w.Header().Set(name, value)
		}
		if steps[0].status != 0 {
			w.WriteHeader(steps[0].status)
		}
		_, _ = w.Write([]byte(steps[0].answer)) // the client may be gone
		steps = steps[1:]
	}))
	t.Cleanup(server.Close)
	return server.URL, func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(steps)
	}
}

// newRequest returns a request of a surface at a provider.
func newRequest(t *testing.T, slug, name, address string) request {
	t.Helper()
	client, err := Open(slug, []Account{accountAt(name, address)})
	if err != nil {
		t.Fatal(err)
	}
	r, err := client.request(name, platform.Question{Text: "best tent & 5%?", Region: "us", Language: "de-AT"})
	if err != nil {
		t.Fatal(err)
	}
	r.id, r.notify = "run1", "https://t.example/callbacks/x/1"
	return r
}

const serpSearch = `GET /search.json?api_key=user%3Akey-hunter2-0123456789&engine=`

// Each request has the question as it is, and what the provider needs of the surface.
func TestSubmissions(t *testing.T) {
	for _, c := range []struct {
		provider, surface string
		step              step
		want              submission
	}{
		{"serpapi", "google-ai-mode",
			step{
				request: serpSearch + `google_ai_mode&gl=us&hl=de&no_cache=true&q=best+tent+%26+5%25%3F`, answer: `{}`,
			}, submission{payload: []byte(`{}`)}},
		{"serpapi", "bing-copilot",
			step{
				request: serpSearch + `bing_copilot&no_cache=true&q=best+tent+%26+5%25%3F`, answer: `{}`,
			}, submission{payload: []byte(`{}`)}},
		{"serpapi", "google-ai-overview",
			step{
				request: serpSearch + `google&gl=us&hl=de&no_cache=true&q=best+tent+%26+5%25%3F`,
				answer:  `{"ai_overview":{"text_blocks":[],"page_token":"a"}}`,
			},
			submission{payload: []byte(`{"ai_overview":{"text_blocks":[],"page_token":"a"}}`)}},
		{"oxylabs", "chatgpt-web", step{request: `POST /v1/queries {"callback_url":"https://t.example/callbacks/x/` +
			`1","geo_location":"United States","parse":true,"prompt":"best tent \u0026 5%?","source":"chatgpt"}`,
			status: 202, answer: `{"id":"7398","status":"pending"}`}, submission{jobID: "7398"}},
		{"oxylabs", "google-ai-overview", step{request: `POST /v1/queries {"callback_url":"https://t.example/` +
			`callbacks/x/1","geo_location":"US","parse":true,"query":"best tent \u0026 ` +
			`5%?","render":"html","source":"google_search"}`,
			status: 202, answer: `{"id":7398,"status":"pending"}`}, submission{jobID: "7398"}},
		{"cloro", "chatgpt-web", step{request: `POST /v1/async/task {"idempotencyKey":"run1","payload":{"country":` +
			`"US","include":{"markdown":true,"searchQueries":true},"prompt":"best tent \u0026 ` +
			`5%?"},"taskType":"CHATGPT","webhook":{"url":"https://t.example/callbacks/x/1"}}`,
			answer: `{"success":true,"task":{"id":"b1","status":"QUEUED"}}`}, submission{jobID: "b1"}},
		{"cloro", "chatgpt-shopping", step{request: `POST /v1/async/task {"idempotencyKey":"run1",` +
			`"payload":{"country":"US","include":{"markdown":true,"searchQueries":true,"shopping":true},` +
			`"legacy":true,"prompt":"best tent \u0026 5%?"},"taskType":"CHATGPT","webhook":{"url":"https://` +
			`t.example/callbacks/x/1"}}`,
			answer: `{"success":true,"task":{"id":"b1","status":"QUEUED"}}`}, submission{jobID: "b1"}},
		{"cloro", "google-ai-overview", step{request: `POST /v1/async/task {"idempotencyKey":"run1",` +
			`"payload":{"country":"US","include":{"aioverview":{"markdown":true},"markdown":true},"query":"best ` +
			`tent \u0026 5%?"},"taskType":"GOOGLE","webhook":{"url":"https://t.example/callbacks/x/1"}}`,
			answer: `{"success":true,"task":{"id":"b1","status":"QUEUED"}}`}, submission{jobID: "b1"}},
		{"brightdata", "chatgpt-web", step{request: `POST /datasets/v3/trigger?dataset_id=gd_m7aof0k82r803d5bjm&` +
			`format=json&include_errors=true&notify=https%3A%2F%2Ft.example%2Fcallbacks%2Fx%2F1 ` +
			`[{"country":"US","index":1,"prompt":"best tent \u0026 5%?","url":"https://chatgpt.com/",` +
			`"web_search":true}]`,
			answer: `{"snapshot_id":"s_1"}`}, submission{jobID: "s_1"}},
		{"brightdata", "copilot-web", step{request: `POST /datasets/v3/trigger?dataset_id=gd_m7di5jy6s9geokz8w&` +
			`format=json&include_errors=true&notify=https%3A%2F%2Ft.example%2Fcallbacks%2Fx%2F1 ` +
			`[{"country":"US","index":1,"prompt":"best tent \u0026 5%?","url":"https://copilot.microsoft.com/chats"}]`,
			answer: `{"snapshot_id":"s_1"}`}, submission{jobID: "s_1"}},
		{"brightdata", "google-ai-overview", step{request: `POST /request {"format":"raw","method":"GET",` +
			`"url":"https://www.google.com/` +
			`search?brd_ai_overview=2\u0026brd_json=1\u0026gl=us\u0026hl=de\u0026q=best+tent+%26+5%25%3F",` +
			`"zone":"serp1"}`,
			answer: `{}`}, submission{payload: []byte(`{}`)}},
	} {
		address, rest := play(t, c.step)
		r := newRequest(t, c.surface, c.provider, address)
		got, err := r.submit(t.Context(), r)
		if err != nil || got.jobID != c.want.jobID || string(got.payload) != string(c.want.payload) || rest() != 0 {
			t.Errorf("%s of %s: %+v, %v", c.surface, c.provider, got, err)
		}
	}
}

// Providers get a language and a country as they list them; a region that is no country is refused before it is sent.
func TestLanguagesAndCountries(t *testing.T) {
	sent := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // a short one is unlike what is wanted
		sent <- r.URL.RequestURI() + string(body)
		_, _ = w.Write([]byte(`{"id":"1"}`))
	}))
	t.Cleanup(server.Close)
	for _, c := range []struct{ provider, surface, language, region, want string }{
		{"serpapi", "google-ai-mode", "de-AT", "at", "&gl=at&hl=de&"}, {"serpapi", "google-ai-mode", "", "", "&hl=en&"},
		{"serpapi", "google-ai-mode", "zh", "cn", "&hl=zh-cn&"},
		{"serpapi", "google-ai-mode", "zh-TW", "tw", "&hl=zh-tw&"},
		{"serpapi", "google-ai-mode", "zh-HK", "hk", "&hl=zh-tw&"},
		{"serpapi", "google-ai-mode", "zh-Hant", "tw", "&hl=zh-tw&"},
		{"serpapi", "google-ai-mode", "pt-BR", "br", "&hl=pt-br&"},
		{"serpapi", "google-ai-mode", "pt-pt", "pt", "&hl=pt-pt&"},
		{"serpapi", "google-ai-mode", "pt-AO", "ao", "&hl=pt&"},
		{"serpapi", "google-ai-mode", "es-419", "mx", "&hl=es&"}, {"serpapi", "google-ai-mode", "he", "il", "&hl=iw&"},
		{"serpapi", "google-ai-mode", "nb-NO", "no", "&hl=no&"},
		{"dataforseo", "google-ai-mode", "de-AT", "at", `"language_code":"de","location_code":2040}`},
		{"dataforseo", "google-ai-mode", "", "", `"language_code":"en","location_code":2840}`},
		{"dataforseo", "google-ai-mode", "zh", "cn", `"language_name":"Chinese (Simplified)","location_code":2156}`},
		{"dataforseo", "google-ai-mode", "zh-TW", "tw",
			`"language_name":"Chinese (Traditional)","location_code":2158}`},
		{"dataforseo", "google-ai-mode", "he", "uk", `"language_code":"he","location_code":2826}`},
		{"oxylabs", "chatgpt-web", "", "hk", `"geo_location":"Hong Kong"`},
		{"oxylabs", "chatgpt-web", "", "ba", `"geo_location":"Bosnia and Herzegovina"`},
		{"oxylabs", "chatgpt-web", "", "ci", `"geo_location":"Côte dIvoire"`},
		{"oxylabs", "chatgpt-web", "", "de", `"geo_location":"Germany"`},
		{"oxylabs", "chatgpt-web", "", "uk", `"geo_location":"United Kingdom"`},
		{"oxylabs", "chatgpt-web", "", "", `{"callback_url":"c","parse":true,"prompt":"tent","source":"chatgpt"}`},
		{"oxylabs", "google-ai-mode", "", "hk", `"geo_location":"HK"`},
		{"cloro", "grok-web", "", "uk", `"country":"GB"`},
		{"oxylabs", "chatgpt-web", "", "europe", ""}, {"oxylabs", "google-ai-mode", "", "150", ""},
		{"dataforseo", "google-ai-mode", "", "zz", ""},
	} {
		client, err := Open(c.surface, []Account{accountAt(c.provider, server.URL)})
		if err != nil {
			t.Fatal(err)
		}
		q := platform.Question{Text: "tent", Language: c.language, Region: c.region}
		_, _, err = client.Submit(t.Context(), c.provider, q, uuid.Nil, "c")
		var request string
		if len(sent) > 0 {
			request = <-sent
		}
		if refused := strings.HasPrefix(fmt.Sprint(err), "invalid: region "); refused != (c.want == "") ||
			refused != (request == "") || !strings.Contains(request, c.want) {
			t.Errorf("%+v: sent %s, %v", c, request, err)
		}
	}
}

// A country that Oxylabs does not know is one for the next provider.
func TestUnknownCountryFailsOver(t *testing.T) {
	for answer, want := range map[string]platform.Class{
		`{"message":"geo_location: unsupported"}`: platform.Unavailable,
		`{"message":"prompt: too long"}`:          platform.Invalid,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = w.Write([]byte(answer))
		}))
		r := newRequest(t, "chatgpt-web", "oxylabs", server.URL)
		if _, err := r.submit(t.Context(), r); !strings.HasPrefix(fmt.Sprint(err), string(want)) {
			t.Errorf("%s: %v, want %s", answer, err, want)
		}
		server.Close()
	}
}

// No error shows a key or the token of a callback that a provider repeats in an answer, nor a whole page.
func TestFailuresShowNoSecret(t *testing.T) {
	token := strings.Repeat("0a", 32)
	echo := platformtest.Key + " https://t.example/callbacks/x/" + token + " " + strings.Repeat("page ", 500)
	for _, c := range []struct{ provider, surface, payload string }{
		{"cloro", "grok-web", `{"task":{"error":"` + echo + `"},"response":{}}`},
		{"brightdata", "gemini-web", `[{"error":"` + echo + `"}]`},
		{"dataforseo", "gemini-web", `{"tasks":[{"status_code":50000,"status_message":"` + echo + `"}]}`},
		{"serpapi", "bing-copilot", `{"error":"` + echo + `"}`},
		{"serpapi", "google-ai-overview",
			`{"search_metadata":{"status":"Success"},"ai_overview":{"error":"` + echo + `"}}`},
		{"oxylabs", "gemini-web", `{"message":"` + echo + `"}`},
	} {
		_, err := reader(t, c.surface, c.provider)([]byte(c.payload))
		text := fmt.Sprint(err)
		if !strings.HasPrefix(text, "unavailable") || !strings.Contains(text, "page page") ||
			strings.Contains(text, platformtest.Key) || strings.Contains(text, token) || len(text) > 600 {
			t.Errorf("%s: %s", c.provider, text)
		}
	}
}

// A deferred overview is fetched at once with its token, and is a second page.
func TestDeferredOverviewIsASecondPage(t *testing.T) {
	first := step{
		request: serpSearch + `google&gl=us&hl=de&no_cache=true&q=best+tent+%26+5%25%3F`,
		answer:  `{"ai_overview":{"page_token":"a/b"}}`,
	}
	second := step{
		request: serpSearch + `google_ai_overview&no_cache=true&page_token=a%2Fb`, answer: `{"ai_overview":{}}`,
	}
	address, rest := play(t, first, second)
	r := newRequest(t, "google-ai-overview", "serpapi", address)
	if got, err := r.submit(t.Context(), r); err != nil || got.pages != 2 ||
		string(got.payload) != second.answer || rest() != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// A refusal has its class, and shows no key though the provider repeats it.
func TestRefusals(t *testing.T) {
	for _, o := range []struct{ provider, surface string }{
		{"serpapi", "bing-copilot"}, {"oxylabs", "chatgpt-web"}, {"cloro", "grok-web"}, {"brightdata", "gemini-web"},
		{"brightdata", "google-ai-overview"},
	} {
		gone := map[string]platform.Class{
			"serpapi": platform.Unavailable, "oxylabs": platform.Invalid, "cloro": platform.Invalid,
			"brightdata": platform.Invalid,
		}
		for _, c := range []struct {
			status int
			answer string
			class  platform.Class
			again  float64
		}{
			{400, `{"error":"no such engine"}`, platform.Invalid, 0},
			{401, `{"error":"Invalid key user:` + platformtest.Key + `"}`, platform.Auth, 0},
			{402, "", platform.Quota, 0},
			{403, "", platform.Auth, 0}, {410, "", gone[o.provider], 0},
			{422, `{"error":{"code":"X","message":"no"}}`, platform.Invalid, 0},
			{429, `{"error":"busy"}`, platform.RateLimited, 7},
			{403, `{"success":false,"error":{"code":"INSUFFICIENT_CREDITS","message":"Insufficient credits"}}`,
				platform.Quota, 0},
			{409, `{"success":false,"error":{"code":"RESOURCE_ALREADY_EXISTS","message":"Task already ` +
				`exists","details":{"field":"idempotencyKey","value":"run1"}}}`, platform.Timeout, 0},
			{500, "", platform.Unavailable, 7}, {503, "<html>", platform.Unavailable, 7},
			{302, "", platform.Invalid, 0},
		} {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Location", "https://elsewhere.example/")
				if c.again > 0 {
					w.Header().Set("Retry-After", "7")
				}
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.answer))
			}))
			r := newRequest(t, o.surface, o.provider, server.URL)
			_, err := r.submit(t.Context(), r)
			e, ok := errors.AsType[*platform.Error](err)
			if c.class == platform.RateLimited && o.provider == "brightdata" {
				c.again = brightData.minPause.Seconds()
			}
			if !ok || e.Class != c.class || e.RetryAfter.Seconds() != c.again ||
				strings.Contains(err.Error(), platformtest.Key) {
				t.Errorf("%s, %d: %v, want %s", o.provider, c.status, err, c.class)
			}
			server.Close()
		}
	}
	address, _ := play(t, step{
		request: serpSearch + `bing_copilot&no_cache=true&q=best+tent+%26+5%25%3F`, status: 429,
		answer: `{"error":"Your account has run out of searches."}`,
	})
	r := newRequest(t, "bing-copilot", "serpapi", address)
	if _, err := r.submit(t.Context(), r); !strings.HasPrefix(err.Error(), string(platform.Quota)) {
		t.Errorf("%v, want quota", err)
	}
}

// A submission that is accepted without a job is of a changed shape.
func TestSubmissionsWithoutAJob(t *testing.T) {
	for _, o := range []struct{ provider, surface string }{
		{"oxylabs", "chatgpt-web"}, {"cloro", "grok-web"}, {"brightdata", "gemini-web"},
	} {
		for answer, class := range map[string]platform.Class{
			`{}`: platform.ChangedShape, `[]`: platform.ChangedShape, `<html>`: platform.ChangedShape,
			`{"task":{"id":true}}`: platform.ChangedShape,
		} {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = w.Write([]byte(answer))
			}))
			r := newRequest(t, o.surface, o.provider, server.URL)
			if got, err := r.submit(t.Context(), r); err == nil || !strings.HasPrefix(err.Error(), string(class)) ||
				got.jobID != "" {
				t.Errorf("%s, %s: %+v, %v", o.provider, answer, got, err)
			}
			server.Close()
		}
	}
}

// readyBrightData are the polls of a job that is ready, of whose records this comes.
func readyBrightData(snapshot step) []step {
	snapshot.request = "GET /datasets/v3/snapshot/j%2F1?format=json"
	return []step{{request: "GET /datasets/v3/progress/j%2F1", answer: `{"status":"ready"}`}, snapshot}
}

// Each response to a poll is a state; what cannot be read of a job that goes on is no end of it.
func TestPolls(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps []step
		state state
		want  string // payload, or class
	}{
		{"oxylabs", []step{{request: "GET /v1/queries/j%2F1", answer: `{"status":"pending"}`}}, queued, ""},
		{"oxylabs", []step{{request: "GET /v1/queries/j%2F1", status: 204}}, running, ""},
		{"oxylabs", []step{{request: "GET /v1/queries/j%2F1", answer: `{"status":"done"}`},
			{request: "GET /v1/queries/j%2F1/results", status: 204}}, running, ""},
		{"oxylabs", []step{{request: "GET /v1/queries/j%2F1", answer: `{"status":"done"}`},
			{request: "GET /v1/queries/j%2F1/results", answer: `{"results":[]}`}}, ready, `{"results":[]}`},
		{"oxylabs", []step{{request: "GET /v1/queries/j%2F1", answer: `{"status":"faulted"}`}}, failed, "unavailable"},
		{"oxylabs", []step{{request: "GET /v1/queries/j%2F1", status: 503}}, running, "unavailable"},
		{"oxylabs", []step{{request: "GET /v1/queries/j%2F1", status: 429,
			header: map[string]string{"Retry-After": "9"}}}, running, "rate_limited (again after 9s)"},
		{"oxylabs", []step{{request: "GET /v1/queries/j%2F1", answer: `<html>`}}, running, "changed_shape"},
		{"cloro", []step{{request: "GET /v1/async/task/j%2F1", answer: `{"task":{"status":"QUEUED"}}`}}, queued, ""},
		{"cloro", []step{{request: "GET /v1/async/task/j%2F1", answer: `{"task":{"status":"SCHEDULED"}}`}}, queued, ""},
		{"cloro", []step{{request: "GET /v1/async/task/j%2F1", answer: `{"task":{"status":"PROCESSING"}}`}}, running,
			""},
		{"cloro", []step{{request: "GET /v1/async/task/j%2F1", answer: `{"task":{"status":"NEW_STATE"}}`}}, running,
			""},
		{"cloro", []step{{request: "GET /v1/async/task/j%2F1", answer: `{"task":{"status":"COMPLETED"}}`}}, ready,
			`{"task":{"status":"COMPLETED"}}`},
		{"cloro", []step{{request: "GET /v1/async/task/j%2F1",
			answer: `{"task":{"status":"FAILED","error":"blocked"}}`}}, failed,
			"unavailable: the job is FAILED: blocked"},
		{"brightdata", []step{{request: "GET /datasets/v3/progress/j%2F1", answer: `{"status":"starting"}`}}, queued,
			""},
		{"brightdata", []step{{request: "GET /datasets/v3/progress/j%2F1", answer: `{"status":"digesting"}`}}, running,
			""},
		{"brightdata", []step{{request: "GET /datasets/v3/progress/j%2F1", status: 204}}, running, ""},
		{"brightdata", []step{{request: "GET /datasets/v3/progress/j%2F1", status: 503}}, running, "unavailable"},
		{"brightdata", []step{{request: "GET /datasets/v3/progress/j%2F1", answer: `<html>`}}, running,
			"changed_shape"},
		{"brightdata", readyBrightData(step{status: 204}), running, ""},
		{"cloro", []step{{request: "GET /v1/async/task/j%2F1", status: 204}}, running, ""},
		{"cloro", []step{{request: "GET /v1/async/task/j%2F1", status: 503}}, running, "unavailable"},
		{"cloro", []step{{request: "GET /v1/async/task/j%2F1", answer: `<html>`}}, running, "changed_shape"},
		{"brightdata", []step{{request: "GET /datasets/v3/progress/j%2F1", status: 429}}, running,
			"rate_limited (again after 60s)"},
		{"brightdata", []step{{request: "GET /datasets/v3/progress/j%2F1", answer: `{"status":"cancelled"}`}}, failed,
			"unavailable"},
		{"brightdata", []step{{request: "GET /datasets/v3/progress/j%2F1", answer: `{"status":"ready"}`},
			{request: "GET /datasets/v3/snapshot/j%2F1?format=json", answer: `[{}]`}}, ready, `[{}]`},
		{"brightdata", readyBrightData(step{status: 500}), running, "unavailable"},
		{"brightdata", readyBrightData(step{status: 429}), running, "rate_limited (again after 60s)"},
		{"brightdata", readyBrightData(step{status: 202,
			answer: `{"status":"running","message":"Snapshot is not ready yet, try again in 10s"}`}), running, ""},
		{"brightdata", readyBrightData(step{status: 202, answer: "Snapshot is not ready yet"}), running, ""},
		{"brightdata", readyBrightData(step{answer: `{"status":"building","message":"not ready"}`}), running, ""},
		{"brightdata", readyBrightData(step{answer: "Snapshot is not ready yet"}), running, ""},
		{"brightdata", readyBrightData(step{answer: `{"status":"failed","error":"blocked"}`}), ready,
			`{"status":"failed","error":"blocked"}`},
		{"brightdata", readyBrightData(step{answer: `{"status":"x","answer_text":"Take it."}`}), ready,
			`{"status":"x","answer_text":"Take it."}`},
	} {
		address, rest := play(t, c.steps...)
		surface := map[string]string{"oxylabs": "chatgpt-web", "cloro": "grok-web", "brightdata": "gemini-web"}[c.name]
		r := newRequest(t, surface, c.name, address)
		payload, state, err := r.fetch(t.Context(), "j/1")
		got := string(payload)
		if err != nil {
			got = err.Error()
		}
		if state != c.state || !strings.HasPrefix(got, c.want) || c.want == "" && got != "" || rest() != 0 {
			t.Errorf("%s, %+v: state %d, %q", c.name, c.steps, state, got)
		}
	}
	address, rest := play(t, step{request: "POST /datasets/v3/snapshot/j%2F1/cancel {}"})
	client, err := Open("gemini-web", []Account{accountAt("brightdata", address)})
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Cancel(t.Context(), Job{"brightdata", "j/1"}); err != nil || rest() != 0 {
		t.Error(err)
	}
}
