package mcp

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/logbuffer"
	"github.com/answerscope/answerscope/internal/testkit/wait"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// The credentials that a served surface knows.
const (
	readerKey = "reader"
	writerKey = "writer"
)

// serve mounts a surface, whose questions the examples of openapi.json answer unless it has others.
func serve(t *testing.T, s Surface) (url string) {
	t.Helper()
	listener, err := httpd.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if s.Figures == nil {
		s.Figures = examples(t)
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	server := httpd.New(httpd.DefaultConfig(), listener, s.Log, prometheus.NewRegistry())
	guard := func(c *fiber.Ctx) error {
		caller := identity.Identity{OrganizationID: uuid.UUID{7}, UserID: uuid.UUID{8}, Role: identity.Member}
		switch httpd.Bearer(c.Get(fiber.HeaderAuthorization)) {
		case writerKey:
			caller.Scopes = []string{"metrics:read", "tracking:write"}
		case readerKey:
		case "":
			return problem.New(problem.Unauthenticated, "missing credential")
		default:
			return problem.New(problem.Forbidden, "the key lacks the scope metrics:read")
		}
		c.SetUserContext(identity.NewContext(c.UserContext(), caller))
		return c.Next()
	}
	s.Mount(server, guard, httpd.NewCallerLimit(0, time.Now).Handle)
	t.Cleanup(testkit.Start(t, server.Run))
	return server.URL()
}

// send posts a message; headers are given as "Name: value".
func send(t *testing.T, method, address, body string, headers ...string) (status int, header http.Header, text string) {
	t.Helper()
	return testkit.Send(t, method, address, body, append([]string{"Content-Type: application/json",
		"Accept: application/json, text/event-stream"}, headers...)...)
}

// A bearer adds a credential to the requests of a client.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// dial returns a client of a revision of the protocol, "" for the newest.
func dial(t *testing.T, address, key, revision string) *sdk.ClientSession {
	t.Helper()
	transport := &sdk.StreamableClientTransport{Endpoint: address + prefix,
		HTTPClient: &http.Client{Transport: bearer(key)}}
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).
		Connect(t.Context(), transport, &sdk.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// revisions are of both eras: with and without a handshake.
var revisions = []string{"2026-07-28", "2025-11-25", "2025-06-18"}

// A script is what every client does; its result is compared between ways to reach the server.
func script(t *testing.T, session *sdk.ClientSession) (results []string) {
	t.Helper()
	listed, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range listed.Tools {
		results = append(results, tool.Name)
	}
	prompts, err := session.ListPrompts(t.Context(), nil)
	if err != nil || len(prompts.Prompts) != 5 {
		t.Fatal(prompts, err)
	}
	resources, err := session.ListResources(t.Context(), nil)
	if err != nil || len(resources.Resources) != 1 {
		t.Fatal(resources, err)
	}
	for _, call := range []*sdk.CallToolParams{
		{Name: "list_brands"}, {Name: "visibility", Arguments: map[string]any{"brand": "Lumen", "compare": "previous"}},
		{Name: "visibility", Arguments: map[string]any{"brand": "lumin"}},
	} {
		result, err := session.CallTool(t.Context(), call)
		if err != nil {
			t.Fatal(err)
		}
		text := result.Content[0].(*sdk.TextContent).Text
		structured, err := json.Marshal(result.StructuredContent)
		if err != nil {
			t.Fatal(err)
		}
		if result.IsError != (result.StructuredContent == nil) ||
			!result.IsError && !sameJSON(t, text, string(structured)) {
			t.Errorf("%v: the text is %s, the structured content %s", call, text, structured)
		}
		results = append(results, text)
	}
	if _, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "sql"}); err == nil {
		t.Error("a tool that does not exist answers")
	}
	if _, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "answerscope://none"}); err == nil {
		t.Error("a resource that does not exist is read")
	}
	return results
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var values [2]any
	for i, text := range []string{a, b} {
		if err := json.Unmarshal([]byte(text), &values[i]); err != nil {
			t.Fatal(err, text)
		}
	}
	return string(encode(values[0])) == string(encode(values[1]))
}

