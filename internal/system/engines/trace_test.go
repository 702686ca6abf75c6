package engines

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/internal/testkit"
)

const (
	callerTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	callerSpan  = "00f067aa0ba902b7"
)

// traced is everything in one process, with one answer in.
func traced(t *testing.T, settings ...string) (s *run.Installation, brand string) {
	t.Helper()
	s = run.Installed(t, settings...)
	brand = s.AddBrands(t, s.Organization.ID, run.BrandsFile)
	at := time.Now().UTC().Add(-time.Minute).Format(time.RFC3339)
	line := fmt.Sprintf(
		`{"platform":"chatgpt","prompt":"best anvil?","answered_at":"%s","text":"Acme makes the best anvil."}`+"\n", at)
	if r := run.ToEnd(t, s.Env, line, "import", "-", "--org", "acme", "--brand", "acme"); r.Status != run.ExitDone {
		t.Fatalf("import: %s", r.Stderr)
	}
	run.AwaitResults(t, s.URL, s.Key, 1)
	return s, brand
}

// One request is one trace from HTTP to the views that it ran, and one batch one from fetch to commit.
func TestOneTraceOfARequestAndOneOfABatch(t *testing.T) {
	t.Parallel()
	collector := testkit.NewTraceReceiver(t)
	s, brand := traced(t, "ANSWERSCOPE_OTLP_ENDPOINT="+collector.URL,
		"OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20hunter2")
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		s.URL+"/api/v1/visibility-summary?model=hunter3&brand_id="+brand, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+s.Key)
	request.Header.Set("traceparent", "00-"+callerTrace+"-"+callerSpan+"-01")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err := io.ReadAll(response.Body); err != nil || response.StatusCode != 200 {
		t.Fatalf("%d %s %v", response.StatusCode, body, err)
	}
	if status := s.Stop(t, syscall.SIGTERM); status != run.ExitDone { // the last spans are sent then
		t.Errorf("all ended with status %d", status)
	}

	family := familyOf(collector.Spans())
	server := family.one(t, callerTrace, "GET /api/v1/visibility-summary")
	if server.Parent != callerSpan || server.Failed || server.Process["answerscope.part"] != "all" {
		t.Errorf("the request: %+v", server)
	}
	for name, span := range family {
		if name[0] == callerTrace && span.ID != server.ID &&
			(span.Parent != server.ID || span.Start.Before(server.Start) || span.End.After(server.End)) {
			t.Errorf("%s is not inside the request: %+v", span.Name, span)
		}
	}
	family.one(t, callerTrace, "SELECT resolve_key")
	if span := family.one(t, callerTrace,
		"SELECT entity_visibility"); span.Attributes["db.system.name"] != "clickhouse" ||
		span.Attributes["db.response.returned_rows"] == "" {
		t.Errorf("the view: %v", span.Attributes)
	}
	wantBatch(t, family, s.Prefix)

	sent := string(collector.Bodies())
	for _, secret := range []string{
		s.Key, s.Key[len(s.Key)-12:], "hunter2", "hunter3", "brand_id=", "ana@acme.example",
	} {
		if strings.Contains(sent, secret) {
			t.Errorf("%q was sent to the collector", secret)
		}
	}
	if strings.Contains(s.Log.String(), "hunter2") {
		t.Errorf("the log shows a header of the collector's")
	}
	if got := collector.Requests()[0].Header.Get("Authorization"); got != "Bearer hunter2" {
		t.Errorf("the collector was sent Authorization %q", got)
	}
}

func wantBatch(t *testing.T, family family, prefix string) {
	t.Helper()
	var batch testkit.Span
	for _, span := range family {
		// results read the topic too
		if span.Name == "batch "+prefix+"answers" &&
			span.Attributes["messaging.consumer.group.name"] == prefix+run.GroupOfAnswers {
			batch = span
		}
	}
	want := map[string]string{
		"messaging.destination.name": prefix + "answers", "messaging.batch.message_count": "1",
		"answerscope.batch.first": "0", "answerscope.batch.last": "0",
	}
	for name, value := range want {
		if batch.Attributes[name] != value {
			t.Errorf("%s of the batch is %q, want %q", name, batch.Attributes[name], value)
		}
	}
	if batch.Parent != "" || batch.Failed || batch.Attributes["answerscope.batch.bytes"] == "" ||
		batch.Attributes["messaging.destination.partition.id"] == "" {
		t.Errorf("the batch: %+v", batch)
	}
	before := batch.Start
	for _, name := range []string{"collect", "lock", "plan", "insert", "commit"} {
		step := family.one(t, batch.Trace, name)
		if step.Parent != batch.ID || step.Start.Before(before) || step.End.After(batch.End) {
			t.Errorf("%s does not follow in the batch: %+v", name, step)
		}
		before = step.End
	}
	insert := family.one(t, batch.Trace, "insert")
	for _, name := range []string{"SELECT tombstones_of_batch", "SELECT landed_answers", "INSERT answers"} {
		if span := family.one(t, batch.Trace, name); span.Parent != insert.ID {
			t.Errorf("%s is not inside insert: %+v", name, span)
		}
	}
	if rows := family.one(t, batch.Trace, "INSERT answers"); rows.Attributes["db.operation.batch.size"] != "1" {
		t.Errorf("the insert of answers: %v", rows.Attributes)
	}
}

// family are spans by the trace and the name.
type family map[[2]string]testkit.Span

func familyOf(spans []testkit.Span) family {
	f := family{}
	for _, span := range spans {
		f[[2]string{span.Trace, span.Name}] = span
	}
	return f
}

func (f family) one(t *testing.T, trace, name string) testkit.Span {
	t.Helper()
	span, ok := f[[2]string{trace, name}]
	if !ok {
		t.Errorf("no span %q in trace %s", name, trace)
	}
	return span
}

// Neither a collector that is not there nor none at all is noticed by anyone.
func TestADeadTraceCollectorStopsNothing(t *testing.T) {
	t.Parallel()
	gone, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = gone.Close()
	s, _ := traced(t, "OTEL_EXPORTER_OTLP_ENDPOINT=http://"+gone.Addr().String(), "OTEL_BSP_SCHEDULE_DELAY=50")
	if status := s.Stop(t, syscall.SIGTERM); status != run.ExitDone {
		t.Errorf("all ended with status %d", status)
	}
	if n := strings.Count(s.Log.String(), "traces not sent"); n != 1 {
		t.Errorf("it was said %d times:\n%s", n, s.Log)
	}
}
