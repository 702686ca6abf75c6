package testkit

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	otlptrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// A Span is one that a TraceReceiver got.
type Span struct {
	Name       string
	Trace      string // ids in hexadecimal
	ID         string
	Parent     string // "" of a root
	Kind       otlp.Span_SpanKind
	Failed     bool
	Start, End time.Time
	Attributes map[string]string // values as text
	Events     []string          // their names
	Process    map[string]string // attributes of the resource
}

// A TraceReceiver is an OTLP endpoint for traces, HTTP and protobuf. It is safe for
// concurrent use.
type TraceReceiver struct {
	URL string // base, to which /v1/traces is added

	mu       sync.Mutex
	requests []*http.Request
	bodies   []byte
	spans    []Span
}

// NewTraceReceiver serves until the test ends.
func NewTraceReceiver(t testing.TB) *TraceReceiver {
	t.Helper()
	c := &TraceReceiver{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := c.receive(r); err != nil {
			t.Error(err)
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
	}))
	t.Cleanup(server.Close)
	c.URL = server.URL
	return c
}

// Spans are those received so far, in no order.
func (c *TraceReceiver) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.spans)
}

// Bodies is every body received so far, decompressed.
func (c *TraceReceiver) Bodies() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.bodies)
}

// Requests are those received so far; their bodies have been read.
func (c *TraceReceiver) Requests() []*http.Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.requests)
}

func (c *TraceReceiver) receive(r *http.Request) error {
	if r.Method != http.MethodPost || r.URL.Path != "/v1/traces" {
		return fmt.Errorf("trace receiver: got %s %s", r.Method, r.URL.Path)
	}
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		unzipped, err := gzip.NewReader(r.Body)
		if err != nil {
			return fmt.Errorf("trace receiver: %w", err)
		}
		body = unzipped
	}
	var text bytes.Buffer
	if _, err := text.ReadFrom(body); err != nil {
		return fmt.Errorf("trace receiver: %w", err)
	}
	var export otlptrace.ExportTraceServiceRequest
	if err := proto.Unmarshal(text.Bytes(), &export); err != nil {
		return fmt.Errorf("trace receiver: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests = append(c.requests, r)
	c.bodies = append(c.bodies, text.Bytes()...)
	for _, process := range export.GetResourceSpans() {
		for _, scope := range process.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				c.spans = append(c.spans, spanOf(span, attributes(process.GetResource().GetAttributes())))
			}
		}
	}
	return nil
}

func spanOf(s *otlp.Span, process map[string]string) Span {
	span := Span{
		Name:       s.GetName(),
		Trace:      hex.EncodeToString(s.GetTraceId()),
		ID:         hex.EncodeToString(s.GetSpanId()),
		Parent:     hex.EncodeToString(s.GetParentSpanId()),
		Kind:       s.GetKind(),
		Failed:     s.GetStatus().GetCode() == otlp.Status_STATUS_CODE_ERROR,
		Start:      time.Unix(0, int64(s.GetStartTimeUnixNano())),
		End:        time.Unix(0, int64(s.GetEndTimeUnixNano())),
		Attributes: attributes(s.GetAttributes()),
		Process:    process,
	}
	for _, event := range s.GetEvents() {
		span.Events = append(span.Events, event.GetName())
	}
	return span
}

func attributes(given []*common.KeyValue) map[string]string {
	texts := map[string]string{}
	for _, pair := range given {
		switch value := pair.GetValue().GetValue().(type) {
		case *common.AnyValue_StringValue:
			texts[pair.GetKey()] = value.StringValue
		case *common.AnyValue_IntValue:
			texts[pair.GetKey()] = fmt.Sprint(value.IntValue)
		case *common.AnyValue_DoubleValue:
			texts[pair.GetKey()] = fmt.Sprint(value.DoubleValue)
		case *common.AnyValue_BoolValue:
			texts[pair.GetKey()] = fmt.Sprint(value.BoolValue)
		default:
			texts[pair.GetKey()] = fmt.Sprint(pair.GetValue())
		}
	}
	return texts
}
