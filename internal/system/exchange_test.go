package system

import (
	"io"
	"net/http"
	"testing"
)

func fetch(t *testing.T, url, key string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+key)
	status, _, text := exchange(t, request)
	return status, text
}

func fetchAnonymously(t *testing.T, address string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	status, _, text := exchange(t, request)
	return status, text
}

// exchange sends a request, and reads the whole answer.
func exchange(t *testing.T, request *http.Request) (status int, header http.Header, body string) {
	t.Helper()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Header, string(text)
}