func TestClientsOfBothEras(t *testing.T) {
	t.Parallel()
	url := serve(t, Surface{TrackingURL: "http://127.0.0.1:1"})
	var first []string
	for _, revision := range revisions {
		got := script(t, dial(t, url, readerKey, revision))
		if first == nil {
			first = got
		}
		if !slices.Equal(got, first) || slices.Contains(got, "track") {
			t.Errorf("revision %s: %q, want %q", revision, got, first)
		}
	}
	if got := script(t, dial(t, url, writerKey, "")); !slices.Contains(got, "track") {
		t.Errorf("a key of tracking:write has %q", got)
	}
	url = serve(t, Surface{})
	if got := script(t, dial(t, url, writerKey, "")); slices.Contains(got, "track") {
		t.Error("there is track without a tracking server")
	}
}

// A panic ends the call that it is of, and no other.
func TestACallThatPanics(t *testing.T) {
	t.Parallel()
	var log logbuffer.Buffer
	url := serve(t, Surface{Log: slog.New(slog.NewTextHandler(&log, nil)),
		Figures: func(context.Context, Request) (json.RawMessage, error) { panic("of a question") }})
	session := dial(t, url, readerKey, "")
	for range 2 {
		if text, isError := use(t, session, "list_brands", nil); text != "internal error" || !isError {
			t.Errorf("a call that panics has %s", text)
		}
	}
	if !strings.Contains(log.String(), "panic: of a question") || !strings.Contains(log.String(), "outcome=failed") {
		t.Errorf("the log has %s", log.String())
	}
}

const listTools = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`

// What is refused before the protocol has the status and the challenge that clients know.
func TestRequestsThatAreRefused(t *testing.T) {
	t.Parallel()
	plain := serve(t, Surface{PublicURL: "https://answers.example", Origins: []string{"https://reports.example"}})
	issued := serve(t, Surface{PublicURL: "https://answers.example", Issuer: "https://id.example"})
	long := `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", 65<<10) + `"}`
	reader := "Authorization: Bearer " + readerKey
	for _, c := range []struct {
		name, url, method, body string
		headers                 []string
		status                  int
		header, value           string
	}{
		{"no key", plain, "POST", listTools, nil, 401, "WWW-Authenticate", `Bearer realm="answerscope"`},
		{"no key beside an issuer", issued, "POST", listTools, nil, 401, "WWW-Authenticate",
			`Bearer realm="answerscope", resource_metadata="https://answers.example` + metadataPath + prefix +
				`", scope="metrics:read"`},
		{"another scope", plain, "POST", listTools, []string{"Authorization: Bearer other"}, 403, "WWW-Authenticate",
			`Bearer realm="answerscope", error="insufficient_scope", scope="metrics:read"`},
		{"another site", plain, "POST", listTools, []string{reader, "Origin: https://evil.example"}, 403,
			"WWW-Authenticate", ""},
		{"no site", plain, "POST", listTools, []string{reader}, 200, "Content-Type", "application/json"},
		{"our site", plain, "POST", listTools, []string{reader, "Origin: https://answers.example"}, 200,
			"Cache-Control", "no-store"},
		{"a site that may", plain, "POST", listTools, []string{reader, "Origin: https://reports.example"}, 200,
			"Access-Control-Allow-Origin", "https://reports.example"},
		{"65 KB", plain, "POST", long, []string{reader}, 413, "", ""},
		{"GET", plain, "GET", "", []string{reader}, 405, "Allow", "POST"},
		{"DELETE", plain, "DELETE", "", []string{reader}, 405, "Allow", "POST"},
		{"a batch", plain, "POST", " [" + listTools + "]", []string{reader}, 400, "", ""},
		{"no message", plain, "POST", listTools[:20], []string{reader}, 400, "", ""},
		{"a revision to come", plain, "POST", listTools, []string{reader, "MCP-Protocol-Version: 2030-01-01"}, 400,
			"", ""},
	} {
		status, header, body := send(t, c.method, c.url+prefix, c.body, c.headers...)
		got := header.Get(c.header)
		if status != c.status || c.header != "" && got != c.value &&
			!(c.header == "Allow" && strings.Contains(got, c.value)) {
			t.Errorf("%s: %d %s %q, want %d %q: %s", c.name, status, c.header, got, c.status, c.value,
				body)
		}
	}
	for _, path := range []string{metadataPath, metadataPath + prefix, "/.well-known/oauth-authorization-server"} {
		if status, _, body := send(t, "GET", plain+path, ""); status != 404 {
			t.Errorf("%s without an issuer: %d %s", path, status, body)
		}
		status, header, body := send(t, "GET", issued+path, "", "Origin: https://inspector.example")
		if strings.HasPrefix(path, metadataPath) && (status != 200 ||
			header.Get("Access-Control-Allow-Origin") != "*" || !strings.Contains(body,
			`"resource":"https://answers.example/mcp"`) || !strings.Contains(body, `["https://id.example"]`)) {
			t.Errorf("%s: %d %v %s", path, status, header, body)
		}
	}
}

