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

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// A Span is one that a Collector was sent.
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

// A Collector takes traces over OTLP as HTTP and protobuf. It is safe for
// concurrent use.
type Collector struct {
	URL string // base, to which /v1/traces is added

	mu       sync.Mutex
	requests []*http.Request
	sent     []byte
	spans    []Span
}

// NewCollector serves until the test ends.
func NewCollector(t testing.TB) *Collector {
	t.Helper()
	c := &Collector{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := c.take(r); err != nil {
			t.Error(err)
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
	}))
	t.Cleanup(server.Close)
	c.URL = server.URL
	return c
}

// Spans are those that have come so far, in no order.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.spans)
}

// Sent is every byte of every body, not compressed.
func (c *Collector) Sent() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.sent)
}

// Requests are those that have come so far; their bodies have been read.
func (c *Collector) Requests() []*http.Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.requests)
}

func (c *Collector) take(r *http.Request) error {
	if r.Method != http.MethodPost || r.URL.Path != "/v1/traces" {
		return fmt.Errorf("collector: asked for %s %s", r.Method, r.URL.Path)
	}
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		unzipped, err := gzip.NewReader(r.Body)
		if err != nil {
			return fmt.Errorf("collector: %w", err)
		}
		body = unzipped
	}
	var text bytes.Buffer
	if _, err := text.ReadFrom(body); err != nil {
		return fmt.Errorf("collector: %w", err)
	}
	var told collector.ExportTraceServiceRequest
	if err := proto.Unmarshal(text.Bytes(), &told); err != nil {
		return fmt.Errorf("collector: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests = append(c.requests, r)
	c.sent = append(c.sent, text.Bytes()...)
	for _, process := range told.GetResourceSpans() {
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
