package httpd

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus"
)

func TestReadyzSaysWhatIsNotReady(t *testing.T) {
	ready := NewReadiness("schema", "sink")
	listener, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(ready)
	requestSeconds(registry).WithLabelValues("public", "GET", "/", "200").Observe(1)
	admin := NewAdmin(listener, ready, registry, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- admin.Run(ctx) }()

	wants := func(status int, body string) {
		t.Helper()
		response, got := ask(t, "GET", admin.URL()+"/readyz")
		if response.StatusCode != status || got != body+"\n" {
			t.Errorf("readyz %d %s, want %d %s", response.StatusCode, got, status, body)
		}
	}
	ready.Provide("schema", func(context.Context) error { return nil })
	wants(503, `{"not_ready":[{"name":"sink","reason":"not started yet"}],"ready":false}`)
	ready.Provide("sink", func(context.Context) error { return errors.New("lag 12") })
	wants(503, `{"not_ready":[{"name":"sink","reason":"lag 12"}],"ready":false}`)
	if _, body := ask(t, "GET",
		admin.URL()+"/metrics"); !strings.Contains(body,
		"answerscope_ready{check=\"schema\"} 1\nanswerscope_ready{check=\"sink\"} 0\n") {
		t.Errorf("metrics lack what is ready:\n%s", body)
	}
	ready.Provide("sink", func(context.Context) error { return nil })
	wants(200, `{"ready":true}`)

	if _, body := ask(t, "GET",
		admin.URL()+"/metrics"); !strings.Contains(body, `answerscope_http_request_seconds_count{listener="public"`) {
		t.Errorf("metrics lack the requests:\n%s", body)
	}
	if response, _ := ask(t, "GET", admin.URL()+"/debug/pprof/cmdline"); response.StatusCode != 200 {
		t.Errorf("pprof: %d", response.StatusCode)
	}
	// A name of another site may lead its page in the operator's browser here.
	for host, want := range map[string]int{
		"evil.example:9090": 421, "localhost:9090": 200, "pipeline:9090": 200, "[::1]:9090": 200, "10.0.0.7": 200,
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, admin.URL()+"/healthz", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Host = host
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		if response.Body.Close(); response.StatusCode != want {
			t.Errorf("as %s: %s, want %d", host, response.Status, want)
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Run() = %v", err)
	}
}

// Once, a check that ignored its context held /readyz for as long as the engine hung.
func TestACheckThatHangsIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		defer close(hang)
		ready := NewReadiness("engine")
		ready.Provide("engine", func(context.Context) error { <-hang; return nil })
		lacks := ready.Lacking(t.Context())
		if len(lacks) != 1 || lacks[0].Reason != "no answer within 2s" {
			t.Errorf("Lacking() = %v", lacks)
		}
	})
}

func TestWaitEndsWhenNothingLacks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ready := NewReadiness("sink")
		waited := make(chan error, 1)
		go func() { waited <- ready.Wait(t.Context()) }()
		synctest.Wait()
		select {
		case err := <-waited:
			t.Fatalf("Wait() = %v before the sink was there", err)
		default:
		}
		ready.Provide("sink", func(context.Context) error { return nil })
		if err := <-waited; err != nil {
			t.Errorf("Wait() = %v", err)
		}
	})
}
