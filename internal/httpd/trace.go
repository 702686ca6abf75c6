package httpd

import (
	"context"
	"net/http"
	"strconv"

	"github.com/gofiber/fiber/v2"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// scope names this package as the maker of its spans.
const scope = "github.com/answerscope/answerscope/internal/httpd"

// begin opens the span of a request, in the trace of its traceparent header (W3C Trace Context). The span is nil where
// nothing is traced, and for /healthz, which comes every few seconds.
//
// Of what a client sends, a span has only the method, the path of a route that exists, and the request's id: query
// strings, headers and other paths may hold secrets.
func (s *Server) begin(ctx context.Context, c *fiber.Ctx, id string) (context.Context, trace.Span) {
	if s.tracer == nil || c.Path() == "/healthz" {
		return ctx, nil
	}
	ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{
		"traceparent": c.Get("traceparent"), "tracestate": c.Get("tracestate"),
	})
	return s.tracer.Start(ctx, c.Method(), trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
		semconv.HTTPRequestMethodKey.String(c.Method()),
		semconv.URLScheme("http"), // TLS ends before us
		attribute.String("answerscope.listener", s.cfg.Name),
		attribute.String("answerscope.request_id", id),
	))
}

// finishSpan ends the span of a request that has been answered; route is its pattern, or unmatched, path what may be
// shown of its path.
func finishSpan(span trace.Span, c *fiber.Ctx, route, path string) {
	if span == nil {
		return
	}
	defer span.End()
	if !span.IsRecording() {
		return
	}
	if route != unmatched {
		span.SetName(c.Method() + " " + route)
		span.SetAttributes(semconv.HTTPRoute(route), semconv.URLPath(path))
	}
	status := c.Response().StatusCode()
	span.SetAttributes(semconv.HTTPResponseStatusCode(status))
	if status >= http.StatusInternalServerError {
		span.SetAttributes(semconv.ErrorTypeKey.String(strconv.Itoa(status)))
		span.SetStatus(codes.Error, "") // the log says why, beside the trace's id
	}
}

// traceOf is the id of the trace that ctx is in, if it is kept; else "".
func traceOf(ctx context.Context) string {
	if span := trace.SpanContextFromContext(ctx); span.IsSampled() {
		return span.TraceID().String()
	}
	return ""
}
