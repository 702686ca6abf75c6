package clickhouse_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/answerscope/answerscope/deploy/engine"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/warehouse"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

const spanLog = `<clickhouse><opentelemetry_span_log><database>system</database><table>opentelemetry_span_log</table>
<engine>ENGINE = MergeTree ORDER BY (finish_date, trace_id)</engine></opentelemetry_span_log></clickhouse>`

// spanning is a server that keeps its own spans; the one of the other tests does not.
func spanning(t *testing.T) clickhouse.Config {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "config.d"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.d", "spans.xml"), []byte(spanLog), 0o600); err != nil {
		t.Fatal(err)
	}
	server, err := engine.StartClickHouse(t.Context(), engine.ClickHouseConfig{Dir: dir, NoSync: true,
		Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := server.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	c := clickhouse.DefaultConfig()
	c.DSN = server.DSN()
	return c
}

func TestTheServerJoinsTheTraceOfAQuery(t *testing.T) {
	t.Parallel()
	c := spanning(t)
	conn := store.OpenWarehouse(t, c)
	if err := conn.Exec(t.Context(), "CREATE TABLE log_progress (log_topic String, log_partition Int32, last_offset "+
		"Int64) ENGINE = Memory"); err != nil {
		t.Fatal(err)
	}
	asked, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	ask := func(sampler sdk.Sampler) (trace.TraceID, []sdk.ReadOnlySpan) {
		recorder := tracetest.NewSpanRecorder()
		provider := sdk.NewTracerProvider(sdk.WithSpanProcessor(recorder), sdk.WithSampler(sampler))
		ctx, root := provider.Tracer("test").Start(t.Context(), "root")
		defer root.End()
		if _, _, err := clickhouse.LastOffset(ctx, conn, "things", 1); err != nil {
			t.Fatal(err)
		}
		return root.SpanContext().TraceID(), recorder.Ended()
	}
	kept, spans := ask(sdk.AlwaysSample())
	if len(spans) != 1 || spans[0].Name() != "SELECT log_position" || spans[0].SpanKind() != trace.SpanKindClient {
		t.Fatalf("spans %v", spans)
	}
	dropped, none := ask(sdk.NeverSample())
	if len(none) != 0 {
		t.Errorf("a trace that is not kept has spans %v", none)
	}
	count := func(where string) (n uint64) {
		if err := conn.Exec(t.Context(), "SYSTEM FLUSH LOGS"); err != nil {
			t.Fatal(err)
		}
		if err := conn.QueryRow(t.Context(), "SELECT count() FROM system.opentelemetry_span_log WHERE "+
			""+where).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	spanID := spans[0].SpanContext().SpanID()
	// The server ends its span after it has sent the last row: a flush of its logs
	// that follows at once may come before it.
	for below := fmt.Sprintf("hex(trace_id) = upper('%s') AND hex(parent_span_id) = upper('%s')", kept,
		spanID); count(below) == 0; {
		select {
		case <-asked.Done():
			t.Fatalf("the server has no span below %s in trace %s", spanID, kept)
		case <-time.After(50 * time.Millisecond):
		}
	}
	if n := count(fmt.Sprintf("hex(trace_id) = upper('%s')", dropped)); n != 0 {
		t.Errorf("the server has %d spans of a trace that is not kept", n)
	}
}

func TestAFailedQueryIsAFailedSpan(t *testing.T) {
	t.Parallel()
	conn := store.OpenWarehouse(t, warehouse.Config(t)) // empty: there is no such table
	recorder := tracetest.NewSpanRecorder()
	ctx, root := sdk.NewTracerProvider(sdk.WithSpanProcessor(recorder)).Tracer("test").Start(t.Context(), "root")
	defer root.End()
	if _, _, err := clickhouse.LastOffset(ctx, conn, "things", 1); err == nil {
		t.Fatal("a table that is not there was read")
	}
	span := recorder.Ended()[0]
	about := map[string]string{}
	for _, pair := range span.Attributes() {
		about[string(pair.Key)] = pair.Value.String()
	}
	if span.Status().Code.String() != "Error" || about["db.response.status_code"] != "60" || len(span.Events()) != 1 {
		t.Errorf("%v %v %v", span.Status(), about, span.Events())
	}
}
