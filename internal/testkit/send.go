package testkit

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// Send sends a request and returns its response. Headers are given as "Name: value"; of several with a name the last one
// counts. It follows no redirect.
func Send(
	t testing.TB, method, address, body string, headers ...string,
) (status int, header http.Header, text string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		request.Header.Set(name, value)
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Header, string(content)
}
