package notify

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/answerscope/answerscope/internal/egress"
	"github.com/answerscope/answerscope/internal/secret"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/sql/postgres"
)

const clients = "../../queryapi/auth/testdata"

func newSender(t *testing.T) *Sender {
	t.Helper()
	client, err := egress.New([]string{"127.0.0.1/32"})
	if err != nil {
		t.Fatal(err)
	}
	ring, err := secret.ParseRing("k1:" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("k"), 32)))
	if err != nil {
		t.Fatal(err)
	}
	return &Sender{Client: client, Ring: ring, PublicURL: "https://answers.example", Version: "1.2.3"}
}

// secretOf is a secret of a webhook whose key is one byte, again and again.
func secretOf(fill string) string {
	return "whsec_" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat(fill, 32)))
}

func (s *Sender) delivery(kind, url, event string, data any, secrets ...string) postgres.Delivery {
	endpoint := uuid.Must(uuid.NewV4())
	text, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	d := postgres.Delivery{
		ID: uuid.Must(uuid.NewV4()), EventID: uuid.Must(uuid.NewV4()), OrganizationID: uuid.Must(uuid.NewV4()),
		EndpointID: endpoint,
		Kind:       kind, URL: url, Type: event, Data: text, At: time.Date(2026, 11, 23, 6, 7, 40, 0, time.UTC),
	}
	for _, plain := range secrets {
		d.Secrets = append(d.Secrets, s.Ring.Seal([]byte(plain), endpoint.String()))
	}
	return d
}

// description is /api/openapi.json as receivers read it.
type description struct {
	Webhooks map[string]struct {
		Post struct {
			RequestBody struct {
				Content map[string]struct {
					Example struct {
						Type string
						URL  string
						Data json.RawMessage
					}
				}
			}
		}
	}
}

func (d description) data(t *testing.T, event string) json.RawMessage {
	t.Helper()
	data := d.Webhooks[event].Post.RequestBody.Content["application/json"].Example.Data
	if len(data) == 0 {
		t.Fatalf("%s has no example", event)
	}
	return data
}

func readDescription(t *testing.T) (d description, validate func(event string, body []byte) error) {
	t.Helper()
	text, err := os.ReadFile("../../queryapi/auth/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource("file:///openapi.json", document); err != nil {
		t.Fatal(err)
	}
	return d, func(event string, body []byte) error {
		schema, err := compiler.Compile("file:///openapi.json#/webhooks/" + event +
			"/post/requestBody/content/application~1json/schema")
		if err != nil {
			return err
		}
		message, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
		if err != nil {
			return err
		}
		return schema.Validate(message)
	}
}

