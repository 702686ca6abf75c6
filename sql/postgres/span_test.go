package postgres

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

func TestEveryStatementHasAVerb(t *testing.T) {
	t.Parallel()
	for name, text := range statements {
		if v := verb(text); v == "" || strings.ToUpper(v) != v {
			t.Errorf("%s begins with %q", name, v)
		}
	}
}

func TestThatThereIsNoRowIsNoFailure(t *testing.T) {
	t.Parallel()
	recorder := tracetest.NewSpanRecorder()
	tracer := sdk.NewTracerProvider(sdk.WithSpanProcessor(recorder)).Tracer("test")
	ctx, root := tracer.Start(t.Context(), "root")
	defer root.End()
	for err, want := range map[error]codes.Code{
		nil:                                  codes.Unset,
		fmt.Errorf("query: %w", ErrNotFound): codes.Unset,
		fmt.Errorf("query: %w", errors.ErrUnsupported): codes.Error,
	} {
		_, span := openSpan(ctx, "resolve_key")
		closeSpan(span, 1, err)
		ended := recorder.Ended()
		if got := ended[len(ended)-1]; got.Name() != "SELECT resolve_key" || got.Status().Code != want {
			t.Errorf("%v: span %s has status %v, want %v", err, got.Name(), got.Status(), want)
		}
	}
}
