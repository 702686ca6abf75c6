package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/answerscope/answerscope/internal/identity"
)

// A trackingServer stands in for /api/tracking, which costs money, and for /api/v1 by its examples.
type trackingServer struct {
	*httptest.Server
	mu       sync.Mutex
	requests []string // method, path with query, and body
	keys     []string // Idempotency-Key of starts
}

const (
	jobID   = "0198c1f2-0000-7000-8000-000000000001"
	runsOne = `{"runs":12,"cost":{"amount":1.84,"currency":"USD"},"byPlatform":[{"platform":"openai","model":"gpt",` +
		`"runs":12,"cost":{"amount":1.84,"currency":"USD"}}],"refused":[{"platform":"gemini","reason":"no key"}]}`
)

func newTrackingServer(t *testing.T) *trackingServer {
	t.Helper()
	s, figures := &trackingServer{}, examples(t)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if below, ok := strings.CutPrefix(r.URL.Path, apiPrefix); ok {
			body, _ := figures(r.Context(), Request{Path: below})
			_, _ = w.Write(body)
			return
		}
		body, _ := io.ReadAll(r.Body)
		s.requests = append(s.requests, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
		answers := map[string]string{
			"/api/tracking/estimate": runsOne, "/api/tracking/start": `{"success":true,"jobId":"` + jobID + `"}`,
			"/api/tracking/jobs": `{"jobs":[],"next_cursor":null}`,
			"/api/tracking/job/" + jobID: `{"status":"active","progress":{"phase":"asking","completed":3,"total":12},` +
				`"result":null,"failedReason":null}`,
		}
		switch {
		case r.Header.Get("Authorization") == "Bearer viewer":
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `{"error":"the key lacks the scope tracking:write"}`)
		case answers[r.URL.Path] == "":
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"error":"no such job"}`)
		case r.URL.Path == "/api/tracking/jobs" && len(s.keys) > 0:
			_, _ = io.WriteString(w, `{"jobs":[{"jobId":"`+jobID+`"}],"next_cursor":null}`)
		default:
			if key := r.Header.Get("Idempotency-Key"); key != "" {
				s.keys = append(s.keys, key)
			}
			_, _ = io.WriteString(w, answers[r.URL.Path])
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func use(t *testing.T, session *sdk.ClientSession, tool string, arguments map[string]any) (text string, isError bool) {
	t.Helper()
	result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatal(tool, arguments, err)
	}
	return result.Content[0].(*sdk.TextContent).Text, result.IsError
}

// A start is paid once, and only when the user has seen what it costs.
func TestTrack(t *testing.T) {
	t.Parallel()
	s := newTrackingServer(t)
	session := connect(t, over(s.URL, "the server", ownCredential), true)
	brand := map[string]any{"brand": "lumen"}
	for _, c := range []struct {
		arguments string
		want      string
	}{
		{`{"action":"estimate","platforms":["openai"],"samples":2}`, `"runs":12,"cost":1.84,"currency":"USD",` +
			`"columns":["platform","model","runs","cost"],"rows":[["openai","gpt",12,1.84]],` +
			`"left_out":{"columns":["platform","reason"],"rows":[["gemini","no key"]]}`},
		{`{"action":"start"}`, "costs 1.84 USD: show the user, then start with max_cost_usd 1.84"},
		{`{"action":"start","max_cost_usd":1.83}`, "costs 1.84 USD: show the user, then start with max_cost_usd 1.84"},
		{`{"action":"start","max_cost_usd":1.84}`, `"job_id":"` + jobID + `","already_started":false`},
		{`{"action":"start","max_cost_usd":2}`, `"job_id":"` + jobID + `","already_started":true`},
		{`{"action":"status","job_id":"` + jobID + `"}`, `"status":"active","phase":"asking","completed":3,` +
			`"total":12,"result":null,"failed_reason":null`},
		{`{"action":"cancel","job_id":"` + jobID + `"}`, `"status":"active"`},
		{`{"action":"status","job_id":"../spending"}`, "job_id: want the job_id that start returned"},
		{`{"action":"status"}`, "job_id: want the job_id that start returned"},
	} {
		var arguments map[string]any
		if err := json.Unmarshal([]byte(c.arguments), &arguments); err != nil {
			t.Fatal(err)
		}
		if arguments["job_id"] == nil {
			arguments["brand"] = brand["brand"]
		}
		if text, _ := use(t, session, "track", arguments); !strings.Contains(text, c.want) {
			t.Errorf("%s: %s, want %s", c.arguments, text, c.want)
		}
	}
	const id = "0198c1f2-7e11-7d03-9a4b-5c6d7e8f9012"
	estimate := `POST /api/tracking/estimate {"brandId":"` + id + `"}`
	start := `POST /api/tracking/start {"brandId":"` + id + `"}`
	jobs := "GET /api/tracking/jobs?brand_id=" + id + "&limit=200"
	want := []string{
		`POST /api/tracking/estimate {"brandId":"` + id + `","platforms":["openai"],"samples":2}`,
		estimate, estimate, estimate, jobs, start, estimate, jobs, start, "GET /api/tracking/job/" + jobID + "?wait=20",
		"DELETE /api/tracking/job/" + jobID,
	}
	if !slices.Equal(s.requests, want) {
		t.Errorf("the tracking server was asked %q, want %q", s.requests, want)
	}
	if len(s.keys) != 2 || s.keys[0] != s.keys[1] {
		t.Errorf("the starts have keys %q", s.keys)
	}
}

// The command has the same results as the surface, and track with a key that may start jobs.
func TestStdioIsTheSame(t *testing.T) {
	t.Parallel()
	s := newTrackingServer(t)
	url := serve(t, Surface{PublicURL: s.URL, TrackingURL: s.URL})
	for key, same := range map[string]string{writerKey: writerKey, "viewer": readerKey} {
		clientIn, serverOut := io.Pipe()
		serverIn, clientOut := io.Pipe()
		done := make(chan error, 1)
		go func() {
			done <- ServeStdio(t.Context(), s.URL+"/", key, serverIn, serverOut, slog.New(slog.DiscardHandler))
		}()
		session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).
			Connect(t.Context(), &sdk.IOTransport{Reader: clientIn, Writer: clientOut}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := script(t, session), script(t, dial(t, url, same, "")); !slices.Equal(got, want) {
			t.Errorf("%s over stdio: %q, want %q", key, got, want)
		}
		session.Close()
		if err := <-done; err != nil {
			t.Errorf("it ends with %v", err)
		}
	}
	s.Close()
	err := ServeStdio(context.Background(), s.URL, writerKey, io.NopCloser(strings.NewReader("")), nil,
		slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "does not answer; try again") {
		t.Errorf("without a server: %v", err)
	}
}

// An app's token is good at /mcp alone, so the tracking server is asked with another one; a key goes on as it is.
func TestTheTrackingServerIsAskedWithWhatItTakes(t *testing.T) {
	t.Parallel()
	ctx := identity.NewContext(withCredential(t.Context(), "own"), identity.Identity{Email: "ana@example.org"})
	away := errors.New("away")
	for _, c := range []struct {
		forwarded string
		err       error
		want      string
	}{{"", nil, "own"}, {"of a minute", nil, "of a minute"}, {"", away, ""}} {
		s := Surface{Forward: func(_ context.Context, caller identity.Identity) (string, error) {
			if caller.Email != "ana@example.org" {
				t.Errorf("forwarded for %+v", caller)
			}
			return c.forwarded, c.err
		}}
		if got, err := s.forwardCredential(ctx); got != c.want || !errors.Is(err, c.err) {
			t.Errorf("forwarded as %q: %q, %v", c.forwarded, got, err)
		}
	}
	if got, err := (Surface{}).forwardCredential(ctx); got != "own" || err != nil {
		t.Errorf("without apps: %q, %v", got, err)
	}
}
