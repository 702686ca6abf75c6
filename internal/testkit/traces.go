package testkit

import (
	"compress/gzip"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
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
	Failed     bool
	Start, End time.Time
	Attributes map[string]string // values as text
	Process    map[string]string // attributes of the resource
}

// A TraceReceiver is an OTLP endpoint for traces, HTTP and protobuf. It is safe for concurrent use.
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

func (c *TraceReceiver) receive(r *http.Request) (err error) {
	if r.Method != http.MethodPost || r.URL.Path != "/v1/traces" {
		return fmt.Errorf("trace receiver: got %s %s", r.Method, r.URL.Path)
	}
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		if body, err = gzip.NewReader(r.Body); err != nil {
			return fmt.Errorf("trace receiver: %w", err)
		}
	}
	text, err := io.ReadAll(body)
	var export otlptrace.ExportTraceServiceRequest
	if err := errors.Join(err, proto.Unmarshal(text, &export)); err != nil {
		return fmt.Errorf("trace receiver: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests = append(c.requests, r)
	c.bodies = append(c.bodies, text...)
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
	return Span{
		Name: s.GetName(), Trace: hex.EncodeToString(s.GetTraceId()),
		ID: hex.EncodeToString(s.GetSpanId()), Parent: hex.EncodeToString(s.GetParentSpanId()),
		Failed: s.GetStatus().GetCode() == otlp.Status_STATUS_CODE_ERROR,
		Start:  time.Unix(0, int64(s.GetStartTimeUnixNano())), End: time.Unix(0, int64(s.GetEndTimeUnixNano())),
		Attributes: attributes(s.GetAttributes()), Process: process,
	}
}

func attributes(given []*common.KeyValue) map[string]string {
	texts := map[string]string{}
	for _, pair := range given {
		if text, ok := pair.GetValue().GetValue().(*common.AnyValue_StringValue); ok {
			texts[pair.GetKey()] = text.StringValue
		} else {
			texts[pair.GetKey()] = strings.Trim(fmt.Sprint(pair.GetValue().GetValue()), "&{}") // a number is &{7}
		}
	}
	return texts
}
