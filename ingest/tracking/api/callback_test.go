package api

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/secret"
)

// serveCallbacks serves the routes of callbacks, of which Cloro signs its own with the secret.
func serveCallbacks(t *testing.T, webhookSecret string) *tracking.Callbacks {
	t.Helper()
	ring, err := secret.ParseRing("k:" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := httpd.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := httpd.New(httpd.DefaultConfig(), listener, slog.New(slog.NewTextHandler(t.Output(), nil)),
		prometheus.NewRegistry())
	callbacks := &tracking.Callbacks{BaseURL: server.URL(), Ring: ring, WebhookSecret: webhookSecret}
	New(nil, &tracking.Jobs{}, nil, time.Now).MountCallbacks(server, callbacks)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	t.Cleanup(func() { stop(); <-done })
	return callbacks
}

// Cloro's callbacks are taken as it signs them: of now, with the secret, over the body as it is.
func TestSignedCallbacksOverHTTP(t *testing.T) {
	t.Parallel()
	const webhookSecret, body = "whsec-1", `{"task":{"id":"b1"},"response":{"text":"ü"}}`
	callbacks := serveCallbacks(t, webhookSecret)
	run := uuid.Must(uuid.NewV4())
	now := time.Now()
	sign := func(key string, at time.Time, body string) http.Header {
		timestamp := strconv.FormatInt(at.Unix(), 10)
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write([]byte(timestamp + "." + body))
		header := http.Header{}
		header.Set("X-Cloro-Timestamp", timestamp)
		header.Set("X-Cloro-Signature", "v1="+hex.EncodeToString(mac.Sum(nil)))
		header.Set("X-Cloro-Webhook-Id", "w1")
		return header
	}
	signed := sign(webhookSecret, now, body)
	withoutTime := signed.Clone()
	withoutTime.Del("X-Cloro-Timestamp")
	for _, c := range []struct {
		name, provider string
		header         http.Header
		body           string
		want           int
	}{
		{"signed", "cloro", signed, body, 200}, {"signed and repeated", "cloro", signed, body, 200},
		{"a changed body", "cloro", signed, body + " ", 401},
		{"unsigned", "cloro", http.Header{}, body, 200}, {"without a time", "cloro", withoutTime, body, 400},
		{"another secret", "cloro", sign("whsec-2", now, body), body, 401},
		{"stale", "cloro", sign(webhookSecret, now.Add(-6*time.Minute), body), body, 400},
		{"of tomorrow", "cloro", sign(webhookSecret, now.Add(24*time.Hour), body), body, 400},
		{"four minutes old", "cloro", sign(webhookSecret, now.Add(-4*time.Minute), body), body, 200},
		{"of another provider", "oxylabs", http.Header{}, body, 200},
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, callbacks.URL(c.provider, run),
			strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header = c.header
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close() // it is empty
		if response.StatusCode != c.want {
			t.Errorf("%s: %d, want %d", c.name, response.StatusCode, c.want)
		}
	}
}

// Callbacks of runs that nobody waits for are answered 200, and forged ones 401. A token serves its provider alone.
func TestCallbackRoutes(t *testing.T) {
	t.Parallel()
	callbacks := serveCallbacks(t, "")
	call := func(method, url string, body []byte) int {
		request, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Error(err)
			return 0
		}
		defer response.Body.Close()
		return response.StatusCode
	}
	url, capture := callbacks.URL("oxylabs", uuid.Must(uuid.NewV4())), callbacks.URL("cloro", uuid.Must(uuid.NewV4()))
	for _, c := range []struct {
		method, url string
		bytes, want int
	}{
		{"POST", url, 0, 200}, {"POST", url, 0, 200}, {"GET", url, 0, 200},
		{"POST", url, noticeLimit + 1, 413},
		{"POST", capture, 5 << 20, 200}, {"POST", capture[:len(capture)-1] + "x", noticeLimit + 1, 413},
		{"POST", strings.Replace(url, "oxylabs", "cloro", 1), 0, 401},
		{"POST", strings.Replace(capture, "cloro", "oxylabs", 1), 0, 401},
		{"POST", url[:len(url)-1], 0, 401}, {"POST", url + "0", 0, 401},
		{"POST", callbacks.BaseURL + "/callbacks/oxylabs/", 0, 404},
		{"POST", url[:len(url)-64] + strings.Repeat("0", 64), 0, 401},
	} {
		if got := call(c.method, c.url, make([]byte, c.bytes)); got != c.want {
			t.Errorf("%s %s with %d bytes: %d, want %d", c.method, c.url, c.bytes, got, c.want)
		}
	}
}
