package script

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"io"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/internal/httpd"
)

// The script is sent in three forms, each with a strong tag of its own, to be kept for an hour; and a year at the
// address that names its content.
func TestServed(t *testing.T) {
	base := listen(t)
	newest, _ := read()
	if len(newest.bodies["gzip"]) > 1024 {
		t.Errorf("t.js is served as %d bytes gzipped, want 1024 at most", len(newest.bodies["gzip"]))
	}
	for _, c := range []struct{ path, keep string }{
		{Path, "public, max-age=3600"},
		{VersionedPath(), "public, max-age=31536000, immutable"},
	} {
		tags := map[string]bool{}
		for _, accept := range []string{"identity", "gzip", "gzip, deflate, br, zstd"} {
			response, body := ask(t, http.MethodGet, base+c.path, accept, "")
			if response.StatusCode != http.StatusOK || !bytes.Equal(unpacked(t, response, body), newest.bodies[""]) {
				t.Fatalf("%s as %s: %d, %d bytes %s", c.path, accept, response.StatusCode, len(body),
					response.Header.Get("Content-Encoding"))
			}
			tag := response.Header.Get("ETag")
			if tags[tag] || tag[0] != '"' {
				t.Errorf("%s as %s: the tag %s is weak, or another form's", c.path, accept, tag)
			}
			tags[tag] = true
			for name, want := range map[string]string{
				"Cache-Control": c.keep, "Content-Type": "text/javascript; charset=utf-8", "Vary": "Accept-Encoding",
				"Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin",
				"X-Content-Type-Options": "nosniff",
			} {
				if got := response.Header.Values(name); len(got) != 1 || got[0] != want {
					t.Errorf("%s as %s: %s is %q, want %q", c.path, accept, name, got, want)
				}
			}
			if again, body := ask(t, http.MethodGet, base+c.path, accept,
				tag); again.StatusCode != http.StatusNotModified || len(body) > 0 ||
				again.Header.Get("ETag") != tag || again.Header.Get("Cache-Control") != c.keep {
				t.Errorf("%s as %s, known: %d with %d bytes, %v", c.path, accept,
					again.StatusCode, len(body), again.Header)
			}
			head, none := ask(t, http.MethodHead, base+c.path, accept, "")
			if head.StatusCode != http.StatusOK || len(none) > 0 || head.ContentLength != response.ContentLength ||
				head.Header.Get("ETag") != tag {
				t.Errorf("HEAD %s as %s: %d, %d of %d bytes, %v", c.path, accept, head.StatusCode, head.ContentLength,
					response.ContentLength, head.Header)
			}
		}
	}
	if response, _ := ask(t, http.MethodGet,
		base+"/t.0123456789abcdef.js", "", ""); response.StatusCode != http.StatusNotFound {
		t.Errorf("a version that never was: %d", response.StatusCode)
	}
}

// What was released once is served as it was, or pages that pin its integrity would send no beacons any more.
func TestAVersionStaysAsItWas(t *testing.T) {
	files, err := served.ReadDir("served")
	if err != nil {
		t.Fatal(err)
	}
	_, versions := read()
	for i, v := range versions {
		if name := files[i].Name(); name != "t.js" && "/"+name != v.path() {
			t.Errorf("served/%s has the hash of %s", name, v.path())
		}
	}
}

func TestIntegrity(t *testing.T) {
	_, body := ask(t, http.MethodGet, listen(t)+VersionedPath(), "identity", "")
	sum := sha512.Sum384(body)
	if want := "sha384-" + base64.StdEncoding.EncodeToString(sum[:]); Integrity() != want {
		t.Errorf("Integrity() = %s, want %s", Integrity(), want)
	}
}

// listen serves the script as the collector does.
func listen(t *testing.T) string {
	t.Helper()
	listener, err := httpd.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := httpd.New(httpd.DefaultConfig(), listener, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	Mount(server.App)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return "http://" + listener.Addr().String()
}

// client sends no Accept-Encoding of its own.
var client = &http.Client{Transport: &http.Transport{DisableCompression: true}, Timeout: 10 * time.Second}

func ask(t *testing.T, method, url, accept, known string) (*http.Response, []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept-Encoding", accept)
	if known != "" {
		request.Header.Set("If-None-Match", known)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, body
}

func unpacked(t *testing.T, response *http.Response, body []byte) []byte {
	t.Helper()
	var from io.Reader = bytes.NewReader(body)
	switch response.Header.Get("Content-Encoding") {
	case "br":
		from = brotli.NewReader(from)
	case "gzip":
		unzip, err := gzip.NewReader(from)
		if err != nil {
			t.Fatal(err)
		}
		from = unzip
	}
	text, err := io.ReadAll(from)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
