package tracing_test

import (
	"context"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/logbuffer"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/internal/tracing"
)

// record opens so many spans and stops; it returns how long the stop took, and the log.
func record(t *testing.T, cfg tracing.Config, spans int) (time.Duration, string) {
	t.Helper()
	return recordFlushing(t, cfg, 5*time.Second, spans)
}

func recordFlushing(t *testing.T, cfg tracing.Config, flush time.Duration, spans int) (time.Duration, string) {
	t.Helper()
	log := &logbuffer.Buffer{}
	traces, err := tracing.New(cfg, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	traces.SetFlush(flush)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- traces.Run(ctx) }()
	tracer := traces.Provider().Tracer("test")
	for range spans {
		_, span := tracer.Start(ctx, "span")
		span.End()
	}
	cancel()
	began := time.Now()
	if err := <-ended; err != nil {
		t.Errorf("Run() = %v", err)
	}
	return time.Since(began), log.String()
}

func TestTheLastSpansAreSentAtTheEnd(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20hunter2")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
	collector := testkit.NewTraceReceiver(t)
	cfg := tracing.DefaultConfig()
	cfg.Endpoint, cfg.Part = collector.URL+"/v1/traces", "queryapi"
	if _, log := record(t, cfg, 3); log != "" {
		t.Errorf("the log: %s", log)
	}
	spans := collector.Spans()
	if len(spans) != 3 {
		t.Fatalf("%d spans were sent, want 3", len(spans))
	}
	process := spans[0].Process
	for name, want := range map[string]string{
		"service.name": "answerscope", "answerscope.part": "queryapi", "deployment.environment.name": "test",
	} {
		if process[name] != want {
			t.Errorf("%s is %q, want %q", name, process[name], want)
		}
	}
	if process["service.version"] == "" || len(process["service.instance.id"]) != 36 {
		t.Errorf("the process is %v", process)
	}
	if got := collector.Requests()[0].Header.Get("Authorization"); got != "Bearer hunter2" {
		t.Errorf("Authorization: %q", got)
	}
}

func TestARatioOfNoneKeepsNone(t *testing.T) {
	collector := testkit.NewTraceReceiver(t)
	cfg := tracing.DefaultConfig()
	cfg.Endpoint, cfg.Ratio = collector.URL+"/v1/traces", 0
	record(t, cfg, 3)
	if n := len(collector.Requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
}

func TestWithoutAnEndpointThereIsNothing(t *testing.T) {
	traces, err := tracing.New(tracing.DefaultConfig(), slog.New(slog.DiscardHandler))
	if err != nil || traces.Provider() != nil {
		t.Fatalf("New() = %v, with a provider %v", err, traces.Provider())
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := traces.Run(ctx); err != nil {
		t.Errorf("Run() = %v", err)
	}
}

// Thousands of spans are lost at an address that refuses connections, and at one that never answers; that is logged
// once, and delays nothing.
func TestACollectorThatIsAwayHoldsNobodyUp(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20hunter2")
	silent, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	gone, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = gone.Close()
	for name, address := range map[string]string{"silent": silent.Addr().String(), "gone": gone.Addr().String()} {
		cfg := tracing.DefaultConfig()
		cfg.Endpoint = "http://" + address + "/v1/traces"
		took, log := recordFlushing(t, cfg, 200*time.Millisecond, 5000)
		if took > wait.Hang {
			t.Errorf("%s: the end took %s", name, took)
		}
		if n := strings.Count(log, "\n"); n < 1 || n > 2 || strings.Contains(log, "hunter2") {
			t.Errorf("%s: the log: %s", name, log)
		}
	}
}

func TestARefusingCollectorIsSaidSeldom(t *testing.T) {
	collector := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		http.Error(w, "no such customer", http.StatusForbidden)
	})}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = collector.Serve(listener) }()
	defer collector.Close()
	cfg := tracing.DefaultConfig()
	cfg.Endpoint = "http://" + listener.Addr().String() + "/v1/traces"
	if _, log := record(t, cfg, 2000); strings.Count(log, "\n") != 1 || !strings.Contains(log, "traces not sent") ||
		!strings.Contains(log, "no such customer") {
		t.Errorf("the log: %s", log)
	}
}

func TestValidateSaysEverythingThatIsWrong(t *testing.T) {
	err := tracing.Config{Endpoint: "ftp://user:hunter2@x", Ratio: math.NaN()}.Validate()
	want := `traces endpoint: want http://… or https://…
traces ratio NaN: want 0 to 1`
	if err == nil || err.Error() != want {
		t.Errorf("Validate() = %v, want %s", err, want)
	}
}
