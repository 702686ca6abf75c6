package httpd

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/answerscope/answerscope/internal/testkit/logbuffer"
)

const (
	callerTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	callerSpan  = "00f067aa0ba902b7"
)

// traced serves with every span recorded.
func traced(t *testing.T) (url string, log *logbuffer.Buffer, spans func() []sdk.ReadOnlySpan) {
	t.Helper()
	recorder := tracetest.NewSpanRecorder()
	cfg := DefaultConfig()
	cfg.Traces = sdk.NewTracerProvider(sdk.WithSpanProcessor(recorder))
	url, log, stop := startWith(t, cfg, func(app *fiber.App) {
		app.Get("/items/:id", func(c *fiber.Ctx) error {
			_, span := trace.SpanFromContext(c.UserContext()).TracerProvider().Tracer("test").Start(c.UserContext(),
				"inside")
			span.End()
			return c.SendString("fine")
		})
		app.Get("/broken", func(*fiber.Ctx) error { return errors.New("the cause") })
		app.Get("/panics", func(*fiber.Ctx) error { panic("the cause") })
	})
	return url, log, func() []sdk.ReadOnlySpan {
		if err := stop(); err != nil { // a span ends after its response was sent
			t.Errorf("Run() = %v", err)
		}
		return recorder.Ended()
	}
}

func about(span sdk.ReadOnlySpan) map[string]string {
	texts := map[string]string{}
	for _, pair := range span.Attributes() {
		texts[string(pair.Key)] = pair.Value.String()
	}
	return texts
}

func TestARequestIsASpanInItsCallersTrace(t *testing.T) {
	url, _, spans := traced(t)
	ask(t, http.MethodGet, url+"/items/7?key=hunter2", "traceparent: 00-"+callerTrace+"-"+callerSpan+"-01",
		"Authorization: Bearer hunter2", "X-Request-Id: mine")
	got := spans()
	if len(got) != 2 {
		t.Fatalf("%d spans, want the request's and the one inside", len(got))
	}
	inside, server := got[0], got[1]
	if inside.Parent().SpanID() != server.SpanContext().SpanID() ||
		inside.SpanContext().TraceID().String() != callerTrace {
		t.Errorf("the span inside has parent %s in trace %s", inside.Parent().SpanID(), inside.SpanContext().TraceID())
	}
	if server.Name() != "GET /items/:id" || server.SpanKind() != trace.SpanKindServer ||
		server.Parent().SpanID().String() != callerSpan || server.Status().Code != codes.Unset {
		t.Errorf("%s %s, parent %s, status %v", server.SpanKind(), server.Name(), server.Parent().SpanID(),
			server.Status())
	}
	want := map[string]string{
		"http.request.method": "GET", "http.route": "/items/:id", "url.path": "/items/7", "url.scheme": "http",
		"http.response.status_code": "200", "answerscope.listener": "public", "answerscope.request_id": "mine",
	}
	if got := about(server); len(got) != len(want) {
		t.Errorf("attributes %v, want %v", got, want)
	}
	for name, value := range want {
		if got := about(server)[name]; got != value {
			t.Errorf("%s is %q, want %q", name, got, value)
		}
	}
}

func TestAFailureIsOneInItsSpanAndNamesItsTraceInTheLog(t *testing.T) {
	for _, path := range []string{"/broken", "/panics"} {
		url, log, spans := traced(t)
		ask(t, http.MethodGet, url+path, "traceparent: 00-"+callerTrace+"-"+callerSpan+"-01")
		got := spans()
		if len(got) != 1 || got[0].Status().Code != codes.Error ||
			about(got[0])["http.response.status_code"] != "500" || about(got[0])["error.type"] != "500" {
			t.Errorf("%s: spans %v", path, got)
		}
		if !strings.Contains(log.String(), "trace="+callerTrace) {
			t.Errorf("%s: the log has no trace: %s", path, log)
		}
	}
}

// A path without a route may be any text that a client typed.
func TestWhatNobodyRoutesIsASpanWithoutItsPath(t *testing.T) {
	url, _, spans := traced(t)
	ask(t, http.MethodGet, url+"/hunter2")
	ask(t, http.MethodDelete, url+"/items/hunter2")
	for _, span := range spans() {
		if span.Name() != "GET" && span.Name() != "DELETE" {
			t.Errorf("a span is named %s", span.Name())
		}
		if span.Status().Code != codes.Unset {
			t.Errorf("%s: status %v: the mistake is the client's", span.Name(), span.Status())
		}
		for name, value := range about(span) {
			if strings.Contains(value, "hunter2") {
				t.Errorf("%s: %s is %s", span.Name(), name, value)
			}
		}
	}
}

func TestNothingIsTracedThatNobodyKeeps(t *testing.T) {
	url, log, spans := traced(t)
	ask(t, http.MethodGet, url+"/healthz")
	ask(t, http.MethodGet, url+"/broken", "traceparent: 00-"+callerTrace+"-"+callerSpan+"-00") // its caller does not
	if got := spans(); len(got) != 0 {
		t.Errorf("spans %v", got)
	}
	if strings.Contains(log.String(), callerTrace) {
		t.Errorf("the log names a trace that is not there: %s", log)
	}
}

// A client may send anything as its trace.
func TestAnUnreadableTraceparentBeginsATrace(t *testing.T) {
	url, _, spans := traced(t)
	ask(t, http.MethodGet, url+"/broken", "traceparent: 00-hunter2", "tracestate: hunter2")
	got := spans()
	if len(got) != 1 || !got[0].SpanContext().TraceID().IsValid() || got[0].Parent().IsValid() ||
		got[0].SpanContext().TraceState().Len() != 0 {
		t.Errorf("spans %v", got)
	}
}
