package platformtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/answerscope/answerscope/ingest/platform"
)

// failures are every way in which a server does not answer. None is asked twice.
func (s Suite) failures(t *testing.T) {
	for name, of := range map[string]struct {
		answer http.HandlerFunc
		class  platform.Class
		again  int
	}{
		"400":                       {refuse(400, "", ""), platform.Invalid, 0},
		"401":                       {refuse(401, "", ""), platform.Auth, 0},
		"403":                       {refuse(403, "", ""), platform.Auth, 0},
		"404":                       {refuse(404, "", ""), platform.Invalid, 0},
		"408":                       {refuse(408, "", ""), platform.Unavailable, 0},
		"429":                       {refuse(429, "", ""), platform.RateLimited, 0},
		"429 with seconds":          {refuse(429, "Retry-After", "7"), platform.RateLimited, 7},
		"429 with a date":           {retryAt(time.Now().Add(300 * time.Hour)), platform.RateLimited, 300 * 3600},
		"429 with a date of before": {retryAt(time.Now().Add(-time.Hour)), platform.RateLimited, 0},
		"500":                       {refuse(500, "", ""), platform.Unavailable, 0},
		"502":                       {refuse(502, "", ""), platform.Unavailable, 0},
		"503 with seconds":          {refuse(503, "Retry-After", "30"), platform.Unavailable, 30},
		"504":                       {refuse(504, "", ""), platform.Unavailable, 0},
		"529":                       {refuse(529, "", ""), platform.Unavailable, 0},
		"a redirect":                {refuse(302, "Location", "https://elsewhere.example/"), platform.Invalid, 0},
		"a page of HTML":            {whole("<html><body>Welcome</body></html>"), platform.ChangedShape, 0},
		"an empty body":             {whole(""), platform.ChangedShape, 0},
		"an empty object":           {whole("{}"), platform.ChangedShape, 0},
		"null":                      {whole("null"), platform.ChangedShape, 0},
		"a list":                    {whole("[]"), platform.ChangedShape, 0},
		"a connection that breaks":  {breakOff(""), platform.Unavailable, 0},
		"a body that breaks off":    {breakOff("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"id\":"), platform.Unavailable, 0},
	} {
		t.Run(name, func(t *testing.T) {
			srv := newServer(t)
			srv.serve(of.answer)
			_, e := s.ask(t, t.Context(), srv.URL)
			requests, _ := srv.asked()
			again := 0
			if e != nil {
				again = int(e.RetryAfter.Seconds())
			}
			if e == nil || e.Class != of.class || again > of.again || again < of.again-60 || len(requests) != 1 {
				t.Errorf("%v after %d requests, want %s again after %d s", e, len(requests), of.class, of.again)
			}
		})
	}
	t.Run("a server that is away", s.away)
	t.Run("a server that hangs", s.hangs)
}

// refuse answers with a status, and repeats the key, as some platforms do.
func refuse(status int, header, value string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if header != "" {
			w.Header().Set(header, value)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		text, err := json.Marshal(map[string]any{"error": map[string]any{"message": fmt.Sprintf("Not with %s", r.Header), "code": nil}})
		if err != nil {
			panic(err) // strings
		}
		_, _ = w.Write(text) // the client may be gone
	}
}

func retryAt(at time.Time) http.HandlerFunc {
	return refuse(429, "Retry-After", at.UTC().Format(http.TimeFormat))
}

func whole(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }
}

// breakOff writes some bytes and closes the connection.
func breakOff(written string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		connection, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err) // an HTTP/1 server
		}
		_, _ = connection.Write([]byte(written))
		_ = connection.Close()
	}
}

func (s Suite) away(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	srv.Close()
	if _, e := s.ask(t, t.Context(), srv.URL); e == nil || e.Class != platform.Unavailable {
		t.Errorf("%v, want unavailable", e)
	}
}