// A verification is what a receiver's library is given.
type verification struct {
	Name    string            `json:"name"`
	Secret  string            `json:"secret"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	Holds   bool              `json:"holds"`
}

// Every type is posted as the description has it, and the libraries of receivers verify it: with both secrets while one
// is rotated, neither with an older one, nor with a changed byte, nor when it is six minutes old.
func TestReceiversVerifyEveryType(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	described, validate := readDescription(t)
	var got verification
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" ||
			r.Header.Get("User-Agent") != "answerscope/1.2.3" {
			t.Errorf("%s %v: %v", r.Method, r.Header, err)
		}
		got = verification{Body: string(body), Headers: map[string]string{}}
		for _, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature"} {
			got.Headers[name] = r.Header.Get(name)
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	defer server.Close()
	current, previous, older := secretOf("c"), secretOf("p"), secretOf("o")
	var cases []verification
	add := func(name, by string, holds bool, change func(*verification)) {
		v := got
		v.Name, v.Secret, v.Holds, v.Headers = name, by, holds, maps.Clone(got.Headers)
		if change != nil {
			change(&v)
		}
		cases = append(cases, v)
	}
	for _, event := range slices.Sorted(maps.Keys(described.Webhooks)) {
		d := s.delivery("webhook", server.URL+"/hook", event, described.data(t, event), current, previous)
		if end := s.Send(t.Context(), d); end.Error != "" || end.Code != http.StatusNoContent {
			t.Fatalf("%s: %+v", event, end)
		}
		if err := validate(event, []byte(got.Body)); err != nil {
			t.Errorf("%s: %v", event, err)
		}
		if got.Headers["webhook-id"] != d.EventID.String() {
			t.Errorf("%s has the id %s", event, got.Headers["webhook-id"])
		}
		if url := described.Webhooks[event].Post.RequestBody.Content["application/json"].Example.URL; !strings.Contains(
			got.Body, `"url":"`+url+`"`) {
			t.Errorf("%s: want the url %s: %s", event, url, got.Body)
		}
		add(event+" by the new secret", current, true, nil)
		add(event+" by the previous secret", previous, true, nil)
		add(event+" by an older secret", older, false, nil)
		add(event+" with a changed byte", current, false, func(v *verification) {
			v.Body = strings.Replace(v.Body, `"id":"`, `"id":"0`, 1)
		})
	}
	d := s.delivery("webhook", server.URL, "webhook.test", map[string]any{}, current)
	for minutes, holds := range map[int]bool{-6: false, -4: true, 4: true, 6: false} {
		at := time.Now().Add(time.Duration(minutes) * time.Minute)
		request, err := s.request(t.Context(), d, at)
		if err != nil {
			t.Fatal(err)
		}
		got.Body = string(s.body(d))
		for name := range got.Headers {
			got.Headers[name] = request.Header.Get(name)
		}
		if got.Headers["webhook-timestamp"] != strconv.FormatInt(at.Unix(), 10) {
			t.Errorf("sent at %s", got.Headers["webhook-timestamp"])
		}
		add(fmt.Sprint(minutes, " minutes away"), current, holds, nil)
	}
	if len(described.Webhooks) != 20 {
		t.Errorf("%d types are described", len(described.Webhooks))
	}
	var input bytes.Buffer
	for _, v := range cases {
		if err := json.NewEncoder(&input).Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	for _, command := range [][]string{{"node", clients + "/webhooks.mjs"}, {"python3", clients + "/webhooks.py"}} {
		run := exec.CommandContext(t.Context(), command[0], command[1])
		run.Stdin, run.Env = bytes.NewReader(input.Bytes()), append(os.Environ(), "PYTHONPATH="+clients+"/python")
		if out, err := run.CombinedOutput(); err != nil || string(out) != fmt.Sprintf("%d as they should be\n",
			len(cases)) {
			t.Errorf("%s: %v: want the clients that `make clients` fetches\n%s", command, err, out)
		}
	}
}

// What triggers write of real changes has the shape that the description promises, and it describes every type.
func TestEventsOfChangesAreAsDescribed(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	described, validate := readDescription(t)
	control := store.ControlPlane(t)
	db := store.OpenControlPlane(t, control)
	root, err := pgx.Connect(t.Context(), control.DSN)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close(t.Context()) })
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	edit := func(text string, args ...any) {
		t.Helper()
		_, err := root.Exec(t.Context(), text, args...)
		must(err)
	}
	o, err := db.AddOrganization(t.Context(), "Lumen", "")
	must(err)
	user, err := db.AddUser(t.Context(), postgres.NewUser{Email: "ana@lumen.example", OrganizationID: o.ID,
		Role: "member"})
	must(err)
	must(db.SetRole(t.Context(), user.Email, "admin"))
	edit("SELECT set_config('request.jwt.claims', jsonb_build_object('sub', $1::text)::text, false)", user.ID)
	brand, _, err := db.AddBrand(t.Context(), o.ID, postgres.NewBrand{Name: "Lumen", Slug: "lumen"})
	must(err)
	key, err := db.AddKey(t.Context(), postgres.NewKey{OrganizationID: o.ID, UserID: user.ID, Name: "ci",
		Prefix: "svc_abcd"})
	must(err)
	must(db.RevokeKey(t.Context(), key.ID))
	for _, text := range []string{
		"INSERT INTO public.suggestions (brand_id, kind, text) SELECT $1, 'prompt', 'text ' || i FROM " +
			"generate_series(1, 30) AS i",
		"INSERT INTO public.content_briefs (brand_id, title, body) VALUES ($1, 'a page', 'text')",
		"INSERT INTO public.content_briefs (brand_id, title, suggestion_id) SELECT $1, 'another', id FROM " +
			"public.suggestions WHERE brand_id = $1 LIMIT 1",
		"UPDATE public.content_briefs SET status = 'sent' WHERE brand_id = $1",
		"INSERT INTO public.tracking_jobs (organization_id, brand_id, total, status) SELECT organization_id, id, 1, " +
			"s FROM public.brands, unnest('{completed,failed,cancelled}'::text[]) AS s WHERE id = $1",
		"UPDATE public.tracking_jobs SET phase = 'done', started_at = CASE WHEN status <> 'cancelled' THEN now() " +
			"END, finished_at = now(), failed_reason = CASE WHEN status = 'failed' THEN 'auth 1' END WHERE brand_id " +
			"= $1",
		"INSERT INTO public.webhook_endpoints (organization_id, url) SELECT organization_id, " +
			"'https://hooks.lumen.example/x' FROM public.brands WHERE id = $1",
		"UPDATE public.webhook_endpoints SET is_active = false, disabled_at = now(), disabled_reason = 'gone' WHERE " +
			"$1::uuid IS NOT NULL",
		"UPDATE public.webhook_endpoints SET is_active = true WHERE $1::uuid IS NOT NULL",
		// A brand that is deleted takes its other events along.
		"INSERT INTO public.brands (organization_id, name) SELECT organization_id, 'Gone' FROM public.brands WHERE " +
			"id = $1",
		"DELETE FROM public.brands WHERE name = 'Gone' AND $1::uuid IS NOT NULL",
	} {
		edit(text, brand.ID)
	}
	endpoints, err := db.WebhookEndpoints(t.Context(), o.ID)
	must(err)
	_, err = db.TestWebhook(t.Context(), endpoints[0].ID)
	must(err)
	must(db.RemoveUser(t.Context(), user.Email))
	rows, err := root.Query(t.Context(), "SELECT id, organization_id, type, data, at FROM public.events")
	must(err)
	d, types := postgres.Delivery{}, map[string]bool{}
	_, err = pgx.ForEachRow(rows, []any{&d.EventID, &d.OrganizationID, &d.Type, &d.Data, &d.At}, func() error {
		types[d.Type] = true
		if err := validate(d.Type, s.body(d)); err != nil {
			t.Errorf("%s: %v\n%s", d.Type, err, d.Data)
		}
		return nil
	})
	must(err)
	computed := []string{"platform.degraded", "platform.recovered", "report.weekly", "tracking.skipped",
		"visibility.moved"}
	if got := slices.Sorted(maps.Keys(types)); !slices.Equal(slices.Sorted(slices.Values(append(got, computed...))),
		slices.Sorted(maps.Keys(described.Webhooks))) {
		t.Errorf("changes made %q", got)
	}
	for _, event := range computed {
		files, err := filepath.Glob("mail/testdata/" + event + "*.json") // what mails are made of
		if err != nil || len(files) == 0 {
			t.Errorf("%s: %d examples, %v", event, len(files), err)
		}
		for _, file := range files {
			d.Type = event
			d.Data, err = os.ReadFile(file)
			must(err)
			if err := validate(event, s.body(d)); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
	_, err = root.Exec(t.Context(), "SELECT private.check_events('{none}')")
	if err == nil || !strings.Contains(err.Error(), "want some of ") {
		t.Fatal(err)
	}
	list, _, _ := strings.Cut(strings.SplitAfter(err.Error(), "want some of ")[1], " (SQLSTATE")
	if got := slices.Sorted(slices.Values(strings.Split(list, ", "))); !slices.Equal(got,
		slices.Sorted(maps.Keys(described.Webhooks))) {
		t.Errorf("the database knows %q", got)
	}
}

func TestAnOutcomeSaysHowTheAttemptEnded(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	mux := http.NewServeMux()
	for path, status := range map[string]int{"/taken": 204, "/gone": 410, "/redirects": 302, "/fails": 500} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/taken")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, strings.Repeat("é", 400))
		})
	}
	mux.HandleFunc("/busy", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", r.URL.RawQuery)
		w.WriteHeader(http.StatusTooManyRequests)
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	for path, want := range map[string]postgres.Outcome{
		"/taken":     {Code: 204},
		"/gone":      {Code: 410, Error: "status 410", Final: true},
		"/redirects": {Code: 302, Error: "status 302"},
		"/fails":     {Code: 500, Error: "status 500"},
		"/busy?120":  {Code: 429, Error: "status 429", RetryAfter: 2 * time.Minute},
		"/busy?soon": {Code: 429, Error: "status 429"},
		"/busy?-5":   {Code: 429, Error: "status 429"},
	} {
		if end := s.Send(t.Context(), s.delivery("webhook", server.URL+path, "webhook.test", nil,
			secretOf("c"))); end != want {
			t.Errorf("%s: %+v, want %+v", path, end, want)
		}
	}
	for name, d := range map[string]postgres.Delivery{
		"cannot be decrypted":    {Secrets: []string{"k9:AAAA"}},
		"has no secret":          {},
		"is not whsec_":          s.delivery("webhook", server.URL, "webhook.test", nil, "whsec_?"),
		"connection refused":     s.delivery("webhook", "http://127.0.0.1:1", "webhook.test", nil, secretOf("c")),
		"no public address":      s.delivery("webhook", "https://10.0.0.1", "webhook.test", nil, secretOf("c")),
		"the URL cannot be read": s.delivery("webhook", "https://exa mple", "webhook.test", nil, secretOf("c")),
	} {
		if end := s.Send(t.Context(), d); !strings.Contains(end.Error, name) || len(end.Error) > 200 || end.Code != 0 {
			t.Errorf("%s: %+v", name, end)
		}
	}
}

// Of an organization's texts none is more than text in Slack, and the URL is the secret alone.
func TestSlackGetsAMessage(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	described, _ := readDescription(t)
	var got []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got, _ = io.ReadAll(r.Body)
		if r.URL.Path != "/services/T/B/x" || r.Header.Get("webhook-signature") != "" {
			t.Errorf("%s %v", r.URL, r.Header)
		}
	}))
	defer server.Close()
	send := func(event string, data any) string {
		t.Helper()
		got = nil
		if end := s.Send(t.Context(), s.delivery("slack", "https://hooks.slack.com/…x", event, data,
			server.URL+"/services/T/B/x")); end.Error != "" {
			t.Errorf("%s: %+v", event, end)
		}
		return string(got)
	}
	for event, want := range map[string]string{
		"visibility.moved":          "Lumen moved down on OpenAI: named in 31.2 % of answers",
		"tracking.completed":        "Lumen: tracking completed",
		"content_brief.sent":        "Lumen: content brief sent: A page on quiet desk lamps",
		"member.added":              "member added: ben@example.org",
		"key.created":               "key created: weekly report",
		"platform.recovered":        "OpenAI answers again",
		"suggestions.created":       "Answers about quiet desk lamps name Aurora alone",
		"webhook_endpoint.disabled": "hooks.example.org",
		"webhook.test":              `"text":"webhook test"`,
	} {
		if body := send(event, described.data(t, event)); !strings.Contains(body, want) {
			t.Errorf("%s: %s, want %q", event, body, want)
		}
	}
	moves := make([]map[string]any, 30)
	for i := range moves {
		moves[i] = map[string]any{"verdict": "moved_down", "platform": strings.Repeat("&", 4000), "rate": 1, "n": 1,
			"from": map[string]any{"rate": 2, "n": 1}}
	}
	body := send("visibility.moved", map[string]any{"brand": map[string]any{"name": "<!channel> & " +
		"<https://evil.example|you>", "slug": "a b/c"}, "moves": moves})
	var message struct {
		Text   string
		Blocks []slackBlock
	}
	if err := json.Unmarshal([]byte(body), &message); err != nil {
		t.Fatal(err)
	}
	if len(message.Blocks) != 22 || message.Blocks[0].Type != "header" ||
		message.Blocks[21].Text.Text != "<https://answers.example/brands/a%20b%2Fc|Open the dashboard>" {
		t.Errorf("%d blocks: %+v", len(message.Blocks), message.Blocks)
	}
	for i, b := range message.Blocks[:21] {
		if !strings.HasPrefix(b.Text.Text, "&lt;!channel&gt; &amp; &lt;https://evil.example|you&gt;") ||
			strings.Contains(b.Text.Text, "<") || len(b.Text.Text) > maxSection || i == 0 &&
			len(b.Text.Text) > maxHeader {
			t.Errorf("block %d: %.200s", i, b.Text.Text)
		}
	}
}
