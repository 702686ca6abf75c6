package httpd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/answerscope/answerscope/internal/testkit/logbuffer"
)

// A path of a secret surface is in no line of the log, no span and no metric, also where its request fails.
func TestASecretPathIsShownNowhere(t *testing.T) {
	listener, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	log, recorder, registry := &logbuffer.Buffer{}, tracetest.NewSpanRecorder(), prometheus.NewRegistry()
	cfg := DefaultConfig()
	cfg.Traces = sdk.NewTracerProvider(sdk.WithSpanProcessor(recorder))
	server := New(cfg, listener, slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		registry)
	surface := server.Mount(Surface{Prefix: "/share", Secret: true})
	surface.Get("/:token", func(c *fiber.Ctx) error { return c.SendString("fine") })
	surface.Get("/:token/broken", func(*fiber.Ctx) error { return errors.New("the cause") })
	surface.Get("/:token/panics", func(*fiber.Ctx) error { panic("the cause") })
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	for _, path := range []string{
		"/share/hunter2", "/share/hunter2/broken", "/share/hunter2/panics", "/share/hunter2/none/at/all",
	} {
		ask(t, http.MethodGet, server.URL()+path)
		ask(t, http.MethodPost, server.URL()+path)
	}
	cancel()
	if err := <-done; err != nil { // spans end after their responses
		t.Error(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	shown := log.String() + fmt.Sprint(families)
	for _, span := range recorder.Ended() {
		shown += fmt.Sprint(span.Name(), span.Attributes(), span.Events())
	}
	if strings.Contains(shown, "hunter2") || strings.Count(shown, "/share/…") < 8 {
		t.Errorf("what is shown has the path, or nothing of it:\n%s", shown)
	}
}
