package api

import (
	"bytes"
	"context"
	"encoding/base64"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/secret"
)

// Callbacks of runs that nobody waits for are answered 200, also a thousand at once; forged ones 401.
func TestCallbackRoutes(t *testing.T) {
	t.Parallel()
	ring, err := secret.ParseRing("k:" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := httpd.New(httpd.DefaultConfig(), listener, slog.New(slog.NewTextHandler(t.Output(), nil)), prometheus.NewRegistry())
	callbacks := &tracking.Callbacks{BaseURL: server.URL(), Ring: ring}
	New(nil, &tracking.Jobs{}, nil, time.Now).MountCallbacks(server, callbacks)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	t.Cleanup(func() { stop(); <-done })
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
	url := callbacks.URL("oxylabs", uuid.Must(uuid.NewV4()))
	for _, c := range []struct {
		method, url string
		bytes, want int
	}{
		{"POST", url, 0, 200}, {"POST", url, 0, 200}, {"GET", url, 0, 200},
		{"POST", url, noticeLimit + 1, 413},
		{"POST", strings.Replace(url, "oxylabs", "cloro", 1), noticeLimit + 1, 200},
		{"POST", url[:len(url)-1], 0, 401}, {"POST", url + "0", 0, 401}, {"POST", server.URL() + "/callbacks/oxylabs/", 0, 404},
		{"POST", url[:len(url)-64] + strings.Repeat("0", 64), 0, 401},
	} {
		if got := call(c.method, c.url, make([]byte, c.bytes)); got != c.want {
			t.Errorf("%s %s with %d bytes: %d, want %d", c.method, c.url, c.bytes, got, c.want)
		}
	}
	var calls sync.WaitGroup
	for range 1000 {
		calls.Go(func() {
			if got := call("POST", url, nil); got != 200 {
				t.Errorf("%d, one of a thousand at once", got)
			}
		})
	}
	calls.Wait()
}