// hangs lets the time of a question end, and cancels one.
func (s Suite) hangs(t *testing.T) {
	arrived, end := make(chan struct{}, 2), make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		select {
		case <-end:
		case <-r.Context().Done():
		}
	}))
	defer srv.Close()
	defer close(end)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, e := s.ask(t, ctx, srv.URL); e == nil || e.Class != platform.Timeout {
		t.Errorf("after its time: %v, want timeout", e)
	}
	<-arrived
	p, err := s.Open(Key, srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	canceled, stop := context.WithCancel(t.Context())
	go func() {
		<-arrived
		stop()
	}()
	if _, err := p.Ask(canceled, platform.Question{Text: "best tent?", Sample: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v, want context.Canceled", err)
	}
	if _, err := p.Ask(canceled, platform.Question{Text: "best tent?", Sample: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled before: %v, want context.Canceled", err)
	}
}

// request checks what is sent, at base URLs of every form, and that the key is sent where it belongs.
func (s Suite) request(t *testing.T) {
	srv := newServer(t)
	for prefix, path := range map[string]string{"": "", "/": "", "/gateway": "/gateway", "/a/gateway/": "/a/gateway"} {
		for _, region := range []string{"", "us"} {
			srv.serve(refuse(503, "", ""))
			p, err := s.Open(Key, srv.URL+prefix)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.Ask(t.Context(), platform.Question{Text: "best tent?", Region: region, Sample: 1, Model: "model-of-choice"}); err == nil {
				t.Fatal("503 is an answer")
			}
			requests, bodies := srv.asked()
			if len(requests) != 1 || requests[0].Method != http.MethodPost || requests[0].URL.Path != path+strings.ReplaceAll(s.Path, "{model}", "model-of-choice") {
				t.Fatalf("base URL %q: %d requests, to %s", prefix, len(requests), requests[0].URL)
			}
			if got := requests[0].Header.Get(s.KeyHeader); got != s.KeyPrefix+Key || strings.Contains(requests[0].URL.String(), Key) {
				t.Errorf("%s: %q; %s", s.KeyHeader, got, requests[0].URL)
			}
			body, ok := decoded(t, bodies[0]).(map[string]any)
			if !ok {
				t.Fatalf("sent %s", bodies[0])
			}
			s.Request(t, body, region)
		}
	}
	for _, wrong := range []string{"nothing", "http://", "https://gateway.example/?a=b", "https://gateway.example/#v1", "::"} {
		if _, err := s.Open(Key, wrong); err == nil || strings.Contains(err.Error(), Key) {
			t.Errorf("base URL %q: %v", wrong, err)
		}
	}
}

var decimal = regexp.MustCompile(`^(\d+(\.\d+)?)?$`)

// description checks what the platform declares of itself.
func (s Suite) description(t *testing.T) {
	d := s.Description
	if d.Slug == "" || d.Name == "" || !d.NeedsKey || len(d.Models) == 0 || d.Limits.RequestsPerMinute == 0 || d.Limits.InFlight == 0 {
		t.Errorf("%+v", d)
	}
	var slugs []string
	for _, m := range d.Models {
		slugs = append(slugs, m.Slug)
		if m.Typical.InputTokens == 0 || m.Typical.OutputTokens == 0 {
			t.Errorf("%s: no typical usage", m.Slug)
		}
		if m.Price == nil {
			continue
		}
		if _, err := time.Parse(time.DateOnly, m.Price.Date); err != nil || len(m.Price.Currency) != 3 {
			t.Errorf("%s: %+v", m.Slug, *m.Price)
		}
		for _, price := range []string{m.Price.PerMillionInputTokens, m.Price.PerMillionOutputTokens, m.Price.PerThousandSearches, m.Price.PerThousandRequests} {
			if !decimal.MatchString(price) {
				t.Errorf("%s: price %q", m.Slug, price)
			}
		}
	}
	if sorted := slices.Compact(slices.Sorted(slices.Values(slugs))); len(sorted) != len(slugs) {
		t.Errorf("models %q: want each once", slugs)
	}
}
