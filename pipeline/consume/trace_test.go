package consume_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/pipeline/consume"
)

// consumed reads the topic until done, and returns the spans of all batches.
func consumed(t *testing.T, cfg consume.Config, target consume.Target[string], sampler sdk.Sampler,
	done func(*consume.Consumer[string]) bool) []sdk.ReadOnlySpan {
	t.Helper()
	recorder := tracetest.NewSpanRecorder()
	cfg.Traces = sdk.NewTracerProvider(sdk.WithSpanProcessor(recorder), sdk.WithSampler(sampler))
	consumer, stop := start(t, cfg, target)
	wait.For(t, "the batches to land", func() bool { return done(consumer) })
	stop()
	return recorder.Ended()
}

func landed(target *counter, records int64) func(*consume.Consumer[string]) bool {
	return func(*consume.Consumer[string]) bool { return target.landed.Load() == records }
}

// linesOf is a trace as lines: each span in the order of the ends, ! for one that failed, and its events.
func linesOf(spans []sdk.ReadOnlySpan) []string {
	var lines []string
	for _, span := range spans {
		line := span.Name()
		if i := strings.LastIndex(line, "."); i >= 0 { // the prefix of a test's topics
			line = "batch " + line[i+1:]
		}
		if span.Status().Code == codes.Error {
			line += " !"
		}
		for _, event := range span.Events() {
			line += " " + event.Name
		}
		lines = append(lines, line)
	}
	return lines
}

func TestATraceHasEveryAttempt(t *testing.T) {
	t.Parallel()
	target := &counter{}
	target.refuse.Store(2)
	spans := consumed(t, newConfig(t, "one", "two", "three"), target, sdk.AlwaysSample(), landed(target, 3))
	want := []string{
		"collect", "plan", "insert ! exception", "insert ! exception", "insert", "commit", "batch things retry retry",
	}
	if got := linesOf(spans); !slices.Equal(got, want) {
		t.Errorf("spans %q, want %q", got, want)
	}
	root := spans[len(spans)-1]
	about := map[string]string{}
	for _, pair := range root.Attributes() {
		about[string(pair.Key)] = pair.Value.String()
	}
	for name, value := range map[string]string{
		"messaging.destination.partition.id": "0", "messaging.batch.message_count": "3",
		"answerscope.batch.first": "0", "answerscope.batch.last": "2", "answerscope.batch.bytes": "11",
	} {
		if about[name] != value {
			t.Errorf("%s is %q, want %q", name, about[name], value)
		}
	}
	if !target.traced.Load() {
		t.Error("the target was not called within the trace")
	}
}

// A bug that a record brings out ends its batch's trace as it ends the partition.
func TestATraceEndsWithItsPartition(t *testing.T) {
	t.Parallel()
	stopped := func(c *consume.Consumer[string]) bool {
		err := c.Ready(t.Context())
		return err != nil && strings.Contains(err.Error(), "poison")
	}
	spans := consumed(t, newConfig(t, "poison"), &counter{}, sdk.AlwaysSample(), stopped)
	if got, want := linesOf(spans), []string{"collect", "batch things ! exception"}; !slices.Equal(got, want) {
		t.Errorf("spans %q, want %q", got, want)
	}
}

func TestABatchThatIsNotSampledHasNoSpans(t *testing.T) {
	t.Parallel()
	target := &counter{}
	spans := consumed(t, newConfig(t, "one"), target, sdk.NeverSample(), landed(target, 1))
	if len(spans) != 0 || target.traced.Load() {
		t.Errorf("spans %q", linesOf(spans))
	}
}

// careful is a target that calls checkOwnership. Before the first call, something happens.
type careful struct {
	counter
	happens func()
}

func (c *careful) Insert(ctx context.Context, b *consume.Batch[string], checkOwnership func() error) error {
	if c.happens != nil {
		c.happens()
		c.happens = nil
	}
	if err := checkOwnership(); err != nil {
		return err
	}
	return c.counter.Insert(ctx, b, checkOwnership)
}

// A machine that was asleep and lost the sink lock may have lost its partition too, and by its clock the plan is fresh.
// So the batch is planned again, which a group refuses to a consumer that has lost the partition.
func TestABatchThatLostItsLockIsPlannedAgain(t *testing.T) {
	t.Parallel()
	control := store.ControlPlane(t)
	db := store.OpenControlPlane(t, control)
	superuser, err := pgx.Connect(t.Context(), control.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer superuser.Close(context.WithoutCancel(t.Context()))
	target := &careful{happens: func() {
		const cut = "SELECT pg_terminate_backend(pid, 10000) FROM pg_locks WHERE locktype = 'advisory' AND database " +
			"= (SELECT oid FROM pg_database WHERE datname = current_database())"
		if _, err := superuser.Exec(t.Context(), cut); err != nil {
			t.Error(err)
		}
	}}
	cfg := newConfig(t, "one")
	cfg.Lock = consume.LockWith(db.LockSinksShared)
	spans := consumed(t, cfg, target, sdk.AlwaysSample(), landed(&target.counter, 1))
	want := []string{
		"collect", "SELECT lock_sinks_shared", "lock", "plan", "insert ! exception",
		"SELECT lock_sinks_shared", "lock", "plan", "insert", "commit", "batch things retry",
	}
	if got := linesOf(spans); !slices.Equal(got, want) {
		t.Errorf("spans %q, want %q", got, want)
	}
}
