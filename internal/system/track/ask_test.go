package track

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gofrs/uuid/v5"
	"golang.org/x/tools/txtar"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform/catalog"
	"github.com/answerscope/answerscope/internal/system/run"
)

// platformAt is the environment of a platform whose place a server takes that answers with a payload.
func platformAt(t *testing.T, slug string, answer http.HandlerFunc) []string {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	name := "ANSWERSCOPE_PLATFORM_" + strings.ToUpper(slug)
	return []string{name + "_API_KEY=" + askKey, name + "_BASE_URL=" + server.URL + "/"}
}

const askKey = "key-hunter2"

// payload is what a platform answered in a case of its conformance test.
func payload(t *testing.T, slug, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../../ingest/platform/catalog/testdata/" + slug + "/" + name + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	return string(txtar.Parse(text).Files[0].Data)
}

func bodyOf(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }
}

// Every platform's answer becomes a record of no organization, brand or prompt, without an engine.
func TestAskPrintsTheRecord(t *testing.T) {
	t.Parallel()
	for slug, of := range map[string]string{
		"openai": "answer", "anthropic": "answer", "gemini": "two_parts", "perplexity": "answer", "xai": "answer",
		"mistral": "answer",
	} {
		t.Run(slug, func(t *testing.T) {
			t.Parallel()
			env := append(platformAt(t, slug, bodyOf(payload(t, slug, of))),
				"ANSWERSCOPE_DATA_DIR="+t.TempDir()+"/none")
			r := run.ToEnd(t, env, "", "ask", "--platform", slug, "--prompt", "best tent?", "--region", "US", "--json")
			var a event.Answer
			if err := json.Unmarshal([]byte(r.Stdout), &a); err != nil || r.Status != run.ExitDone {
				t.Fatalf("status %d, %s%s: %v", r.Status, r.Stdout, r.Stderr, err)
			}
			if a.OrganizationID != uuid.Nil || a.Brand.ID != uuid.Nil || a.Prompt.ID != uuid.Nil || a.ID == uuid.Nil ||
				a.Prompt.Text != "best tent?" {
				t.Errorf("ids of %+v", a)
			}
			if a.Platform != slug || a.Region != "us" || a.Surface != event.SurfaceAPI || a.Simulated ||
				a.Attempts != 1 || a.Sample != 1 || a.Model == "" {
				t.Errorf("circumstances of %+v", a)
			}
			if a.Text == "" || a.ServedModel == "" || a.Usage == nil || len(a.Citations) == 0 || !a.Citations[0].Cited {
				t.Errorf("answer of %+v", a)
			}
		})
	}
}

func TestAskShowsHowAnAnswerIsRead(t *testing.T) {
	t.Parallel()
	env := platformAt(t, "openai", bodyOf(payload(t, "openai", "answer")))
	r := run.ToEnd(t, env, "", "ask", "openai", "best", "tent?", "--brand", "Fernwood", "--brand", "Altrek",
		"--brand", "Pinecrest")
	rest := r.Stdout
	for _, want := range []string{
		"Ich suche nach Zelten.\n\nFür Anfänger", "Altrek ist günstiger.\n",
		"Fernwood   position 1, mentions 2\n", "Altrek     position 2, mentions 1\n", "Pinecrest  not mentioned\n",
		"cited", "https://fernwood.example/two", "consulted", "https://tests.example/tents",
		"searched   best two-person tent\n", "model      gpt-5.4, served gpt-5.4-2026-03-05\n",
		"finish     complete after ",
		"usage      10240 tokens in, 512 out, 2 searches\n", "cost       0.053280 USD\n",
	} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("stdout lacks %q after what comes before it:\n%s", want, r.Stdout)
		}
		rest = after
	}
}

// A capture names its provider and cost, also where no overview was shown, and an invented answer says so. The prompt
// may be an argument beside --platform.
func TestAskNamesWhoCaptured(t *testing.T) {
	t.Parallel()
	page := payload(t, "../../capture/testdata/serpapi/google-ai-overview", "not_shown")
	for args, pattern := range map[string]string{
		"google-ai-overview": `^no overview was shown\n\nprovider  serpapi\nfinish    not_shown after \S+ ` +
			`s\ncost      0.025000 USD\n$`,
		"--platform simulator": `(?s)^\[Simulated answer.*\nsimulated  no platform was asked\nmodel `,
	} {
		r := run.ToEnd(t, platformAt(t, "serpapi", bodyOf(page)), "",
			append([]string{"ask"}, append(strings.Fields(args), "best", "tent?")...)...)
		if !regexp.MustCompile(pattern).MatchString(r.Stdout) || r.Status != run.ExitDone {
			t.Errorf("%s: status %d, %s%s", args, r.Status, r.Stdout, r.Stderr)
		}
	}
}