// A client that has gone ends the question of its call, in either era.
func TestACallEndsWithItsClient(t *testing.T) {
	t.Parallel()
	asked, ended := make(chan struct{}), make(chan error, 1)
	url := serve(t, Surface{Figures: func(ctx context.Context, _ Request) (json.RawMessage, error) {
		asked <- struct{}{}
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, ctx.Err()
	}})
	for i, revision := range revisions {
		call, meta := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_brands","arguments":{}`, ""
		if i == 0 { // it has no handshake
			meta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
				`"io.modelcontextprotocol/clientCapabilities":{}}`
		}
		ctx, leave := context.WithCancel(t.Context())
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, url+prefix, strings.NewReader(call+meta+"}}"))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"Authorization": "Bearer " + readerKey, "MCP-Protocol-Version": revision, "Mcp-Method": "tools/call",
			"Mcp-Name": "list_brands",
		} {
			request.Header.Set(name, value)
		}
		done := make(chan string, 1)
		go func() {
			response, err := http.DefaultClient.Do(request)
			if err == nil {
				text, _ := io.ReadAll(response.Body)
				response.Body.Close()
				done <- string(text)
				return
			}
			done <- err.Error()
		}()
		select {
		case <-asked:
		case text := <-done:
			t.Fatalf("revision %s: %s", revision, text)
		}
		leave()
		wait.For(t, "the question of revision "+revision+" to end", func() bool { return len(ended) == 1 })
		<-ended
		<-done
	}
}

// Each call is a line of the log and a count, with whose it was and without its credential.
func TestACallIsLoggedAndCounted(t *testing.T) {
	t.Parallel()
	var log logbuffer.Buffer
	metrics := prometheus.NewRegistry()
	url := serve(t, Surface{Log: slog.New(slog.NewTextHandler(&log, nil)), Metrics: metrics})
	script(t, dial(t, url, readerKey, ""))
	wait.For(t, "the log to have the calls", func() bool { return strings.Count(log.String(), "tool called") == 3 })
	for _, want := range []string{
		"tool=visibility outcome=done", "tool=visibility outcome=refused", "organization=07000000-0000",
	} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %s: %s", want, log.String())
		}
	}
	if strings.Contains(log.String(), readerKey) {
		t.Error("the log has the credential")
	}
	if n, err := testutil.GatherAndCount(metrics, "answerscope_mcp_calls_total"); n != 3 || err != nil {
		t.Errorf("%d series, %v", n, err)
	}
}
