package run

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const browser = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"

// Post posts one body to a collector from a page of acme.example, and returns its status, 0 where there was no answer.
func Post(t *testing.T, url, body string, headers ...string) (int, http.Header) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/t/collect", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "text/plain;charset=UTF-8")
	request.Header.Set("User-Agent", browser)
	request.Header.Set("Origin", "https://www.acme.example")
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, nil
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode, response.Header
}

// BeaconOf is one of a brand's page, with more fields, which begin with a comma.
func BeaconOf(brand, page, more string) string {
	return fmt.Sprintf(`{"u":"https://www.acme.example%s","b":"%s","i":"tab"%s}`, page, brand, more)
}

// Traffic is what the API says of a brand's visits.
type Traffic struct {
	Visits   int `json:"total_visits"`
	Sessions int
	Goals    []Reached
	TopPages []Viewed `json:"top_pages"`
}

// Viewed is a page and its visits.
type Viewed struct {
	URL    string
	Visits int
}

// Reached is a goal and how often it was reached.
type Reached struct {
	Name     string
	Count    int
	Value    json.Number
	Currency string
}

// Beacons sends beacons from four clients until end, each of which must be accepted, and counts them.
func (s *Server) Beacons(t *testing.T, body string) (accepted *atomic.Int64, end func()) {
	t.Helper()
	accepted = new(atomic.Int64)
	done := make(chan struct{})
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if status, _ := Post(t, s.URL, body); status != 204 {
					t.Errorf("a beacon was answered with %d", status)
					return
				}
				accepted.Add(1)
				<-time.After(5 * time.Millisecond) // leaves the machine to what is tested
			}
		})
	}
	return accepted, func() { close(done); clients.Wait() }
}