// --raw prints a payload as it was sent, also one that cannot be read.
func TestAskPrintsThePayload(t *testing.T) {
	t.Parallel()
	answer := payload(t, "openai", "answer")
	for _, c := range []struct {
		env            []string
		platform, want string
		isRead         bool
	}{
		{platformAt(t, "openai", bodyOf(answer)), "openai", answer, true},
		{platformAt(t, "serpapi", bodyOf(`{"renamed":[]}`)), "bing-copilot", `{"renamed":[]}`, false},
	} {
		r := run.ToEnd(t, c.env, "", "ask", "--platform", c.platform, "--prompt", "best tent?", "--raw")
		if strings.TrimSpace(r.Stdout) != strings.TrimSpace(c.want) || (r.Status == 0) != c.isRead {
			t.Errorf("%s: status %d, %s%s", c.platform, r.Status, r.Stdout, r.Stderr)
		}
	}
}

// What a platform returns does nothing to a terminal, and its JSON is whole.
func TestAskShowsControlsAsEscapes(t *testing.T) {
	t.Parallel()
	const clipboard = `\u001b]52;c;cm0=\u0007`
	text := strings.NewReplacer("Zelten.", "Zelten."+clipboard, "best two-person tent",
		"best"+clipboard+"tent").Replace(payload(t, "openai", "answer"))
	env := append(platformAt(t, "openai", bodyOf(text)),
		platformAt(t, "mistral", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"detail":"No account`+clipboard+`"}`)
		})...)
	for args, want := range map[string][2]string{ // in stdout and stderr
		"--platform openai":        {`Zelten.` + clipboard + "\n\n", ""},
		"--platform openai --json": {`Zelten.\u001b]52;c;cm0=\u0007\n\n`, ""},
		"--platform mistral":       {"", "No account" + clipboard},
	} {
		r := run.ToEnd(t, env, "", append([]string{"ask", "--prompt", "best tent?"}, strings.Fields(args)...)...)
		if strings.ContainsAny(r.Stdout+r.Stderr, "\x1b\a") || !strings.Contains(r.Stdout, want[0]) ||
			!strings.Contains(r.Stderr, want[1]) {
			t.Errorf("%s: %q, %q", args, r.Stdout, r.Stderr)
		}
	}
}

// A failure prints nothing on stdout, and its last line on stderr says the class.
func TestAskSaysWhatFailed(t *testing.T) {
	t.Parallel()
	refuse := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "90")
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}
	}
	hang := func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // a server notices that its client is gone once it has read the body
		<-r.Context().Done()
	}
	for _, c := range []struct {
		env    []string
		args   string
		status int
		want   string // end of stderr
	}{
		{platformAt(t, "openai", refuse(429, `{"error":{"message":"Rate limit reached"}}`)), "openai", run.ExitFailed,
			"answerscope: openai: rate_limited (again after 90s): status 429: Rate limit reached\n"},
		{platformAt(t, "mistral", refuse(401, `{"detail":"No account has `+askKey+`"}`)), "mistral", run.ExitFailed,
			"answerscope: mistral: auth (again after 90s): status 401: No account has ****\n"},
		{platformAt(t, "gemini", bodyOf(payload(t, "gemini", "blocked"))), "gemini", run.ExitFailed,
			"answerscope: gemini: content_filtered: the prompt is blocked: PROHIBITED_CONTENT\n"},
		{platformAt(t, "anthropic", bodyOf(`{"type":"message","contents":[]}`)), "anthropic", run.ExitFailed,
			"answerscope: anthropic: changed_shape: the answer has no field content\n"},
		{platformAt(t, "perplexity", hang), "perplexity --timeout 200ms", run.ExitFailed,
			"answerscope: perplexity: timeout: no answer came within the time limit\n"},
		{nil, "simulator another prompt", run.ExitUsage, "answerscope: unexpected argument \"another\" beside " +
			"--prompt\nrun \"answerscope ask --help\" for its flags and an example\n"},
		{nil, "google-ai", run.ExitUsage, "answerscope: platform \"google-ai\" is unknown: want one of " +
			catalog.Slugs() + "\n"},
		{[]string{"ANSWERSCOPE_PLATFORM_SERPAPI_API_KEY=" + askKey}, "serpapi", run.ExitUsage,
			"answerscope: serpapi captures surfaces: want one of these, such as google-ai-overview\n"},
		{nil, "bing-copilot", run.ExitFailed, "answerscope: bing-copilot: auth: " +
			"ANSWERSCOPE_PLATFORM_SERPAPI_API_KEY is missing: want the API key of an account at a provider that " +
			"captures Bing Copilot Search\n"},
		{[]string{"ANSWERSCOPE_PLATFORM_OXYLABS_API_KEY=" + askKey}, "chatgpt-web", run.ExitUsage,
			"answerscope: ANSWERSCOPE_PLATFORM_OXYLABS_API_KEY: want user:password\n"},
		{[]string{"ANSWERSCOPE_PLATFORM_GROK_WEB_PROVIDERS=serpapi"}, "grok-web", run.ExitUsage,
			"answerscope: ANSWERSCOPE_PLATFORM_GROK_WEB_PROVIDERS: \"serpapi\": want some of cloro, each once, " +
				"such as cloro\n"},
		{append(platformAt(t, "serpapi", refuse(401, `{"error":"Invalid API key: `+askKey+`"}`)),
			"ANSWERSCOPE_PLATFORM_GOOGLE_AI_MODE_PROVIDERS=serpapi"), "google-ai-mode", run.ExitFailed,
			"answerscope: google-ai-mode: auth (again after 90s): status 401: Invalid API key: ****\n"},
		{nil, "xai", run.ExitFailed, "answerscope: xai: auth: ANSWERSCOPE_PLATFORM_XAI_API_KEY is missing: " +
			"want the API key of an account at xAI\n"},
		{nil, "simulator --model x", run.ExitUsage, "answerscope: model \"x\" of simulator is unknown: " +
			"want one of sim-atlas, sim-borealis, sim-cirrus, sim-dorado, " +
			"or name it in ANSWERSCOPE_PLATFORM_<NAME>_MODELS\n"},
		{nil, "simulator --region usa", run.ExitUsage,
			"answerscope: --region \"usa\": want a country of ISO 3166-1, such as us\n"},
	} {
		t.Run(c.args, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"ask", "--prompt", "best tent?", "--platform"}, strings.Fields(c.args)...)
			r := run.ToEnd(t, c.env, "", args...)
			if r.Status != c.status || r.Stdout != "" || !strings.HasSuffix(r.Stderr, c.want) ||
				strings.Contains(r.Stderr, askKey) {
				t.Errorf("status %d, %q on stdout, on stderr\n%s\nwant\n%s", r.Status, r.Stdout, r.Stderr, c.want)
			}
		})
	}
}

// The models of the environment replace the platform's: the first is asked, and the others may be.
func TestAskTakesTheModelsOfTheEnvironment(t *testing.T) {
	t.Parallel()
	var asked []string
	env := append(platformAt(t, "mistral", func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Model string }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		asked = append(asked, body.Model)
		fmt.Fprint(w, payload(t, "mistral", "plain"))
	}), "ANSWERSCOPE_PLATFORM_MISTRAL_MODELS=mistral-next, mistral-small-latest")
	run.Must(t, env, "ask", "--platform", "mistral", "--prompt", "best tent?")
	run.Must(t, env, "ask", "--platform", "mistral", "--prompt", "best tent?", "--model", "mistral-small-latest")
	if !slices.Equal(asked, []string{"mistral-next", "mistral-small-latest"}) {
		t.Errorf("asked %q", asked)
	}
	if r := run.ToEnd(t, env, "", "ask", "--platform", "mistral", "--prompt", "best tent?",
		"--model", "mistral-medium-latest"); r.Status != run.ExitUsage {
		t.Errorf("a model that is not listed: status %d, %s", r.Status, r.Stderr)
	}
}
