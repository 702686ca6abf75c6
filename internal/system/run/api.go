package run

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit/wait"
)

// AwaitResults polls the summary of the only brand until it counts so many answers, and returns it.
func AwaitResults(t *testing.T, url, key string, results int) string {
	t.Helper()
	brand, body := OnlyBrand(t, url, key), ""
	wait.For(t, fmt.Sprintf("the summary to count %d answers", results), func() bool {
		_, body = Fetch(t, url+"/api/v1/visibility-summary?brand_id="+brand, key)
		return strings.Contains(body, fmt.Sprintf(`"resultCount":%d,`, results))
	})
	return body
}

// OnlyBrand is the id of the only brand of a key's organization.
func OnlyBrand(t *testing.T, url, key string) string {
	t.Helper()
	var list struct{ Brands []struct{ ID string } }
	_, body := Fetch(t, url+"/api/v1/brands", key)
	if err := json.Unmarshal([]byte(body), &list); err != nil || len(list.Brands) != 1 {
		t.Fatalf("brands: %s", body)
	}
	return list.Brands[0].ID
}

// AskAsPage sends a request as a page of the dashboard does, with the cookie of who is signed in.
func AskAsPage(t *testing.T, cookie, method, address, body string) (status int, answer string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = http.Header{"Cookie": {cookie}, "X-Answerscope": {"1"}, "Sec-Fetch-Site": {"same-origin"}}
	status, _, text := Exchange(t, request)
	return status, text
}

// Fetch gets an address with an API key.
func Fetch(t *testing.T, url, key string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+key)
	status, _, text := Exchange(t, request)
	return status, text
}

// FetchAnonymously gets an address without a credential.
func FetchAnonymously(t *testing.T, address string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	status, _, text := Exchange(t, request)
	return status, text
}

// Exchange sends a request, and reads the whole answer.
func Exchange(t *testing.T, request *http.Request) (status int, header http.Header, body string) {
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
