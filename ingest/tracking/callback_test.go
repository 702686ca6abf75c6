package tracking_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/ingest/tracking/api"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/internal/secret"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/wait"
)

func (s workerConfig) callbacks() *tracking.Callbacks {
	ring, _ := secret.ParseRing("k:" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32)))
	return &tracking.Callbacks{BaseURL: s.CallbackURL, Ring: ring, WebhookSecret: "hush"}
}

// serveCallbacks serves the routes of callbacks before there are jobs. mount adds them.
func (e *environment) serveCallbacks(t *testing.T) (mount func(*tracking.Jobs)) {
	t.Helper()
	listener, err := httpd.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := httpd.New(httpd.DefaultConfig(), listener, testkit.Log(t), prometheus.NewRegistry())
	e.CallbackURL = server.URL()
	return func(jobs *tracking.Jobs) {
		api.New(e.db, jobs, nil, time.Now).MountCallbacks(server, jobs.Callbacks)
		t.Cleanup(testkit.Start(t, server.Run))
	}
}

// A callback makes us look at once, where the next poll is minutes away. One before the submission's answer, a late one
// and a second one change nothing; a thousand at once are one answer and one charge.
func TestCallbacks(t *testing.T) {
	t.Parallel()
	for provider, cost := range map[string]float64{"OXYLABS": 0.0016, "CLORO": 0.0056} {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			e, c := newEnvironment(t, numbered(1)...), newCaptures(t)
			e.Captures = c.environment(provider, "user:password")
			mount := e.serveCallbacks(t)
			jobs, _ := e.run(t)
			mount(jobs)
			call := func(url string) {
				request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader("{}"))
				if err != nil {
					t.Error(err)
					return
				}
				timestamp := strconv.FormatInt(time.Now().Unix(), 10)
				request.Header.Set("X-Cloro-Timestamp", timestamp)
				request.Header.Set("X-Cloro-Signature", tracking.Sign("hush", timestamp, "{}"))
				response, err := http.DefaultClient.Do(request)
				if err != nil {
					t.Error(err)
					return
				}
				_ = response.Body.Close() // it is empty
				if response.StatusCode != http.StatusOK {
					t.Errorf("status %d", response.StatusCode)
				}
			}
			c.accept = func(job int) { // before the answer
				call(c.jobs[fmt.Sprint(job)].callback)
				c.away, c.retryAfter = http.StatusServiceUnavailable, "3600"
			}
			began := time.Now()
			id := e.start(t, jobs, surface)
			wait.For(t, "a poll", func() bool { c.mu.Lock(); defer c.mu.Unlock(); return c.refused > 0 })
			var url string
			c.set(func() { url, c.away = c.jobs["1"].callback, 0 })
			if !strings.HasPrefix(url, e.CallbackURL+"/callbacks/"+strings.ToLower(provider)+"/") {
				t.Fatal(url)
			}
			var calls sync.WaitGroup
			for range 1000 {
				calls.Go(func() { call(url) })
			}
			calls.Wait()
			_, r := e.finished(t, id)
			call(url) // the run has ended
			submissions, _ := c.accepted()
			c.mu.Lock()
			defer c.mu.Unlock()
			if r.Answered != 1 || r.Cost.Amount != cost || c.polls != 1 || submissions != 1 ||
				time.Since(began) > 5*time.Minute {
				t.Errorf("%+v after %d submissions, %d polls and %s", r, submissions, c.polls, time.Since(began))
			}
			if _, times := e.records(t); !slices.Equal(slices.Collect(maps.Values(times)), []int{1}) {
				t.Errorf("answers are on the log %v times", times)
			}
		})
	}
}

// Forged callbacks are refused.
func TestForgedCallbacks(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	callbacks := workerConfig{}.callbacks()
	run := uuid.Must(uuid.NewV4())
	right, other := tracking.Token(callbacks, "oxylabs", run),
		tracking.Token(callbacks, "oxylabs", uuid.Must(uuid.NewV4()))
	signing := tracking.Token(callbacks, "cloro", run)
	signed := func(timestamp, body string) string { return tracking.Sign("hush", timestamp, body) }
	for name, c := range map[string]struct {
		provider, token, timestamp, signature, body string
		want                                        problem.Kind
	}{
		"none":          {"oxylabs", "", "", "", "", problem.Unauthenticated},
		"another's":     {"cloro", right, "1800000000", signed("1800000000", "{}"), "{}", problem.Unauthenticated},
		"another run's": {"oxylabs", right[:32] + other[32:], "", "", "", problem.Unauthenticated},
		"no hex":        {"oxylabs", strings.Repeat("x", 64), "", "", "", problem.Unauthenticated},
		"upper case":    {"oxylabs", strings.ToUpper(right), "", "", "", problem.Unauthenticated},
		"badly signed":  {"cloro", signing, "1800000000", "v1=", "{}", problem.Unauthenticated},
		"another secret": {"cloro", signing, "1800000000", tracking.Sign("other", "1800000000", "{}"), "{}",
			problem.Unauthenticated},
		"a changed body": {"cloro", signing, "1800000000", signed("1800000000", "{}"), "{ }", problem.Unauthenticated},
		"stale":          {"cloro", signing, "1799999000", signed("1799999000", "{}"), "{}", problem.Invalid},
		"no time":        {"cloro", signing, "", signed("", "{}"), "{}", problem.Invalid},
	} {
		if _, err := callbacks.Check(c.provider, c.token, c.timestamp, c.signature, []byte(c.body),
			now); kindOf(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	for provider, token := range map[string]string{"oxylabs": right, "cloro": signing} {
		if got, err := callbacks.Check(provider, token, "1800000000", signed("1800000000", "{}"), []byte("{}"),
			now); err != nil || got != run {
			t.Errorf("%s: %s, %v", provider, got, err)
		}
	}
}

func kindOf(err error) problem.Kind {
	kind, _ := problem.Of(err)
	return kind
}
